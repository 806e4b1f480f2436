"""The machine itself: power, services, users, firewall, kernel settings, clocks, schedules. Looking at its state is no effect."""

from __future__ import annotations

from ..model.effect import Effect, EffectKind, Target, TargetKind
from .call import Call, Program, Scene
from .flow import object_target
from .roles import file_effects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_POWER = frozenset(
    ("poweroff reboot halt kexec suspend hibernate hybrid-sleep suspend-then-hibernate sleep soft-reboot emergency rescue exit").split()
)
_LOOKS = frozenset(
    (
        "status show cat help list-units list-unit-files list-timers list-sockets list-jobs list-dependencies list-machines "
        "list-automounts list-paths is-active is-enabled is-failed is-system-running get-default show-environment log-level "
        "service-watchdogs"
    ).split()
)


def _target(call: Call, at: int) -> Target:
    return object_target(call.operands[at]) if len(call.operands) > at else Target(TargetKind.OBJECT, "")


def systemctl(call: Call, scene: Scene) -> Iterator[Effect]:
    """systemctl: verbs that look are nothing; power verbs switch the machine off; the rest changes services."""
    verb = call.operands[0].text or "" if call.operands else ""
    if not verb or verb in _LOOKS:
        return
    user = "user" if call.has("--user") else ""
    if verb in _POWER and not user:
        yield call.effect(EffectKind.SYSTEM_POWER, Target(TargetKind.OBJECT, verb), action=verb)
        return
    units = call.operands[1:]
    for field in units:
        yield call.effect(EffectKind.SYSTEM_SERVICE, object_target(field), action=verb, scope=user, tool="systemctl")
    if not units:
        yield call.effect(EffectKind.SYSTEM_SERVICE, Target(TargetKind.OBJECT, ""), action=verb, scope=user, tool="systemctl")


def service(call: Call, scene: Scene) -> Iterator[Effect]:
    """service NAME ACTION and its like (rc-service, invoke-rc.d, sv ACTION NAME)."""
    words = [field.text or field.prefix for field in call.operands]
    if len(words) < 2 or "status" in words or "--status-all" in call.flags:
        return
    name, action = (1, 0) if call.name in ("sv", "supervisorctl", "initctl", "launchctl", "s6-svc") else (0, 1)
    if words[action] in ("list", "print", "avail", "tail", "version", "pid", "check", "s"):
        return
    yield call.effect(EffectKind.SYSTEM_SERVICE, _target(call, name), action=words[action], tool=call.name)


def init(call: Call, scene: Scene) -> Iterator[Effect]:
    """init, telinit: run levels 0, 1, 6 stop the machine."""
    level = call.operands[0].text if call.operands else ""
    if level in ("0", "1", "6", "s", "S", "single"):
        yield call.effect(EffectKind.SYSTEM_POWER, Target(TargetKind.OBJECT, level), action=f"init {level}")
    elif level:
        yield call.effect(EffectKind.SYSTEM_SERVICE, Target(TargetKind.OBJECT, level), action="init", tool=call.name)


def journal(call: Call, scene: Scene) -> Iterator[Effect]:
    """journalctl: reading is nothing; --vacuum deletes logs."""
    if call.has("--vacuum-size", "--vacuum-time", "--vacuum-files"):
        yield call.effect(EffectKind.FILE_DELETE, Target(TargetKind.PATH, "/var/log/journal"), sweep="1")


def firewall(call: Call, scene: Scene) -> Iterator[Effect]:
    """iptables, nft, ufw ...: listing is nothing; everything else changes who may talk to whom."""
    words = [field.text or field.prefix for field in call.argv]
    if call.name in ("iptables", "ip6tables", "ebtables", "arptables", "iptables-legacy", "iptables-nft"):
        if not any(word in _RULE or word.startswith(_RULE_LONG) for word in words):
            return
        action = "flush" if any(word in ("-F", "--flush", "-X", "--delete-chain") for word in words) else "change"
    elif call.name == "nft":
        verbs = [word for word in words if not word.startswith("-")]
        if (not verbs and "-f" not in words) or verbs[:1] in (["list"], ["monitor"], ["describe"]) or "-c" in words:
            return
        action = "flush" if verbs[:1] in (["flush"], ["delete"], ["destroy"]) else "change"
    elif call.name == "firewall-cmd":
        if not any(
            word.startswith(
                ("--add", "--remove", "--reload", "--panic-on", "--set", "--complete-reload", "--runtime", "--new", "--delete", "--change")
            )
            for word in words
        ):
            return
        action = "change"
    else:
        verbs = [word for word in words if not word.startswith("-")]
        if not verbs or verbs[0] in ("status", "list", "show", "version", "help", "app", "ping", "save", "test") or "--dry-run" in words:
            return
        action = "flush" if verbs[0] in ("disable", "reset", "flush", "destroy", "stop") else "change"
    yield call.effect(EffectKind.SYSTEM_FIREWALL, Target(TargetKind.OBJECT, call.name), action=action, tool=call.name)


_RULE = frozenset("-A -I -D -R -F -X -P -N -Z -E".split())
_RULE_LONG = ("--append", "--insert", "--delete", "--replace", "--flush", "--policy", "--new-chain", "--zero", "--rename-chain")


def network(call: Call, scene: Scene) -> Iterator[Effect]:
    """ip, ifconfig, nmcli ...: showing is nothing; changing may cut the machine off."""
    words = [field.text or "" for field in call.argv if not (field.text or "-").startswith("-")]
    if call.name == "ip" and words[:2] in (["netns", "exec"], ["vrf", "exec"]):
        at = next(index for index, field in enumerate(call.argv) if field.text == "exec")
        yield from scene.nested_argv(call.argv[at + 2 :], call, via="ip netns exec")
        return
    changing = {
        "add",
        "del",
        "delete",
        "set",
        "change",
        "replace",
        "flush",
        "append",
        "down",
        "up",
        "modify",
        "off",
        "on",
        "disconnect",
        "connect",
        "apply",
        "revert",
        "addbr",
        "delbr",
        "addif",
        "delif",
        "block",
        "unblock",
        "reload",
        "try",
        "mtu",
        "netmask",
        "revoke",
        "dns",
        "domain",
    }
    if call.name in ("dhclient", "dhcpcd", "wpa_supplicant") or set(words) & changing:
        yield call.effect(EffectKind.SYSTEM_SERVICE, Target(TargetKind.OBJECT, " ".join(words[:4])), action="network", tool=call.name)


def users(call: Call, scene: Scene) -> Iterator[Effect]:
    """useradd, passwd, usermod ...: accounts change."""
    yield call.effect(
        EffectKind.SYSTEM_USER,
        _target(call, -1) if call.operands else None,
        action=call.name,
        removes="1" if call.name in ("userdel", "deluser", "groupdel", "delgroup") else "",
    )
    if call.name in ("userdel", "deluser") and call.has("-r", "--remove", "--remove-home", "--remove-all-files"):
        for field in call.operands[:1]:
            yield call.effect(EffectKind.FILE_DELETE, Target(TargetKind.PATH, f"/home/{field.text or field.prefix}"), recursive="1")


# Limits that databases and file watchers ask a person to raise; a person may.
_LIMITS = ("vm.max_map_count", "vm.swappiness", "fs.inotify.", "fs.file-max", "fs.aio-max-nr", "net.core.somaxconn", "net.core.rmem", "net.core.wmem")


def sysctl(call: Call, scene: Scene) -> Iterator[Effect]:
    """sysctl: reading is nothing; -w, key=value and -p set kernel values."""
    sets = [field for field in call.operands if "=" in (field.text or field.prefix)]
    if sets or call.has("-w", "--write", "-p", "--load", "--system"):
        names = [(field.text or field.prefix).partition("=")[0].strip().replace("/", ".") for field in sets]
        limits = bool(names) and all(name.startswith(_LIMITS) for name in names)
        what = Target(TargetKind.OBJECT, names[0] if names else "")
        yield call.effect(EffectKind.SYSTEM_PRIVILEGE, what, tool="sysctl" if limits else "kernel", action="kernel setting")


def clock(call: Call, scene: Scene) -> Iterator[Effect]:
    """timedatectl, hostnamectl, localectl, hwclock: `set-*` verbs change the machine."""
    verb = call.operands[0].text or "" if call.operands else ""
    if verb.startswith(("set-", "hostname", "revert", "ntp-servers")) and (len(call.operands) > 1 or verb.startswith("set-")):
        yield call.effect(EffectKind.SYSTEM_SERVICE, _target(call, 1), action=verb, tool=call.name)
    elif call.name == "hwclock" and call.has("-w", "--systohc", "-s", "--hctosys", "--set", "--adjust"):
        yield call.effect(EffectKind.SYSTEM_SERVICE, Target(TargetKind.OBJECT, "clock"), action="set", tool=call.name)


def date(call: Call, scene: Scene) -> Iterator[Effect]:
    """date: -s sets the clock; -r and -f read a file's time or lines."""
    if call.has("-s", "--set"):
        yield call.effect(EffectKind.SYSTEM_SERVICE, Target(TargetKind.OBJECT, "clock"), action="set", tool="date")
    file = call.value("-f", "--file")
    if file is not None:
        yield from file_effects(call, scene, EffectKind.FILE_READ, file)


def hostname(call: Call, scene: Scene) -> Iterator[Effect]:
    """hostname NAME sets it, unless an option asks for something."""
    if call.has(*(f"-{letter}" for letter in "aAdfiIsy"), "--fqdn", "--long", "--short", "--ip-address", "--domain", "--alias"):
        return
    if call.operands or call.has("-F", "--file", "-b"):
        yield call.effect(EffectKind.SYSTEM_SERVICE, _target(call, 0), action="hostname", tool="hostname")


def alternatives(call: Call, scene: Scene) -> Iterator[Effect]:
    """update-alternatives: --set and --install make a name mean another program."""
    if call.has("--set", "--install", "--remove", "--auto", "--config", "--set-selections", "--remove-all"):
        yield call.effect(EffectKind.SYSTEM_SERVICE, _target(call, 0), action="alternatives", tool=call.name)


def message_ring(call: Call, scene: Scene) -> Iterator[Effect]:
    """dmesg: -C and -c clear the kernel's log."""
    if call.has("-C", "--clear", "-c", "--read-clear", "-n", "-D", "-E"):
        yield call.effect(EffectKind.SYSTEM_SERVICE, Target(TargetKind.OBJECT, "kernel log"), action="clear", tool="dmesg")


PROGRAMS: tuple[Program, ...] = (
    Program(
        ("systemctl",),
        options="-t -p -P -H -M -n -o -s -S --type --state --property --host --machine --lines --output --signal "
        "--kill-who --kill-whom --root --what --message --job-mode --value=",
        longs="--user --system --now --force --no-pager --quiet --all --full --no-block --runtime --failed --plain --no-legend",
        describe=systemctl,
        summary="starts, stops and changes services; switches the machine off",
    ),
    Program(
        (
            "service",
            "rc-service",
            "invoke-rc.d",
            "sv",
            "supervisorctl",
            "initctl",
            "launchctl",
            "s6-svc",
            "rc-update",
            "chkconfig",
            "update-rc.d",
            "nssm",
            "winsw",
        ),
        describe=service,
        summary="starts and stops services",
    ),
    Program(
        ("loginctl", "busctl", "coredumpctl", "homectl", "portablectl"),
        harmless="list list-sessions list-users list-seats show status show-session show-user session-status "
        "user-status info dump debug tree introspect list-images image-status",
        when=(
            ("poweroff reboot halt suspend hibernate", "system.power action=power"),
            ("kill-session kill-user terminate-session terminate-user kill terminate", "process.kill by=all"),
            (
                "call set-property emit enable-linger disable-linger lock-session activate start stop remove enable "
                "disable shell login import-tar pull-raw",
                "system.service action=change target=1",
            ),
        ),
        summary="sessions, machines and the system bus",
    ),
    Program(
        ("shutdown",),
        options="-t --time",
        harmless="-c --show",
        when=(("", "system.power action=shutdown"),),
        summary="switches the machine off",
    ),
    Program(
        ("reboot", "poweroff", "halt", "pm-suspend", "pm-hibernate", "rtcwake", "kexec", "zzz"),
        options="-m -t -s -l -d",
        harmless="-w --wtmp-only",
        when=(("", "system.power action=power"),),
        summary="switches the machine off or to sleep",
    ),
    Program(("init", "telinit"), describe=init, summary="changes the run level"),
    Program(
        ("journalctl",),
        options="-u -n -S -U -o -p -t -b= -D -g -k= -M --unit --lines --since --until --output --priority "
        "--identifier --grep --vacuum-size --vacuum-time --vacuum-files --directory --file --root --user-unit "
        "--field",
        describe=journal,
        summary="reads the journal; --vacuum deletes it",
    ),
    Program(
        tuple(
            (
                "iptables ip6tables ebtables arptables iptables-legacy iptables-nft nft ufw firewall-cmd ipset pfctl fail2ban-client "
                "iptables-restore ip6tables-restore shorewall"
            ).split()
        ),
        style="raw",
        describe=firewall,
        summary="changes the firewall",
    ),
    Program(("iptables-save", "ip6tables-save"), options="-f -t", option_roles=(("-f", "write"),), summary="prints the firewall"),
    Program(
        tuple(
            (
                "ip ifconfig route nmcli netplan tc brctl iw iwconfig rfkill systemd-resolve dhclient dhcpcd wpa_supplicant "
                "ifup ifdown arp ethtool bridge networkctl"
            ).split()
        ),
        style="raw",
        describe=network,
        summary="network settings",
    ),
    Program(
        tuple(
            (
                "useradd usermod userdel adduser deluser groupadd groupmod groupdel addgroup delgroup gpasswd passwd chpasswd chgpasswd "
                "chsh chfn chage newusers vipw vigr visudo pwconv grpconv pwck grpck faillock smbpasswd realm"
            ).split()
        ),
        options="-u -g -G -d -s -c -e -f -p -k -K -b -R -m= -M= -E -I -W -A --uid --gid --groups --home --home-dir "
        "--shell --comment --expiredate --inactive --password --base-dir --skel --ingroup --gecos --lastday "
        "--maxdays --mindays",
        harmless="-S --status -l -c --check -q",
        describe=users,
        summary="changes accounts",
    ),
    Program(
        ("setenforce", "aa-teardown", "aa-disable", "aa-complain"),
        harmless="1 Enforcing enforcing",
        when=(("", "system.privilege tool=security-off target=0"),),
        summary="switches mandatory access control off",
    ),
    Program(
        ("auditctl",),
        options="-a -A -d -f -F -k -p -S -w -W -R -r -b",
        harmless="-l -s -v",
        when=(("-e -D", "system.privilege tool=security-off target=0"), ("", "system.privilege tool=security action=change target=0")),
        summary="changes what is audited",
    ),
    Program(("setcap",), options="-n", harmless="-v", when=(("", "system.privilege tool=setcap target=0"),), summary="gives files capabilities"),
    Program(("sysctl",), options="-p= -r --pattern --load=", describe=sysctl, summary="reads or sets kernel values"),
    Program(
        ("insmod", "rmmod"),
        harmless="-V --version",
        when=(("", "system.privilege tool=module-file target=0"),),
        summary="loads a kernel module from a file, or takes one out",
    ),
    Program(
        ("modprobe", "depmod", "kmod", "dkms"),
        options="-C -d -S --config --dirname",
        harmless="-n --dry-run --show -l list static-nodes status -c --showconfig -D --show-depends",
        when=(("", "system.privilege tool=module target=0"),),
        summary="loads and removes kernel modules",
    ),
    Program(
        tuple(
            (
                "setsebool semanage semodule aa-enforce apparmor_parser "
                "augenrules capset pam-auth-update authselect polkit tuned-adm"
            ).split()
        ),
        harmless="-l --list list status",
        when=(("", "system.privilege tool=security action=change target=0"),),
        summary="changes mandatory access control or audit",
    ),
    Program(
        tuple(
            (
                "grub-install update-grub grub-mkconfig grub2-mkconfig efibootmgr update-initramfs mkinitcpio dracut bootctl lilo "
                "refind-install"
            ).split()
        ),
        options="-o -b -k --output --target --boot-directory --efi-directory",
        harmless="-v --verbose status list",
        when=(("", "system.service action=boot target=0"),),
        summary="changes how the machine boots",
    ),
    Program(
        ("timedatectl", "hostnamectl", "localectl", "hwclock"),
        options="-H -M --host --machine --date",
        describe=clock,
        summary="shows or sets clock, host name, locale",
    ),
    Program(
        ("date", "gdate"),
        options="-d -s -r -f -I= --date --set --reference --file --iso-8601= --rfc-3339",
        describe=date,
        summary="prints the date; -s sets it",
    ),
    Program(("hostname", "domainname"), options="-F --file", describe=hostname, summary="prints or sets the host name"),
    Program(
        (
            "update-alternatives",
            "alternatives",
            "dpkg-divert",
            "ldconfig",
            "update-ca-certificates",
            "dpkg-reconfigure",
            "update-mime-database",
        ),
        longs="--set --install --remove --auto --config",
        describe=alternatives,
        summary="system-wide defaults",
    ),
    Program(
        ("dmesg",),
        options="-l -f -n -s -F -L= --level --facility --console-level --file --color=",
        describe=message_ring,
        summary="reads the kernel's log; -C clears it",
    ),
)
