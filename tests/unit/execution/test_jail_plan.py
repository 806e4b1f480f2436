"""The layers of the jail's file tree, worked out without mounting anything."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from instinct_shell.execution.jail.plan import Layer, LayerKind, Plan, is_within, layered

W, R, S, H, F, L, U = (getattr(LayerKind, name) for name in ("WRITABLE", "READ_ONLY", "SHOWN", "HIDDEN", "FRESH", "PINNED_LINK", "SOCKET"))


def plan(*layers: tuple[LayerKind, str]) -> Plan:
    return layered(Layer(kind, path) for kind, path in layers)


CASES = [
    ("nothing wanted", (), (), ()),
    ("protecting what is read-only anyway", ((R, "/etc"),), (), ()),
    ("a protected file at the top needs no pin", ((W, "/w"), (R, "/w/.env")), ((W, "/w"), (R, "/w/.env")), ()),
    ("ancestors are pinned, the workspace itself is not", ((W, "/w"), (R, "/w/a/b/c")), ((W, "/w"), (R, "/w/a/b/c")), ("/w/a", "/w/a/b")),
    ("a masked path pins too", ((W, "/w"), (H, "/w/a/key")), ((W, "/w"), (H, "/w/a/key")), ("/w/a",)),
    ("a socket does not, its owner may remove it at any moment", ((W, "/w"), (U, "/w/a/s")), ((W, "/w"), (U, "/w/a/s")), ()),
    ("writable inside writable adds nothing", ((W, "/t"), (W, "/t/w")), ((W, "/t"),), ()),
    ("a name that only begins alike is no child", ((W, "/w"), (W, "/wide")), ((W, "/w"), (W, "/wide")), ()),
    ("writable inside protected inside writable", ((W, "/w"), (R, "/w/p"), (W, "/w/p/o")), ((W, "/w"), (R, "/w/p"), (W, "/w/p/o")), ()),
    ("protected inside protected adds nothing", ((W, "/w"), (R, "/w/p"), (R, "/w/p/x")), ((W, "/w"), (R, "/w/p")), ()),
    ("masked wins over protected", ((W, "/w"), (R, "/w/x"), (H, "/w/x")), ((W, "/w"), (H, "/w/x")), ()),
    ("protected wins over writable", ((W, "/w"), (W, "/w/x"), (R, "/w/x")), ((W, "/w"), (R, "/w/x")), ()),
    ("hidden inside hidden adds nothing", ((H, "/s"), (H, "/s/x")), ((H, "/s"),), ()),
    ("hidden inside fresh adds nothing", ((F, "/run"), (H, "/run/x")), ((F, "/run"),), ()),
    ("protected inside fresh is not there at all", ((F, "/tmp"), (R, "/tmp/x")), ((F, "/tmp"),), ()),
    ("shown only where something hides", ((S, "/w"), (F, "/run"), (S, "/run/x")), ((F, "/run"), (S, "/run/x")), ()),
    ("the workspace inside a private tmp", ((F, "/tmp"), (W, "/tmp/w")), ((F, "/tmp"), (W, "/tmp/w")), ()),
    ("pins begin at the nearest writable folder", ((W, "/w"), (R, "/w/p"), (W, "/w/p/o"), (R, "/w/p/o/a/x")),
     ((W, "/w"), (R, "/w/p"), (W, "/w/p/o"), (R, "/w/p/o/a/x")), ("/w/p/o/a",)),
    ("a link is pinned only where it could be replaced", ((W, "/w"), (L, "/w/l"), (L, "/etc/l")), ((W, "/w"), (L, "/w/l")), ()),
]  # fmt: skip


@pytest.mark.parametrize(("layers", "kept", "pins"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_layers(layers: tuple[tuple[LayerKind, str], ...], kept: tuple[tuple[LayerKind, str], ...], pins: tuple[str, ...]) -> None:
    made = plan(*layers)
    assert tuple((layer.kind, layer.path) for layer in made.layers) == kept
    assert made.pins == pins


ACCESS = [("/etc/passwd", "r"), ("/w", "rw"), ("/w/x", "rw"), ("/w/.env", "r"), ("/wide", "r"), ("/w/k", ""), ("/run/x", ""), ("/run/shown/y", "r"),
          ("/w/p/o/x", "rw"), ("/w/p/x", "r")]  # fmt: skip


@pytest.mark.parametrize(("path", "access"), ACCESS)
def test_access(path: str, access: str) -> None:
    made = plan((W, "/w"), (R, "/w/.env"), (H, "/w/k"), (F, "/run"), (S, "/run/shown"), (R, "/w/p"), (W, "/w/p/o"))
    assert made.access(path) == access


paths = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))
wanted_layers = st.lists(st.builds(Layer, st.sampled_from(list(LayerKind)), paths), max_size=8)


@given(wanted_layers, paths)
def test_dropping_layers_changes_no_access(layers: list[Layer], path: str) -> None:
    """What `layered` leaves out as superfluous really is: the strictest, deepest wish decides, read within what is around it."""
    made = layered(layers)
    for layer in made.layers:
        assert layer in layers
    if any(layer.kind is H and layer.path == path for layer in layers):
        assert made.access(path) == ""
    if not any(layer.kind is W and is_within(path, layer.path) for layer in layers):
        assert made.access(path) != "rw"


@given(wanted_layers)
def test_parents_come_before_children(layers: list[Layer]) -> None:
    order = [layer.path for layer in layered(layers).layers]
    for index, path in enumerate(order):
        assert not any(is_within(earlier, path) and earlier != path for earlier in order[:index])
    assert len(order) == len(set(order))


@given(wanted_layers)
def test_every_held_name_has_its_ancestors_pinned(layers: list[Layer]) -> None:
    made = layered(layers)
    for layer in made.layers:
        if layer.kind in (R, H, L):
            around = Plan(layers=tuple(other for other in made.layers if other.path != layer.path)).layer_over(layer.path)
            parent = layer.path.rpartition("/")[0]
            if around and around.kind is W and parent != around.path:
                assert parent in made.pins
