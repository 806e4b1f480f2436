"""Secret stores: the environment as a whole, password managers, keyrings, cloud secret managers, encrypted files.

`secret.read` names a store (`store=`) that a command takes values out of; `prints=1` when they reach its output. Names alone are no
secret: `env | cut -d= -f1` passes. Secret *files* are file.read effects, told apart by the profile's names.
"""

from __future__ import annotations

import re
from functools import cache

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Invocation
from .call import Call, Program, Scene
from .roles import file_effects
from .verbs import shown, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Filters that let every line through in some order.
_PASSES = frozenset("sort uniq head tail cat tee less more column nl tac rev bat pr fold fmt tr base64 xxd od hexdump paste".split())
_LOGINS = frozenset("docker podman helm buildah skopeo nerdctl oras crane cosign".split())


@cache
def _secret_name() -> re.Pattern[str]:
    return re.compile(
        r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASS(?:WORD|WD|PHRASE)?|PWD|CREDENTIALS?|AUTH|PRIVATE|COOKIE|DSN|PAT|SIGNING)(?:_|$|S$|\d|_?ID$)|"
        r"^(?:DATABASE|REDIS|MONGO(?:DB)?|AMQP|POSTGRES|MYSQL)_UR[LI]$|APIKEY|ACCESSKEY|SECRETKEY|PASSWORD|^PGPASSWORD$|CONNECTION_STRING",
        re.IGNORECASE,
    )


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name usually holds a secret."""
    return name not in ("PWD", "OLDPWD", "SSH_AUTH_SOCK", "XAUTHORITY", "GPG_TTY") and _secret_name().search(name) is not None


def reveals(invocation: Invocation, scene: Scene, depth: int = 0) -> bool:
    """Whether lines `NAME=value` that this command prints keep their values on the way through its pipe."""
    readers = [scene.invocations[index] for index in invocation.readers if 0 <= index < len(scene.invocations)]
    if not readers or depth > 8:
        return True
    for reader in readers:
        words = [word.text or "" for word in reader.words]
        name = words[0].rsplit("/", 1)[-1] if words else ""
        if not words or (name in _PASSES and name not in ("base64", "xxd", "od", "hexdump")):
            if reveals(reader, scene, depth + 1):
                return True
        elif not _takes_names_only(name, words[1:]):
            return True
    return False


def _takes_names_only(name: str, words: list[str]) -> bool:
    text = " ".join(words)
    if name == "wc" or (name in _LOGINS and "login" in words[:2]) or name in ("true", ":"):
        return True
    if name == "cut":
        return bool(re.search(r"-d\s*=", text) and re.search(r"-f\s*1(?!\d|,|-)", text))
    if name in ("awk", "gawk", "mawk"):
        return bool(re.search(r"-F\s*=", text)) and re.search(r"\$(?!1\b)", text) is None and "print $1" in text
    if name == "sed":
        return re.search(r"s(.)=\.\*\1\1", text) is not None
    if name in ("grep", "egrep", "rg", "ag"):
        if re.search(r"(?:^|\s)-[a-zA-Z]*[cq]", text) or "--count" in text or "--quiet" in text:
            return True
        if re.search(r"(?:^|\s)-[a-zA-Z]*v", text):
            return False
        patterns = [word for word in words if not word.startswith("-")][:1]
        if re.search(r"(?:^|\s)-[a-zA-Z]*o", text) and patterns and re.fullmatch(r"\^?\[\^=\][*+]", patterns[0]):
            return True
        bare = re.sub(r"[\^$=\\.*+?]", "", patterns[0]) if patterns else ""
        return len(bare) >= 3 and all(len(one) >= 3 and not is_secret_name(one.upper()) for one in re.split(r"\||\\\|", bare))
    return False


def environment_dump(call: Call, scene: Scene) -> Iterator[Effect]:
    """The whole environment printed: `env`, `printenv`, `export -p`, `declare -p`, `set`."""
    if reveals(call.invocation, scene):
        yield call.effect(EffectKind.SECRET_READ, Target(TargetKind.OBJECT, "environment"), store="env", prints="1")


def printenv(call: Call, scene: Scene) -> Iterator[Effect]:
    """printenv [NAME...]."""
    if not call.operands:
        yield from environment_dump(call, scene)
    for field in call.operands:
        if any(is_secret_name(value) for value in field.values):
            yield call.effect(EffectKind.SECRET_READ, Target(TargetKind.NAME, shown(field)), store="env", prints="1")


def pass_store(call: Call, scene: Scene) -> Iterator[Effect]:
    """pass and gopass: a bare name shows the password."""
    verb = shown(call.operands[0]) if call.operands else "ls"
    if verb in ("ls", "list", "find", "search", "init", "git", "help", "version", "generate", "insert", "otp-uri", "sync"):
        return
    if verb in ("rm", "remove", "delete", "mv", "cp"):
        yield call.effect(
            EffectKind.FILE_DELETE, Target(TargetKind.PATH, f"{scene.home}/.password-store/{shown(call.operands[-1])}"), recursive="1"
        )
        return
    yield call.effect(EffectKind.SECRET_READ, Target(TargetKind.OBJECT, shown(call.operands[-1])), store="pass", prints="1")


def encrypted_file(call: Call, scene: Scene) -> Iterator[Effect]:
    """sops, ansible-vault, age, git-crypt: decrypting prints or writes what was kept secret."""
    words = split(
        call.argv, "-i -o --output --identity -r --recipient --vault-password-file --vault-id --input-type --output-type --extract --set"
    )
    verb = words.verb()
    name = call.name
    decrypts = (
        (
            name == "sops"
            and (
                words.has("-d", "--decrypt")
                or verb in ("decrypt", "exec-env", "exec-file", "edit")
                or (bool(verb) and not words.has("-e", "--encrypt", "-r"))
            )
        )
        or (name == "ansible-vault" and verb in ("view", "decrypt", "edit"))
        or (name in ("age", "rage") and words.has("-d", "--decrypt"))
        or (name == "git-crypt" and verb in ("unlock", "export-key"))
        or (name == "blackbox_cat")
    )
    if name == "sops" and verb in ("encrypt", "updatekeys", "rotate", "publish", "groups", "set", "unset"):
        decrypts = False
    if decrypts:
        prints = "" if words.value("-o", "--output") is not None else "1"
        yield call.effect(
            EffectKind.SECRET_READ, Target(TargetKind.OBJECT, words.verb(len(words.words) - 1) or name), store=name, prints=prints
        )
    output = words.value("-o", "--output")
    if output is not None and name in ("age", "rage", "sops"):
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, output)
    if name in ("age", "rage") and not decrypts:
        for field in words.words:
            yield from file_effects(call, scene, EffectKind.FILE_READ, field, source_of_copy="1")


def wireguard(call: Call, scene: Scene) -> Iterator[Effect]:
    """wg show IF private-key, wg-quick up IF."""
    words = [shown(word) for word in call.operands]
    if words[:1] == ["show"] and words[2:3] and words[2] in ("private-key", "preshared-keys", "dump"):
        yield call.effect(EffectKind.SECRET_READ, Target(TargetKind.OBJECT, words[1]), store="wireguard", prints="1")
    elif call.name == "wg-quick" and words[:1] in (["up"], ["down"], ["save"]):
        yield call.effect(EffectKind.SYSTEM_SERVICE, Target(TargetKind.OBJECT, "wireguard"), action=words[0], tool="wg-quick")


def keychain(call: Call, scene: Scene) -> Iterator[Effect]:
    """macOS security: `find-*-password -w|-g` prints, `delete-*` loses."""
    verb = shown(call.operands[0]) if call.operands else ""
    if (verb.startswith("find-") and call.has("-w", "-g")) or verb in ("dump-keychain", "export"):
        yield call.effect(EffectKind.SECRET_READ, Target(TargetKind.OBJECT, "keychain"), store="keychain", prints="1")
    elif verb.startswith("delete-"):
        yield call.effect(EffectKind.INFRA_DESTROY, Target(TargetKind.OBJECT, "keychain"), tool="security", verb=verb)


def _runs(call: Call, scene: Scene) -> Iterator[Effect]:
    """`doppler run -- command`: the values go into the command's environment, so the command is what counts."""
    from .sessions import secrets_into

    yield from secrets_into(call, scene)


def _store(
    names: str, store: str, reads: str, *, options: str = "", applies: str = "", destroys: str = "", harmless: str = "", summary: str = ""
) -> Program:
    """A row of a secret store's client: which verbs take values out, change, or destroy."""
    when = [(reads, f"secret.read store={store} prints=1 target=1")]
    if applies:
        when.append((applies, f"infra.apply tool={store} target=1"))
    if destroys:
        when.append((destroys, f"infra.destroy tool={store} target=1"))
    return Program(
        tuple(names.split()),
        options,
        when=tuple(when),
        harmless=harmless,
        describe=_runs,
        summary=summary or f"secret store client ({store})",
    )


PROGRAMS: tuple[Program, ...] = (
    Program(("printenv",), describe=printenv, summary="prints environment variables"),
    Program(("pass", "gopass"), describe=pass_store, summary="password store"),
    Program(
        ("sops", "ansible-vault", "age", "rage", "git-crypt", "blackbox_cat"),
        style="raw",
        describe=encrypted_file,
        summary="encrypted files",
    ),
    Program(
        ("wg", "wg-quick"),
        when=(("showconf", "secret.read store=wireguard prints=1 target=1"),),
        describe=wireguard,
        summary="WireGuard; showconf prints its keys",
    ),
    Program(("security",), "-a -s -l -k", describe=keychain, summary="keychain of macOS"),
    _store(
        "vault bao",
        "vault",
        "kv+get read unwrap print+token kv+export token+create operator+init login",
        options="-address -namespace -field -format -mount -path -method",
        applies="kv+put kv+patch write policy+write auth+enable secrets+enable secrets+tune token+renew",
        destroys="kv+delete kv+destroy kv+metadata+delete delete secrets+disable auth+disable policy+delete operator+seal "
        "operator+rekey lease+revoke token+revoke",
    ),
    _store(
        "op",
        "1password",
        "read item+get document+get inject item+template+get",
        options="--account --vault --format --fields -o",
        applies="item+create item+edit document+create",
        destroys="item+delete vault+delete document+delete",
    ),
    _store("bw", "bitwarden", "get list+items export unlock receive", options="--session", applies="create edit", destroys="delete"),
    _store("lpass", "lastpass", "show export", destroys="rm"),
    _store(
        "doppler",
        "doppler",
        "secrets secrets+get secrets+download configure+get",
        options="-p --project -c --config",
        applies="secrets+set",
        destroys="secrets+delete projects+delete",
        harmless="secrets+substitute",
    ),
    _store("infisical", "infisical", "secrets secrets+get export", applies="secrets+set", destroys="secrets+delete"),
    _store("chamber", "chamber", "read export env", applies="write import", destroys="delete"),
    _store("secret-tool", "keyring", "lookup search", destroys="clear"),
    _store("keyring", "keyring", "get", applies="set", destroys="del"),
    _store("kwallet-query", "keyring", "-r --read-password"),
    _store("gnome-keyring", "keyring", "export"),
    _store("teller", "teller", "env show sh", summary="secret manager front end"),
    _store("berglas", "berglas", "access", applies="create update", destroys="delete"),
    _store("git-credential", "git-credential", "fill get"),
    _store("mimikatz lazagne trufflehog3", "credentials", "", summary="takes credentials out of stores"),
)
