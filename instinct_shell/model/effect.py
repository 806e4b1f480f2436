"""Effects: what a command would do to the world, typed, with where in the text it stands and how sure we are."""

from __future__ import annotations

from enum import StrEnum

from .value import Value


class EffectKind(StrEnum):
    """Dotted names are stable for ever (profiles, records and rules use them)."""

    FILE_READ = "file.read"
    FILE_WRITE = "file.write"  # overwrite or truncate what may exist
    FILE_CREATE = "file.create"  # new name; never destroys (mkdir, touch, >> to a new file)
    FILE_APPEND = "file.append"
    FILE_DELETE = "file.delete"
    FILE_MOVE = "file.move"  # source of a move (the destination is a FILE_WRITE)
    FILE_METADATA = "file.metadata"  # chmod, chown, touch -t, chattr, setfacl
    FILE_LINK = "file.link"  # target = new name; attr "to" = what it points to
    FILE_EXECUTE = "file.execute"
    PROCESS_SPAWN = "process.spawn"
    PROCESS_KILL = "process.kill"
    PROCESS_BACKGROUND = "process.background"
    NET_CONNECT = "net.connect"
    NET_LISTEN = "net.listen"
    NET_UPLOAD = "net.upload"
    NET_REMOTE_EXEC = "net.remote_exec"
    GIT_DISCARD = "git.discard"
    GIT_REWRITE = "git.rewrite"
    GIT_FORCE_PUSH = "git.force_push"
    GIT_DELETE_REF = "git.delete_ref"
    GIT_CONFIG = "git.config"
    GIT_HOOK = "git.hook"
    DB_READ = "db.read"
    DB_WRITE = "db.write"
    DB_DELETE_UNSCOPED = "db.delete_unscoped"
    DB_DROP = "db.drop"
    INFRA_READ = "infra.read"
    INFRA_APPLY = "infra.apply"
    INFRA_DESTROY = "infra.destroy"
    PACKAGE_INSTALL = "package.install"
    PACKAGE_PUBLISH = "package.publish"
    SYSTEM_PRIVILEGE = "system.privilege"
    SYSTEM_SERVICE = "system.service"
    SYSTEM_POWER = "system.power"
    SYSTEM_MOUNT = "system.mount"
    SYSTEM_USER = "system.user"
    SYSTEM_SCHEDULE = "system.schedule"
    SYSTEM_FIREWALL = "system.firewall"
    SECRET_READ = "secret.read"
    API_CALL = "api.call"
    SPEND_COMMIT = "spend.commit"
    CODE_INLINE = "code.inline"  # code that was read and understood; its own effects stand beside it
    CODE_SCRIPT = "code.script"  # a script file that runs; target = its path
    CODE_OPAQUE = "code.opaque"  # code that runs and could not be read
    ENV_HIJACK = "env.hijack"
    UNKNOWN = "unknown"


class Certainty(StrEnum):
    CERTAIN = "certain"  # happens when the command runs
    POSSIBLE = "possible"  # happens on some branch, for some value of a set, or for some match of a pattern
    UNKNOWN = "unknown"  # a dynamic word decides; target.text holds what is known (a literal prefix, or "")


class TargetKind(StrEnum):
    PATH = "path"  # absolute normalised POSIX path, "." and ".." folded as text
    PATTERN = "pattern"  # absolute path with active glob characters (*, ?, [..]); literal ones are backslash-escaped
    HOST = "host"
    URL = "url"
    REF = "ref"  # git ref or remote/ref
    OBJECT = "object"  # database object, kubernetes resource, cloud resource, package, service, account
    PROCESS = "process"
    NAME = "name"  # program or variable name
    NONE = "none"


class Span(Value):
    """Half-open range of characters (code points) in the intent's text; nested text keeps the span of the outer word."""

    start: int
    end: int


NOWHERE = Span(0, 0)


class Target(Value):
    """What an effect acts on. `dynamic` is the reason when the text is only partly known: then `text` is the literal prefix."""

    kind: TargetKind
    text: str
    dynamic: str = ""


NOTHING = Target(TargetKind.NONE, "")


class Effect(Value):
    """One thing that would happen. `attributes` are sorted (name, value) pairs: see docs of each family for the names.

    Names used across families: recursive, force, sweep (acts on everything below or matching), bound (mktemp: a dynamic path that is surely
    a fresh scratch name), dry_run is never an effect. `origin` says through what a nested effect was found ("bash -c", "xargs", "python -c").
    """

    kind: EffectKind
    target: Target = NOTHING
    certainty: Certainty = Certainty.CERTAIN
    span: Span = NOWHERE
    program: str = ""
    attributes: tuple[tuple[str, str], ...] = ()
    origin: tuple[str, ...] = ()

    def get(self, name: str, default: str = "") -> str:
        """The attribute's value, or the default."""
        for key, value in self.attributes:
            if key == name:
                return value
        return default

    def has(self, name: str) -> bool:
        """Whether the attribute is set to anything but the empty string."""
        return bool(self.get(name))
