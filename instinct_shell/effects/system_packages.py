"""Package managers of the operating system and of the machine as a whole: apt, dnf, apk, pacman, brew, snap, nix ... Always `global=1`."""

from __future__ import annotations

import re

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..model.value import Value
from ..shell.invocation import Field, literal
from .call import Call, Program, Scene
from .infra import dry_run
from .packages import install
from .roles import file_effects
from .verbs import shown, split, thing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Manager(Value):
    """Verbs of one manager. style: how name and version are written; flags: the verb is an option (pacman -S, rpm -i, dpkg -i)."""

    installs: str
    removes: str = ""
    upgrades: str = ""
    indexes: str = ""  # adds a source of packages
    style: str = "plain"
    options: str = ""
    simulate: str = "-s --simulate --dry-run --just-print --no-act -n"


MANAGERS: dict[str, Manager] = {
    "apt": Manager(
        "install reinstall build-dep satisfy",
        "remove purge autoremove autopurge",
        "upgrade full-upgrade dist-upgrade",
        "edit-sources",
        "colon",
        "-t --target-release -o --option -c --config-file -a",
    ),
    "dnf": Manager(
        "install reinstall localinstall groupinstall downgrade swap builddep",
        "remove erase autoremove groupremove",
        "upgrade update distro-sync system-upgrade",
        "config-manager copr",
        "plain",
        "-c --config --repo --enablerepo --disablerepo --releasever --setopt -x --exclude",
        "--assumeno --downloadonly",
    ),
    "zypper": Manager("install in patch", "remove rm", "update up dist-upgrade dup", "addrepo ar", "plain", "-r --repo", "-D --dry-run"),
    "apk": Manager("add", "del", "upgrade fix", "", "colon", "-X --repository -p --root -t --virtual", "-s --simulate"),
    "pacman": Manager(
        "-S -U --sync --upgrade", "-R --remove", "", "", "plain", "-r --root -b --dbpath --config --cachedir --ignore", "-p --print"
    ),
    "dpkg": Manager(
        "-i --install --unpack", "-r -P --remove --purge", "", "", "plain", "-D --debug --root", "--dry-run --no-act --simulate"
    ),
    "rpm": Manager(
        "-i -U -F --install --upgrade --freshen --reinstall", "-e --erase", "", "--import", "plain", "--root --prefix --dbpath", "--test"
    ),
    "brew": Manager(
        "install reinstall bundle", "uninstall remove rm autoremove", "upgrade", "tap", "at", "--cask= --appdir --cc", "-n --dry-run"
    ),
    "snap": Manager("install", "remove", "refresh revert", "", "plain", "--channel --revision", ""),
    "flatpak": Manager("install", "uninstall remove", "update", "remote-add", "plain", "--from --arch --installation", ""),
    "port": Manager("install", "uninstall", "upgrade selfupdate", "", "plain", "", "-y"),
    "emerge": Manager("--ask --oneshot -1", "--unmerge -C --depclean", "--update -u", "", "plain", "", "-p --pretend"),
    "xbps": Manager("", "", "", "", "plain", "", "-n"),
    "choco": Manager("install", "uninstall", "upgrade", "source", "plain", "--version --source -s", "--noop --what-if"),
    "winget": Manager("install", "uninstall", "upgrade", "source", "plain", "--id --version --source -s", ""),
    "scoop": Manager("install", "uninstall", "update", "bucket", "plain", "", ""),
    "pkg": Manager("install add", "delete remove autoremove", "upgrade", "", "plain", "-r --repository", "-n"),
    "opkg": Manager("install", "remove", "upgrade", "", "plain", "", "--noaction"),
    "guix": Manager("install", "remove", "upgrade pull", "", "at", "", "-n --dry-run"),
    "nix-env": Manager("-i -iA --install", "-e --uninstall", "-u --upgrade", "", "plain", "-f --file -p --profile -A", "--dry-run"),
    "asdf": Manager("install", "uninstall", "", "plugin", "plain", "", ""),
    "mise": Manager("install use i u", "uninstall prune", "upgrade", "", "at", "", "-n --dry-run"),
    "sdk": Manager("install", "uninstall", "upgrade", "", "plain", "", ""),
    "krew": Manager("install", "uninstall", "upgrade", "index", "plain", "", ""),
}
ALIASES = {
    "apt-get": "apt",
    "aptitude": "apt",
    "nala": "apt",
    "yum": "dnf",
    "microdnf": "dnf",
    "tdnf": "dnf",
    "yay": "pacman",
    "paru": "pacman",
    "pamac": "pacman",
    "trizen": "pacman",
    "xbps-install": "emerge",
    "pkg_add": "pkg",
    "rtx": "mise",
    "nvm": "sdk",
    "gdebi": "dpkg",
}


# Without a name they install the versions that the project's own file names (`.tool-versions`, `mise.toml`).
_VERSIONED = frozenset(["asdf", "mise"])


_FORCED = frozenset(("--allow-remove-essential", "--nodeps", "--force-all", "--force-depends", "--force-remove-essential", "--force-remove-reinstreq"))
# Packages without which the machine, or the way into it, is gone; a pattern takes whatever it fits.
_ESSENTIAL = (
    r"(?:libc6|glibc|musl|coreutils|bash|dash|systemd(?:-sysv)?|init|apt|dpkg|rpm|dnf|yum|pacman|apk-tools|util-linux|login|passwd|sudo|openssh-server|"
    r"linux-image.*|kernel(?:-core)?|grub.*|python3(?:-minimal)?|perl-base|libssl\d*|openssl|network-manager|netplan\.io|base-files|filesystem|libpam.*|tar|gzip)"
)
# Options by which a package goes together with the data it keeps, and the packages whose data is what they are for.
_WITH_DATA = {"snap": frozenset(("--purge",)), "flatpak": frozenset(("--delete-data",))}
_KEEP_DATA = frozenset(
    "lxd incus microk8s k8s k3s docker multipass nextcloud rocketchat-server gitea gitlab mattermost wekan vault consul etcd minio postgresql postgresql10 "
    "mysql mysql-shell mariadb mongodb redis influxdb couchdb elasticsearch opensearch cassandra neo4j keepalived charmed-postgresql charmed-mysql "
    "charmed-mongodb prometheus grafana home-assistant-snap jellyfin plexmediaserver syncthing bitwarden keepassxc thunderbird firefox chromium".split()
)
_OF_THE_SYSTEM = frozenset("apt dnf zypper apk pacman dpkg rpm emerge pkg opkg".split())


def _is_essential(package: str, manager: str) -> bool:
    """Whether removing a package takes away what the system stands on: an essential name, or a pattern."""
    if manager not in _OF_THE_SYSTEM:
        return package in ("*", ".*", "^.*")
    plain = package.partition(":")[0].partition("=")[0]
    return re.fullmatch(_ESSENTIAL, plain) is not None or "*" in plain or plain.endswith(("+", "?"))


def system_manager(call: Call, scene: Scene) -> Iterator[Effect]:
    """One call of a machine's package manager."""
    manager = MANAGERS[ALIASES.get(call.name, call.name)]
    words = split(call.argv, manager.options)
    if words.has("-h", "--help", *manager.simulate.split()) or dry_run(words):
        return
    verb = words.verb()
    flags = {*words.flags, *(option for option, _ in words.values)}
    name = ALIASES.get(call.name, call.name)
    place = {"global": "1"}
    if name == "brew" and verb == "services":
        if words.verb(1) in ("start", "stop", "restart", "run", "kill", "cleanup"):
            yield call.effect(EffectKind.SYSTEM_SERVICE, thing(words.verb(2)), action=words.verb(1), tool="brew")
        return
    if name == "rpm" and flags & {"-q", "--query", "-V", "--verify", "-K", "--checksig", "--eval", "--showrc"}:
        return
    if name == "pacman" and flags & {"-s", "-i", "-l", "-g"} and not flags & {"-y", "-u"}:
        return
    by_flag = manager.installs.startswith("-")
    if flags & _FORCED or any(_is_essential(shown(field), name) for field in words.words[not by_flag :]):
        if flags & set(manager.removes.split()) or verb in manager.removes.split():
            yield call.effect(EffectKind.INFRA_DESTROY, thing("the packages that the system needs"), tool=call.name, verb=verb)
    if verb in manager.removes.split() and flags & _WITH_DATA.get(name, frozenset()):
        for field in words.words[1:]:
            if name == "flatpak" or shown(field).partition("_")[0] in _KEEP_DATA:
                yield call.effect(EffectKind.INFRA_DESTROY, thing(f"the data of {shown(field)}"), tool=call.name, verb=verb)
    if flags & set(manager.removes.split()) or verb in manager.removes.split():
        for field in words.words if by_flag else words.words[1:] or (literal(""),):
            yield call.effect(EffectKind.PACKAGE_INSTALL, thing(field), place, manager=call.name, name=shown(field), action="remove")
    elif verb in manager.upgrades.split() or flags & set(manager.upgrades.split()):
        yield call.effect(EffectKind.PACKAGE_INSTALL, thing(""), place, manager=call.name, source="registry", action="upgrade")
    elif (by_flag and flags & set(manager.installs.split())) or verb in manager.installs.split():
        fields = words.words if by_flag else words.words[1:]
        yield from install(call, scene, call.name, fields, style=manager.style, **place)
        if not fields:
            yield call.effect(
                EffectKind.PACKAGE_INSTALL,
                thing(""),
                {} if name in _VERSIONED else place,
                manager=call.name,
                source="manifest",
                action="upgrade" if name == "pacman" else "",
            )
    elif verb and verb in manager.indexes.split() and words.verb(1) not in ("list", "ls", "info", ""):
        yield call.effect(
            EffectKind.PACKAGE_INSTALL,
            thing(words.words[-1]),
            place,
            manager=call.name,
            name=shown(words.words[-1]),
            source="url",
            index=shown(words.words[-1]),
        )
    elif verb == "update" and name in ("apt", "brew", "zypper", "apk", "pkg"):
        yield call.effect(EffectKind.NET_CONNECT, Target(TargetKind.HOST, f"{call.name} index"), method="GET")
    elif verb in ("clean", "autoclean", "cleanup"):
        yield call.effect(EffectKind.PROCESS_SPAWN, Target(TargetKind.NAME, f"{call.name} {verb}"))


def repository(call: Call, scene: Scene) -> Iterator[Effect]:
    """add-apt-repository, apt-key: whom the machine trusts for packages."""
    words = split(call.argv, "--keyserver --keyring --recv-keys= -k -s")
    if call.name == "apt-key" and words.verb() in ("list", "finger", "export", "exportall", ""):
        if not words.has("--recv-keys"):
            return
    last = words.words[-1] if words.words else None
    yield call.effect(
        EffectKind.PACKAGE_INSTALL, thing(last), {"global": "1"}, manager="apt", name=shown(last), source="url", index=shown(last)
    )


def nix(call: Call, scene: Scene) -> Iterator[Effect]:
    """nix run, nix shell, nix-shell -p PKG --run CMD."""
    at = next((i for i, word in enumerate(call.argv) if word.text in ("-c", "--command")), len(call.argv))
    argv = call.argv[:at] if call.name == "nix" else call.argv
    words = split(argv, "-p --packages --run --command -c -I --argstr --arg -f --file -E --expr -A --attr --option")
    verb = words.verb() if call.name == "nix" else "shell"
    command = words.value("--run", "--command")
    if verb in ("run", "shell", "develop", "profile"):
        packages: tuple[Field, ...] = words.words[1:] if call.name == "nix" else (*words.words, *words.all("-p", "--packages"))
        if verb == "profile":
            if words.verb(1) in ("install", "add"):
                yield from install(call, scene, "nix", words.words[2:], style="plain", **{"global": "1"})
            return
        yield from install(call, scene, "nix", tuple(p for p in packages if shown(p) not in (".", ".#")), style="plain", run="1")
    if command is not None and command.text is not None:
        yield from scene.nested_shell(command.text, call, via=call.name)
    elif verb in ("shell", "develop") and call.name == "nix" and at < len(call.argv):
        yield from scene.nested_argv(call.argv[at + 1 :], call, via=call.name)
    if verb in ("collect-garbage", "store") and words.has("-d", "--delete-old", "--delete"):
        yield from file_effects(call, scene, EffectKind.FILE_DELETE, literal("/nix/store"), generations="1")


PROGRAMS: tuple[Program, ...] = (
    Program(
        (*(name for name in MANAGERS if name != "xbps"), *(name for name in ALIASES if name != "nvm")),
        style="raw",
        describe=system_manager,
        summary="packages of the machine",
    ),
    Program(("add-apt-repository", "apt-add-repository", "apt-key"), style="raw", describe=repository, summary="adds a source of packages"),
    Program(("nix", "nix-shell"), style="raw", describe=nix, summary="nix packages and shells"),
    Program(("nix-collect-garbage", "nix-store"), "-d --delete-older-than", style="raw", summary="the nix store"),
    Program(
        (
            "apt-cache",
            "apt-file",
            "dpkg-query",
            "apt-mark",
            "apt-config",
            "repoquery",
            "rpmquery",
            "pkginfo",
            "equery",
            "dpkg-deb",
            "debsums",
            "checkinstall",
            "apt-listchanges",
            "needrestart",
            "dpkg-architecture",
            "dpkg-parsechangelog",
            "lsb_release",
        ),
        style="raw",
        summary="looks at packages",
    ),
)
