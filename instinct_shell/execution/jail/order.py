"""A JailSpec as a ready-made plan: bytes that a launcher carries out step by step without deciding anything (docs/protocol/plan.md).

What costs time to work out (which mounts, which rights, the filter's program) is worked out here, by whoever judged. What only the command's parent
can know (its descriptors, its terminal, its own limits) is left to the launcher. Only a jail of level full with namespaces has such a plan.
"""

from __future__ import annotations

import os

from ...errors import JailError
from ...model.jailspec import JailLevel, RunResult
from .. import supervise
from ..watch import result_of
from . import landlock, network, probe, seccomp, view
from .confinement import Confinement
from .plan import LayerKind
from .syscalls import StepFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.jailspec import JailSpec
    from .plan import Plan

VERSION = b"1"
_KINDS = {
    LayerKind.WRITABLE: b"W",
    LayerKind.SHOWN: b"S",
    LayerKind.READ_ONLY: b"R",
    LayerKind.PINNED_LINK: b"R",
    LayerKind.HIDDEN: b"H",
    LayerKind.SOCKET: b"U",
    LayerKind.FRESH: b"F",
}


def can_plan(spec: JailSpec) -> bool:
    """Whether a ready-made plan says all that this spec wants. All else is the launcher's own work, from the spec itself (launcher.py)."""
    # In a session whose network proxy lives nothing has to be started: the command joins the network in which it listens.
    served = network.is_served(spec) and not network.has_proxy(spec)
    lent = spec.credentials or spec.sockets
    return not (spec.descriptors or spec.limits.output_bytes or spec.vetted or spec.supervise_execs or spec.overlay or served or lent)


def encode(spec: JailSpec, *, terminal: bool = False) -> bytes:
    """The plan. terminal: one of the caller's 0, 1, 2 is one, so that the command has to stay in the caller's process group.

    Raises JailError for a spec that cannot be meant, or that a plan cannot say.
    """
    try:
        plan = view.plan_for(spec)
    except StepFailed as failure:
        raise JailError(f"the jail could not be made: {probe.describe(failure)}; nothing ran", hint=probe.hint_for(failure)) from None
    if not can_plan(spec.replace(vetted=())):  # what is compared after the run is not the plan's business
        raise JailError("a ready-made plan cannot say this: descriptors, an output limit, execs to be judged, an overlay, credentials, a proxy to be started")
    abi = landlock.abi()
    own_group = spec.session is not None and not terminal  # as Confinement.own_group, which knows the descriptors
    confinement = Confinement(spec, plan, (), {}, abi, (), with_namespaces=True)
    uid = os.getuid()
    return b"".join(
        (
            _record("V", VERSION),
            _record("c", os.fsencode(spec.cwd)),
            *(_record("a", os.fsencode(word)) for word in spec.argv),
            *(_record("e", os.fsencode(f"{name}={value}")) for name, value in spec.env),
            _record("n", b"1" if spec.own_network else b"0"),
            *((_record("j", os.fsencode(spec.session.path)), _record("o", b"1" if own_group else b"0")) if spec.session else ()),
            *_mounts(plan, uid),
            *((_record("x", b"%d" % view.pid_limit(spec.limits.processes)),) if spec.limits.processes and view.own_pid_limit() else ()),
            *(_record("k", os.fsencode(f"/proc/{name}")) for name in (view.KERNEL_KNOBS if uid == 0 else ())),
            *(_record("r", b"%d %d %d" % limit) for limit in supervise.wanted_limits(spec.limits, own_user_namespace=True)),
            _record("G", landlock.ruleset_attributes(abi, signals=spec.session is None)),
            _record("m", landlock.ON_FILES.to_bytes(8, "little")),
            _record("y", (landlock.DEVICE & landlock.known_rights(abi)).to_bytes(8, "little")),
            *(
                _record("g", (rights & landlock.known_rights(abi)).to_bytes(8, "little") + os.fsencode(str(path)))
                for path, rights in confinement.grants()
            ),
            _record("s", seccomp.assemble(confinement.families(), spec.read_only, own_group or (abi >= 6 and spec.session is None))),
            _record("w", b"%d" % int(spec.limits.wall_seconds * 1000)),
        )
    )


def _mounts(plan: Plan, uid: int) -> list[bytes]:
    """The steps of view.build, in its order: copies of what is to be shown, pinned folders, layers, and what is closed at last."""
    steps = [
        _record("t", _KINDS[layer.kind] + os.fsencode(layer.path))
        for layer in plan.layers
        if layer.kind in (LayerKind.WRITABLE, LayerKind.SHOWN)
    ]
    steps += [_record("p", os.fsencode(folder)) for folder in plan.pins]
    for layer in plan.layers:
        if layer.kind is LayerKind.HIDDEN:
            marked = layer.path in plan.crowded
        else:
            marked = layer.kind in (LayerKind.WRITABLE, LayerKind.SHOWN) and view.needs_place(layer.path, plan)
        steps.append(_record("l", _KINDS[layer.kind] + (b"+" if marked else b"-") + os.fsencode(layer.path)))
        if layer.kind is LayerKind.FRESH and layer.path == "/run":
            steps.append(_record("d", b"/run/user/%d" % uid))
    for path in plan.crowded:
        around = plan.layer_over(path)
        if around and around.kind is LayerKind.HIDDEN:
            steps.append(_record("z", os.fsencode(path)))
    return steps


def _record(tag: str, data: bytes) -> bytes:
    return tag.encode() + len(data).to_bytes(4, "little") + data + b"\0"


def result(end: bytes) -> RunResult:
    """How the run ended, from a launcher's report. Raises JailError when a step failed; then nothing ran.

    `ended STATUS USER_US SYSTEM_US RSS_KB WALL_US LIMIT KIND`, `lost WALL_US LIMIT KIND` (no word of the attendant), `failed ERRNO STEP`; LIMIT may be
    `-`, KIND is `own` or `session`.
    """
    word, _, rest = end.decode("utf-8", "surrogateescape").partition(" ")
    if word == "failed":
        errno, _, step = rest.partition(" ")
        failure = StepFailed(step, int(errno))
        raise JailError(f"the jail could not be made: {probe.describe(failure)}; nothing ran", hint=probe.hint_for(failure))
    *numbers, limit, kind = rest.split(" ")
    values = [int(number) for number in numbers]
    ended = tuple(values[:4]) if word == "ended" else ()
    return result_of(ended, "" if limit == "-" else limit).replace(
        level=JailLevel.FULL,
        layers=("namespaces", *(("session",) if kind == "session" else ()), "landlock", "seccomp", "rlimits"),
        landlock_abi=landlock.abi(),
        wall_us=values[-1],
    )
