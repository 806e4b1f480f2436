"""Disks, partitions, file systems, volumes and mounts: making, wiping, mounting. Looking at them is no effect."""

from __future__ import annotations

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import literal
from .call import Call, Program, Scene, path_targets
from .flow import object_target
from .roles import file_effects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .call import Describer


def format_device(call: Call, scene: Scene) -> Iterator[Effect]:
    """mkfs and its like: what the device (or image) held is gone."""
    for field in call.operands:
        text = field.text or field.prefix
        if text.isdigit():  # a size in blocks
            continue
        for effect in file_effects(call, scene, EffectKind.FILE_WRITE, field, format="1"):
            yield effect
            if effect.target.text.startswith("/dev/") or effect.target.dynamic:
                yield call.effect(EffectKind.SYSTEM_MOUNT, effect.target, action="format", tool=call.name)


def mount(call: Call, scene: Scene) -> Iterator[Effect]:
    """mount, umount: without operands mount only lists."""
    if not call.operands and not call.has("-a", "--all"):
        return
    action = "unmount" if call.name.startswith(("umount", "fusermount", "eject", "udisksctl-un")) else "mount"
    last = call.operands[-1] if call.operands else literal("")
    targets = path_targets(last, call.invocation.cwd) if last.text != "" else ()
    for target, _ in targets or ((Target(TargetKind.OBJECT, "all"), None),):
        yield call.effect(EffectKind.SYSTEM_MOUNT, target, action=action, tool=call.name)


def verbs(table: dict[str, str]) -> Describer:
    """A describer for tools whose first operands say what happens: "destroy" -> action; the operand after the verb is the target."""

    def describe(call: Call, scene: Scene) -> Iterator[Effect]:
        words = [field.text or "" for field in call.operands]
        for length in (2, 1):
            action = table.get(" ".join(words[:length]))
            if action:
                rest = call.operands[length:]
                target = object_target(rest[-1]) if rest else Target(TargetKind.OBJECT, "")
                yield call.effect(EffectKind.SYSTEM_MOUNT, target, action=action, tool=call.name)
                return

    return describe


_ZFS = {verb: action for action, names in {
    "destroy": "destroy|labelclear|remove|detach|rollback|split",
    "create": "create|add|attach|replace|import|clone|receive|recv",
    "change": "set|offline|online|clear|export|upgrade|rename|promote|mount|unmount|umount|trim|scrub|inherit|allow|unallow",
}.items() for verb in names.split("|")}  # fmt: skip
_BTRFS = {
    "subvolume delete": "destroy", "sub del": "destroy", "subvolume create": "create", "subvolume snapshot": "create", "device remove": "destroy",
    "device delete": "destroy", "device add": "create", "balance start": "change", "filesystem resize": "change", "quota disable": "change",
    "rescue zero-log": "destroy", "check --repair": "change",
}  # fmt: skip
_SNAPPER = {"delete": "destroy", "remove": "destroy", "rm": "destroy", "delete-config": "destroy", "rollback": "change", "undochange": "change"}
_LUKS = {
    "luksFormat": "format", "erase": "destroy", "luksErase": "destroy", "luksKillSlot": "destroy", "luksRemoveKey": "destroy", "luksClose": "unmount",
    "close": "unmount", "open": "mount", "luksOpen": "mount", "reencrypt": "change", "luksAddKey": "change", "resize": "change", "luksHeaderRestore": "destroy",
}  # fmt: skip
_NVME = {
    "format": "format",
    "sanitize": "destroy",
    "delete-ns": "destroy",
    "write-zeroes": "destroy",
    "write": "destroy",
    "dsm": "destroy",
    "reset": "change",
    "fw-commit": "change",
}
_DM = {"remove": "destroy", "remove_all": "destroy", "wipe_table": "destroy", "create": "create", "suspend": "change", "reload": "change"}


PROGRAMS: tuple[Program, ...] = (
    Program(
        tuple(
            (
                "mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.msdos mkfs.ntfs mkfs.f2fs mkfs.exfat "
                "mkfs.minix mkfs.bfs mkfs.cramfs mkfs.jfs mkfs.reiserfs mke2fs mkdosfs mkntfs mkreiserfs mkudffs mkswap mkexfatfs newfs"
            ).split()
        ),
        options="-t -L -b -B -C -D -E -F= -g -G -i -I -J -m -M -N -o -O -r -s -S -T -U -d -l -n -p -R -f= --type "
        "--label --uuid --pagesize --data --metadata --nodesize",
        describe=format_device,
        summary="makes a file system: what was there is gone",
    ),
    Program(("dumpfs", "lsscsi", "blkparse", "iotop"), style="raw", summary="looks at devices"),
    Program(
        ("zpool", "zfs"),
        options="-o -O -R -d -t -m -V -b",
        harmless="-n list status get history iostat events snapshot send diff holds userspace",
        describe=verbs(_ZFS),
        summary="ZFS pools and data sets",
    ),
    Program(
        ("timeshift",),
        options="--snapshot --snapshot-device --target-device --grub-device --comments --tags",
        when=(("--delete --delete-all --restore", "system.mount action=destroy target=0"),),
        summary="snapshots of the system",
    ),
    Program(("snapper",), options="-c --config -d --description -t --type", describe=verbs(_SNAPPER), summary="snapshots of the system"),
    Program(("btrfs", "bcachefs"), harmless="--dry-run", describe=verbs(_BTRFS), summary="btrfs volumes"),
    Program(
        ("cryptsetup", "veracrypt", "clevis"),
        options="-c -h -s -d -q= --key-file --type --cipher --hash --key-size --header",
        harmless="luksDump status isLuks luksUUID benchmark",
        describe=verbs(_LUKS),
        summary="encrypted volumes",
    ),
    Program(("nvme",), options="-n -s -l -f -d", describe=verbs(_NVME), summary="NVMe devices"),
    Program(
        ("dmsetup", "losetup"),
        options="-o -f= -P= --offset --sizelimit",
        harmless="-l -a --list --all ls info table status",
        describe=verbs(_DM),
        when=(("-d -D --detach --detach-all", "system.mount action=unmount target=0"),),
        summary="mapped and loop devices",
    ),
    Program(
        ("lvremove", "vgremove", "pvremove", "vgreduce", "lvreduce"),
        options="-L -l -S --size --extents --select",
        harmless="-t --test",
        when=(("", "system.mount action=destroy target=0"),),
        summary="removes or shrinks volumes",
    ),
    Program(
        (
            "lvcreate",
            "vgcreate",
            "pvcreate",
            "lvextend",
            "lvresize",
            "vgextend",
            "lvrename",
            "vgrename",
            "lvchange",
            "vgchange",
            "pvmove",
            "lvconvert",
        ),
        options="-L -l -n -s= -T= --size --extents --name",
        harmless="-t --test",
        when=(("", "system.mount action=change target=0"),),
        summary="makes or changes volumes",
    ),
    Program(
        ("lvs", "vgs", "pvs", "lvdisplay", "vgdisplay", "pvdisplay", "lvscan", "vgscan", "pvscan", "zdb"),
        style="raw",
        summary="looks at volumes",
    ),
    Program(
        ("mdadm",),
        options="-l -n -x -c -m -e --level --raid-devices --spare-devices --chunk --metadata",
        harmless="--detail -D --examine -E --query -Q --monitor",
        when=(
            ("--zero-superblock --stop -S --remove -r --fail -f", "system.mount action=destroy target=0"),
            ("--create -C --grow -G --add -a --assemble -A", "system.mount action=change target=0"),
        ),
        summary="software RAID",
    ),
    Program(
        (
            "mount",
            "sshfs",
            "bindfs",
            "pivot_root",
            "mount.cifs",
            "mount.nfs",
            "squashfuse",
            "encfs",
            "gocryptfs",
            "pmount",
        ),
        options="-t -o -O -L -U -T -N --types --options --source --target --namespace",
        harmless="-l --show-labels",
        describe=mount,
        summary="mounts",
    ),
    Program(
        ("umount", "fusermount", "fusermount3", "pumount", "eject", "udisksctl"),
        options="-t -O -N -o -b --block-device -p --object-path --types --test-opts --namespace",
        harmless="--fake status info dump monitor",
        describe=mount,
        summary="unmounts",
    ),
    Program(
        ("swapon", "swapoff"),
        options="-p -L -U -o -d= --priority --discard=",
        harmless="-s --summary --show",
        when=(("-a --all", "system.mount action=swap target=all"), ("", "system.mount action=swap target=0")),
        summary="turns swap on and off",
    ),
    Program(
        ("quotaon", "quotaoff", "setquota", "edquota", "xfs_quota"),
        when=(("", "system.mount action=quota target=0"),),
        summary="disk quotas",
    ),
)
