"""Partition tables and device tools: which flags only look and which change what a device holds.

A looking flag never excuses a changing one beside it (`sgdisk -p -Z`).
"""

from __future__ import annotations

from ..model.effect import Effect, EffectKind
from ..model.value import Value
from ..shell.invocation import Field, literal
from .call import Call, Program, Scene, path_targets
from .roles import apply_role

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Tool(Value):
    """looks: flags that make the call a look. changes: flags or verbs that change the device; "*" = everything that is no look changes.

    verbs: whether the words after the device count as well (parted). device: which operand the device is.
    """

    looks: str = ""
    changes: str = "*"
    verbs: bool = False
    device: int = 0


TOOLS = {
    "fdisk": Tool("-l --list -s --getsz -x --list-details -V"), "cfdisk": Tool("-V"), "gdisk": Tool("-l"), "cgdisk": Tool(),
    "sfdisk": Tool(
        "-d --dump -l --list -n --no-act -V --verify -J --json -s --show-size -F --list-free -T --list-types -g --show-geometry"
    ),
    "sgdisk": Tool(
        "-p --print -i --info -v --verify -b --backup -F --first-in-largest -E --end-of-largest -L --list-types",
        "-d --delete -n --new -N --largest-new -o --clear -Z --zap-all -z --zap -t --typecode -l --load-backup -g --mbrtogpt -m --gpttombr -G "
        "--randomize-guids -U --disk-guid -u --partition-guid -R --replicate -e --move-second-header -s --sort -A --attributes -c --change-name -r "
        "--transpose -h --hybrid",
    ),
    "parted": Tool("-l --list", "mklabel mktable mkpart mkpartfs rm resizepart resize rescue set name move cp toggle disk_set", verbs=True),
    "gparted": Tool(), "growpart": Tool("-N --dry-run"), "fixparts": Tool(), "testdisk": Tool("/list"),
    "addpart": Tool(), "delpart": Tool(), "resizepart": Tool(),
    "wipefs": Tool("-n --no-act", "-a --all -o --offset -f --force -t --types"), "blkdiscard": Tool(),
    "badblocks": Tool("", "-w -X"),
    "hdparm": Tool("", "--security-erase --security-erase-enhanced --security-set-pass --security-disable --trim-sector-ranges --write-sector "
                   "--repair-sector --make-bad-sector --yes-i-know-what-i-am-doing --fwdownload --dco-restore --dco-setmax -N -y -Y -S -W "
                   "--sanitize-crypto-scramble "
                   "--sanitize-block-erase --sanitize-overwrite --please-destroy-my-drive"),
    "sdparm": Tool("", "-s --set -c --clear -S --save -D --defaults -C --command"),
    "tune2fs": Tool("-l"), "resize2fs": Tool("-P"), "xfs_growfs": Tool("-n"), "xfs_repair": Tool("-n"), "e2fsck": Tool("-n"), "fsck": Tool("-n -N"),
    "fsck.ext4": Tool("-n"), "ntfsfix": Tool("-n --no-action"), "debugfs": Tool("", "-w"), "dumpe2fs": Tool("", ""),
    "partprobe": Tool("-d --dry-run -s --summary"),
    "blockdev": Tool("", "--setrw --setro --setbsz --setra --setfra --flushbufs --rereadpt"),
    "smartctl": Tool("", "--set -s -X --abort"),
}  # fmt: skip
LABELS = ("e2label", "fatlabel", "swaplabel")
COPIERS = ("ddrescue", "dd_rescue", "partclone.ext4", "gddrescue")
OPTIONS = (
    "-b -t -H -C -S -o -O -w -N -a -d -n -i -A -c -u -U -g -R -E -L -e -m -l= --bytes --sector-size --type --output --part-type --new --delete "
    "--typecode --change-name --backup --load-backup --offset --types"
)
# Letters that are flags for these tools and take an argument for others of the table.
_FLAGS = {
    "fdisk": "-l", "sfdisk": "-d -n -l -A -a", "sgdisk": "-g -o", "parted": "-m -i", "wipefs": "-a -n -c", "badblocks": "-n -w", "hdparm": "-i -t -g -C -d",
    "e2fsck": "-n -a -d -c -t", "fsck": "-n -a", "fsck.ext4": "-n -a", "tune2fs": "-l", "debugfs": "-w -n", "resize2fs": "-d", "xfs_repair": "-n -d -L",
    "ntfsfix": "-n -d -b", "smartctl": "-i -a -H -c -A", "growpart": "-N", "partprobe": "-d", "dumpe2fs": "-b", "sdparm": "-a -i -l -d -n",
}  # fmt: skip


def device(call: Call, scene: Scene) -> Iterator[Effect]:
    """A device tool: its device may lose what it holds."""
    tool = TOOLS[call.name]
    request = call.value("-R") if call.name == "debugfs" else None
    if request is not None:
        asked = (request.text or request.prefix).split()
        for name in asked[1:2] if asked[:1] in (["cat"], ["dump"], ["rdump"]) else ():
            yield from apply_role("read", literal(name), call, scene)  # past the permissions of the mounted system
    flags = {word.text or word.prefix for word in call.argv if (word.text or word.prefix).startswith(("-", "/"))}
    flags |= {flag.partition("=")[0] for flag in flags} | set(call.flags) | {option for option, _ in call.values}
    words = {word.text or "" for word in call.operands[1:]} if tool.verbs else set()
    if tool.changes == "*":
        harmless = bool(flags & set(tool.looks.split()))
    else:
        harmless = not (flags | words) & set(tool.changes.split()) or (call.name == "wipefs" and bool(flags & set(tool.looks.split())))
    if harmless:
        return
    yield from _lost(call, call.operands[tool.device : tool.device + 1], "partition")


def label(call: Call, scene: Scene) -> Iterator[Effect]:
    """e2label DEVICE [NAME]: with a name it changes."""
    if len(call.operands) > 1:
        yield from _lost(call, call.operands[:1], "change")


def copier(call: Call, scene: Scene) -> Iterator[Effect]:
    """ddrescue IN OUT: the second is overwritten."""
    for field in call.operands[:1]:
        yield from apply_role("read", field, call, scene)
    yield from _lost(call, call.operands[1:2], "format")


def imager(call: Call, scene: Scene) -> Iterator[Effect]:
    """bmaptool copy IMAGE DEVICE, rpi-imager --cli IMAGE DEVICE, etcher -d DEVICE IMAGE."""
    operands = call.operands
    if call.name == "bmaptool":
        if not operands or operands[0].text != "copy":
            return
        operands = operands[1:]
    drive = call.value("-d", "--drive")
    yield from _lost(call, (drive,) if drive is not None else operands[1:2], "format")


def _lost(call: Call, fields: tuple[Field, ...], action: str) -> Iterator[Effect]:
    for field in fields:
        for target, _ in path_targets(field, call.invocation.cwd):
            yield call.effect(EffectKind.FILE_WRITE, target, format="1")
            if action != "format" or target.text.startswith("/dev/"):
                yield call.effect(EffectKind.SYSTEM_MOUNT, target, action=action, tool=call.name)


def _options(name: str) -> str:
    flags = set(_FLAGS.get(name, "").split())
    return " ".join(option for option in OPTIONS.split() if option not in flags)


PROGRAMS: tuple[Program, ...] = (
    *(Program((name,), options=_options(name), describe=device, summary="looks at a device or changes what it holds") for name in TOOLS),
    Program(("bmaptool",), options="--bmap --bmap-sig --fingerprint", describe=imager, summary="writes disk images"),
    Program(("rpi-imager", "usbimager", "balena-etcher", "etcher"), options="-d --drive --sha256", describe=imager, summary="writes disk images"),
    Program(LABELS, describe=label, summary="the label of a file system"),
    Program(COPIERS, options="-b -B -c -i -o -s -n= -r -K -m -e -E -l -T -S", describe=copier, summary="copies a device"),
)
