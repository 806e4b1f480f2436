"""git configuration: keys whose value git runs, keys that switch hooks off, and plain keys; on the command line and in files."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, literal
from . import flow, output, scripts
from .call import Call, Scene
from .roles import file_effects, weakest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Keys (lower case, globs) whose value git hands to a shell.
RUN_KEYS = (
    "core.sshcommand", "core.editor", "core.pager", "core.fsmonitor", "core.gitproxy", "core.askpass", "sequence.editor", "diff.external", "pager.*",
    "credential.helper", "credential.*.helper", "gpg.program", "gpg.*.program", "filter.*.clean", "filter.*.smudge", "filter.*.process", "diff.*.command",
    "diff.*.textconv", "merge.*.driver", "mergetool.*.cmd", "difftool.*.cmd", "mergetool.*.path", "difftool.*.path", "uploadpack.packobjectshook",
    "interactive.difffilter", "browser.*.cmd", "man.*.cmd", "sendemail.smtpserver", "sendemail.tocmd", "sendemail.cccmd", "trailer.*.command", "trailer.*.cmd",
    "tar.*.command", "remote.*.uploadpack", "remote.*.receivepack", "remote.*.vcs", "submodule.*.update", "guitool.*.cmd", "receive.procreceiverefs",
)  # fmt: skip
# Keys that decide which code runs later, or which checks are left out.
SENSITIVE_KEYS = (
    "core.hookspath", "core.fsmonitor", "core.worktree", "core.attributesfile", "core.excludesfile", "init.templatedir", "include.path", "includeif.*",
    "commit.gpgsign", "tag.gpgsign", "protocol.*", "url.*", "http.proxy", "http.*.proxy", "http.sslverify", "http.*.sslverify", "safe.directory", "alias.*",
    "receive.denynonfastforwards", "receive.denydeletes", "transfer.fsckobjects", "clean.requireforce", "push.default-force", "remote.*.mirror",
)  # fmt: skip


def matches(key: str, patterns: tuple[str, ...]) -> bool:
    """Whether a lower-case key is one of these."""
    return any(fnmatchcase(key, pattern) for pattern in patterns)


def is_command(key: str, text: str) -> bool:
    """Whether git would run this value of a run key: booleans, names of built-in helpers and empty values are none."""
    if text.lower() in ("", "true", "false", "cat", "less", "yes", "no", "0", "1", "always", "never"):
        return False
    if key.endswith(".helper"):
        return text.startswith(("!", "/")) or "/" in text
    return not key.endswith(".update") or text.startswith("!")


def command_line_config(key: str, value: Field, call: Call, scene: Scene) -> Iterator[Effect]:
    """`git -c key=value`: the value of a run key is followed as shell text; keys that leave checks out are named."""
    if matches(key, RUN_KEYS):
        if value.text is None:
            yield scripts.opaque(call, flow.source_of_field(value, scene), value.reason, language="git")
        elif is_command(key, value.text):
            yield from scene.nested_shell(value.text.lstrip("!"), call, via=f"git -c {key}")
    if key == "core.hookspath":
        text = value.text if value.text is not None else value.prefix
        skip = text in ("", "/dev/null") or value.text is None
        yield call.effect(EffectKind.GIT_HOOK, Target(TargetKind.PATH, text), skip="1" if skip else "", key=key, value=text)
    elif matches(key, SENSITIVE_KEYS) and not key.startswith("alias."):
        yield setting(call, key, value, "command")


def settings_around(call: Call, scene: Scene) -> Iterator[tuple[str, Field]]:
    """Settings that come with the command otherwise: GIT_CONFIG_KEY_n with GIT_CONFIG_VALUE_n, and configuration files that the same text wrote."""
    variables = dict((*scene.given, *scene.variables, *call.invocation.env, *call.invocation.assignments))
    for name, key in variables.items():
        if name.startswith("GIT_CONFIG_KEY_") and key.text:
            yield key.text.lower(), variables.get("GIT_CONFIG_VALUE_" + name[15:], literal("true"))
    places = [field.text for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG") if (field := variables.get(name)) is not None]
    if (folder := variables.get("XDG_CONFIG_HOME")) is not None and folder.text:
        places.append(f"{folder.text}/git/config")
    for place in places:
        path = output.absolute(place, call.invocation) if place else ""
        if path and (path in scene.files or scene.is_writable(path)):  # what lies where judged commands write is code of unknown origin
            yield from parsed(scene.code_of(path) or "")
    for place in (".git/config", f"{scene.home}/.gitconfig") if scene.files else ():
        yield from parsed(scene.files.get(output.absolute(place, call.invocation)) or "")


def parsed(text: str) -> Iterator[tuple[str, Field]]:
    """The settings of a git configuration file, keys in lower case: `[alias "x"]` and `[alias]` sections, `name = value` lines."""
    section = ""
    for line in text.replace("\\\n", "").splitlines():
        line = line.strip()
        head = re.match(r'\[([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\]\s*(.*)', line)
        if head:
            section = f"{head[1].lower()}.{head[2].lower()}" if head[2] is not None else head[1].lower()
            line = head[3]
        name, equals, value = line.partition("=")
        if section and name.strip() and not line.startswith(("#", ";")):
            yield f"{section}.{name.strip().lower()}", literal(value.strip().strip('"') if equals else "true")


def is_on(scene: Scene, key: str, usual: bool) -> bool:
    """Whether a yes-or-no setting is on, as far as this text says."""
    value = scene.settings.get(key)
    return usual if value is None or value.text is None else value.text.lower() not in ("false", "no", "off", "0", "")


def setting(call: Call, key: str, value: Field, scope: str, **attributes: str) -> Effect:
    """The effect of one key getting one value."""
    text = value.text if value.text is not None else value.prefix
    return call.effect(EffectKind.GIT_CONFIG, Target(TargetKind.NAME, key), attributes, key=key, value=text[:200] or "(empty)", scope=scope)


def kept_by_git(call: Call, branch: str) -> Effect:
    """What git itself notes about a branch in .git/config when it pushes with -u, tracks, renames or deletes it."""
    return setting(call, f"branch.{branch or 'HEAD'}.merge", literal("(by git)"), "local")


_READS = ("--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l", "--get-color", "--get-colorbool")
_VERBS = frozenset("get set list unset edit rename-section remove-section get-color".split())


def config(call: Call, scene: Scene) -> Iterator[Effect]:
    """`git config`: reading is nothing; setting names the key, the value and the scope."""
    words = list(call.operands)
    verb = words[0].text if words and words[0].text in _VERBS else ""
    if verb:
        words.pop(0)
    if call.has(*_READS) or verb in ("get", "list", "get-color") or (len(words) == 1 and not verb and call.has("-f", "--file")):
        given = call.value("-f", "--file")
        if given is not None and given.text != "-":
            yield from file_effects(call, scene, EffectKind.FILE_READ, given)
        return
    scope = "global" if call.has("--global") else "system" if call.has("--system") else "local"
    file = call.value("-f", "--file")
    if file is not None:
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, file, in_place="1")
        scope = "file"
    if call.has("-e", "--edit") or verb == "edit":
        yield call.effect(EffectKind.GIT_CONFIG, Target(TargetKind.NAME, ""), key="", scope=scope, edit="1")
        return
    removes = call.has("--unset", "--unset-all", "--remove-section", "--rename-section") or verb in (
        "unset",
        "rename-section",
        "remove-section",
    )
    if not words or (len(words) == 1 and not removes and verb != "set"):
        return
    key = (words[0].text if words[0].text is not None else words[0].prefix).lower()
    value = words[1] if len(words) > 1 and not removes else literal("")
    yield setting(call, key, value, scope, unset="1" if removes else "")
    if removes:
        scene.settings.pop(key, None)
    else:
        scene.settings[key] = value
    if key.startswith("alias.") and not removes:
        scene.aliases[key[6:]] = value
    elif matches(key, RUN_KEYS) and value.text and is_command(key, value.text):
        # git runs it later, with whatever verb needs it.
        later = call.replace(certainty=weakest(call.certainty, Certainty.POSSIBLE))
        yield from scene.nested_shell(value.text.lstrip("!"), later, via=f"git config {key}")
    if key == "core.hookspath":
        yield call.effect(EffectKind.GIT_HOOK, Target(TargetKind.PATH, value.text or value.prefix), key=key, scope=scope)
