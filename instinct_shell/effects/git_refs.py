"""The verbs of git that change refs or talk to other machines: push, branch, tag, update-ref, fetch, clone, remote, reflog, gc."""

from __future__ import annotations

import re

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, literal
from . import git_config
from .call import Call, Scene
from .flow import upstream
from .roles import file_effects
from .scripts import run_text
from .verbs import with_attributes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .call import Describer

_URL = r"(?:[a-z][a-z0-9+.-]*://|[\w.-]+@[\w.-]+:)"


def _text(field: Field) -> str:
    return field.text if field.text is not None else field.prefix or (field.values[0] if len(field.values) == 1 else "")


def is_url(text: str) -> bool:
    """Whether a remote is spelt as an address rather than by its name."""
    return re.match(_URL, text, re.IGNORECASE) is not None


def connects(call: Call, remote: Field) -> Effect:
    """git talks to a remote."""
    text = _text(remote)
    target = Target(TargetKind.URL, text) if is_url(text) else Target(TargetKind.NAME, text)
    return call.effect(EffectKind.NET_CONNECT, target, tool="git")


def transport(call: Call, scene: Scene, remote: Field) -> Iterator[Effect]:
    """Addresses that run a command (`ext::sh -c ..`), and options that name the program at the other end."""
    text = _text(remote)
    if text.startswith("ext::"):
        if "% " in text:
            words = text[5:].replace("% ", "\0").split()
            yield from scene.nested_argv(tuple(literal(word.replace("\0", " ").replace("%%", "%")) for word in words), call, via="git ext::")
        else:
            yield from scene.nested_shell(text[5:], call, via="git ext::")
    for option in ("--upload-pack", "--receive-pack", "--exec", "-u"):
        command = call.value(option)
        if command is not None:
            yield from run_text(call, scene, command, via=f"git {option}")


def _short(ref: str) -> tuple[str, str]:
    """(branch or tag name, kind) of a ref; HEAD and the empty ref mean the current branch."""
    if ref.startswith("refs/tags/"):
        return ref[10:], "remote_tag"
    if ref.startswith("refs/heads/"):
        return ref[11:], "remote_branch"
    return ("" if ref in ("HEAD", "@") else ref), "remote_branch"


def push(call: Call, scene: Scene) -> Iterator[Effect]:
    """push: plain force, deletion and mirrors rewrite the remote; a lease or a dry run does not."""
    remote = call.value("--repo") or (call.operands[0] if call.operands else literal(""))
    yield from transport(call, scene, remote)
    if call.has("--no-verify"):
        yield call.effect(EffectKind.GIT_HOOK, Target(TargetKind.NAME, "pre-push"), skip="1")
    else:
        from .projects import hooks

        yield from hooks(call, scene, "pre-push")
    if call.has("-n", "--dry-run"):
        return
    if call.has("-u", "--set-upstream"):
        yield git_config.kept_by_git(call, _text(call.operands[1]) if len(call.operands) > 1 else "")
    where = _text(remote)
    added = scene.aliases.get(f"remote {where}")
    if added is not None and added.text:
        where = added.text  # `git remote add x URL && git push x`
    if is_url(where):
        inline = "1" if re.match(r"[a-z]+://[^/@]*:[^/@]*@|[a-z]+://[^/@:]{20,}@", where) else ""
        yield call.effect(EffectKind.NET_UPLOAD, Target(TargetKind.URL, where), tool="git", upload="repository", credentials=inline, verb="push")
    else:
        yield with_attributes(connects(call, remote), verb="push")
    name = where if not is_url(where) else ""
    forced = _last(call, ("-f", "--force"), ("--no-force",))
    if call.has("--mirror") or (forced and call.has("--all", "--branches")):
        yield _forces(call, name, "", all="1")
    if call.has("--prune"):
        yield call.effect(EffectKind.GIT_DELETE_REF, Target(TargetKind.REF, f"{name}/*"), kind="remote_branch", remote=name, all="1")
    specs = call.operands[1:] if call.operands and call.value("--repo") is None else call.operands
    if not specs and not call.has("--mirror", "--all", "--branches", "--tags"):
        yield from _configured(call, scene, _text(remote), name, forced)
    for field in specs:
        swept = "1" if field.text is None and _unscoped(field, scene) else ""
        yield from _refspec(call, name, field, forced, swept)
    if forced and not specs and not call.has("--mirror", "--all", "--branches"):
        yield _forces(call, name, "", tags="1" if call.has("--tags") else "")


def _last(call: Call, on: tuple[str, ...], off: tuple[str, ...]) -> bool:
    """Whether the last of some opposite flags is one of `on`."""
    state = False
    for flag in call.flags:
        state = True if flag in on else False if flag in off else state
    return state


def _configured(call: Call, scene: Scene, remote: str, name: str, forced: bool) -> Iterator[Effect]:
    """What a push without refspecs does by the settings that the same text made: `remote.x.push`, `remote.x.mirror`."""
    for key, value in scene.settings.items():
        match = re.fullmatch(r"remote\.(.+)\.(push|mirror)", key)
        if match is None or (remote and match[1] != remote.lower()):
            continue
        if match[2] == "push":
            yield from _refspec(call, name or match[1], value, forced)
        elif git_config.is_on(scene, key, False):
            yield _forces(call, name or match[1], "", all="1")


def _unscoped(field: Field, scene: Scene) -> bool:
    """Whether an unknown ref is each of those that a command lists (`git tag | xargs ..`), and not only of merged ones."""
    listed = [scene.invocations[index] for index in upstream((p for o in field.origins for p in o.producers), scene)]
    words = {word.text for one in listed for word in one.words}
    return bool(words & {"tag", "ls-remote", "for-each-ref", "branch", "show-ref"}) and not any((word or "").startswith("--merged") for word in words)


def _refspec(call: Call, remote: str, field: Field, forced: bool, swept: str = "") -> Iterator[Effect]:
    """One refspec: `+src:dst` forces, `:dst` deletes."""
    texts = field.values or (field.prefix,)
    for text in texts:
        plus = text.startswith("+")
        source, colon, into = text.lstrip("+").partition(":")
        branch, kind = _short(into if colon else source)
        unsure = {"dynamic": "delete", "reason": field.reason} if field.text is None else {}
        target = Target(TargetKind.REF, f"{remote}/{branch}", field.reason if not field.values else "")
        if call.has("-d", "--delete") or (colon and not source and (into or not field.values)):
            yield call.effect(EffectKind.GIT_DELETE_REF, target, unsure, kind=kind, remote=remote, branch=branch, all=swept)
        elif forced or plus:
            yield _forces(call, remote, branch, all="1" if "*" in branch else "", kind="tag" if kind == "remote_tag" else "", **unsure)


def _forces(call: Call, remote: str, branch: str, /, **attributes: str) -> Effect:
    target = Target(TargetKind.REF, f"{remote}/{branch}" if remote or branch else "")
    return call.effect(EffectKind.GIT_FORCE_PUSH, target, attributes, remote=remote, branch=branch)


def branch(call: Call, scene: Scene) -> Iterator[Effect]:
    """branch: -D drops commits that only this branch names; -d refuses to."""
    if call.has("-r", "--remotes"):
        return
    forced = call.has("-f", "--force")
    tracked = call.has("-u", "--set-upstream-to", "--unset-upstream", "-t", "--track", "-m", "-M", "--move", "-c", "-C", "--copy", "-d", "-D", "--delete")
    if tracked or (len(call.operands) > 1 and not call.has("--contains", "--merged", "--no-merged", "--list", "-l")):
        yield git_config.kept_by_git(call, _text(call.operands[0]) if call.operands else "")
    if call.has("-D") or (call.has("-d", "--delete") and forced):
        for field in call.operands:
            yield _drops(call, field, "branch", force="1")
    elif forced and not call.has("-m", "-M", "--move", "-c", "-C", "--copy") and call.operands:
        yield _drops(call, call.operands[0], "branch", moved="1")


def tag(call: Call, scene: Scene) -> Iterator[Effect]:
    """tag: -d drops a name, -f moves one."""
    if call.has("-d", "--delete"):
        for field in call.operands:
            yield _drops(call, field, "tag")
    elif call.has("-f", "--force") and call.operands:
        yield _drops(call, call.operands[0], "tag", moved="1")


def _drops(call: Call, field: Field, kind: str, /, **attributes: str) -> Effect:
    text = _text(field)
    name = text.removeprefix("refs/heads/").removeprefix("refs/tags/")
    if kind == "ref" and text.startswith("refs/heads/"):
        kind = "branch"
    elif kind == "ref" and text.startswith("refs/tags/"):
        kind = "tag"
    if field.text is None:
        attributes["dynamic"] = "delete"
    return call.effect(
        EffectKind.GIT_DELETE_REF, Target(TargetKind.REF, name, "" if field.values else field.reason), attributes, kind=kind, branch=name
    )


def update_ref(call: Call, scene: Scene) -> Iterator[Effect]:
    """update-ref -d, symbolic-ref -d: drop a ref under the porcelain; --stdin may do anything to refs."""
    if call.has("-d", "--delete"):
        for field in call.operands[:1]:
            yield _drops(call, field, "ref", plumbing="1", force="1")
    elif call.has("--stdin"):
        yield call.effect(
            EffectKind.GIT_DELETE_REF,
            Target(TargetKind.REF, "", "refs that come in on stdin"),
            kind="ref",
            plumbing="1",
            all="1",
            dynamic="delete",
        )


def fetch(call: Call, scene: Scene) -> Iterator[Effect]:
    """fetch, pull, ls-remote: talk to a remote."""
    remote = call.operands[0] if call.operands else literal("")
    yield connects(call, remote)
    yield from transport(call, scene, remote)


def clone(call: Call, scene: Scene) -> Iterator[Effect]:
    """clone: fetches into a new folder."""
    if not call.operands:
        return
    if not re.match(r"(?:file://)?(?:/|\.{1,2}(?:/|$)|~)", _text(call.operands[0])):  # another folder of this machine is no other machine
        yield connects(call, call.operands[0])
    yield from transport(call, scene, call.operands[0])
    for option, field in call.values:
        if option in ("-c", "--config"):
            key, _, value = _text(field).partition("=")
            yield from git_config.command_line_config(key.lower(), literal(value), call, scene)
        elif option == "--template" and _text(field):
            yield call.effect(EffectKind.GIT_HOOK, Target(TargetKind.PATH, _text(field)), key="init.templatedir")
    name = _text(call.operands[0]).rstrip("/").rpartition("/")[2].rpartition(":")[2].removesuffix(".git")
    folder = call.operands[1] if len(call.operands) > 1 else literal(name or ".")
    yield from file_effects(call, scene, EffectKind.FILE_CREATE, folder, folder="1")


def remote(call: Call, scene: Scene) -> Iterator[Effect]:
    """remote: add and set-url change where pushes go; update and show talk to it."""
    verb = call.operands[0].text if call.operands else ""
    words = call.operands[1:]
    if verb in ("add", "set-url") and len(words) > 1:
        yield git_config.setting(call, f"remote.{_text(words[0])}.url", words[1], "local")
        scene.aliases[f"remote {_text(words[0])}"] = words[1]
        mirror = call.value("--mirror")
        if verb == "add" and call.has("--mirror") and (mirror is None or mirror.text != "fetch"):
            scene.settings[f"remote.{_text(words[0]).lower()}.mirror"] = literal("true")
        yield from transport(call, scene, words[1])
    elif verb in ("remove", "rm", "rename") and words:
        yield git_config.setting(call, f"remote.{_text(words[0])}.url", literal(""), "local", unset="1")
    elif verb in ("update", "show", "prune"):
        yield connects(call, words[0] if words else literal(""))


def reflog(call: Call, scene: Scene) -> Iterator[Effect]:
    """reflog expire, delete: what git could still name is forgotten."""
    verb = call.operands[0].text if call.operands else ""
    if verb in ("expire", "delete") and not call.has("-n", "--dry-run"):
        yield call.effect(
            EffectKind.GIT_REWRITE, Target(TargetKind.REF, "reflog"), how="reflog-expire", all="1" if call.has("--all") else ""
        )


def collect(call: Call, scene: Scene) -> Iterator[Effect]:
    """gc --prune=now, prune: objects that only the reflog names are deleted at once."""
    age = call.value("--prune", "--expire")
    text = (_text(age) if age is not None else "").lower()
    if call.has("-n", "--dry-run"):
        return
    if text in ("now", "all") or text.endswith(("second.ago", "seconds.ago", "minute.ago", "minutes.ago")):
        yield call.effect(EffectKind.GIT_REWRITE, Target(TargetKind.REF, "unreachable objects"), how="prune")


def prune(call: Call, scene: Scene) -> Iterator[Effect]:
    """prune: without --expire everything unreachable goes at once."""
    if call.value("--expire") is None and not call.has("-n", "--dry-run"):
        yield call.effect(EffectKind.GIT_REWRITE, Target(TargetKind.REF, "unreachable objects"), how="prune")
    else:
        yield from collect(call, scene)


def replace(call: Call, scene: Scene) -> Iterator[Effect]:
    """replace: shows another object in the place of one; -d takes that back."""
    if call.operands and not call.has("-l", "--list", "-d", "--delete"):
        yield call.effect(EffectKind.GIT_REWRITE, Target(TargetKind.REF, _text(call.operands[0])), how="replace")


def send_email(call: Call, scene: Scene) -> Iterator[Effect]:
    """send-email, imap-send: patches leave the machine."""
    if not call.has("--dry-run"):
        yield call.effect(EffectKind.NET_UPLOAD, Target(TargetKind.NAME, "mail"), tool="git", upload="patches")


_FETCH = "--upload-pack --depth --deepen --shallow-since --shallow-exclude --refmap -o --server-option -j "
"--jobs --negotiation-tip --recurse-submodules= --filter -u="

VERBS: dict[str, tuple[Describer, str, str]] = {
    "push": (
        push,
        "--repo --receive-pack --exec -o --push-option --recurse-submodules= --signed= --force-with-lease=",
        "--force --no-force --force-with-lease --no-force-with-lease --force-if-includes "
"--no-force-if-includes --delete --all --branches --mirror --tags "
        "--follow-tags --prune --dry-run --set-upstream --no-verify --verify --quiet --verbose --atomic "
"--porcelain --thin --no-thin --progress",
    ),
    "send-pack": (push, "--receive-pack --exec", "--force --all --mirror --dry-run --atomic --stdin"),
    "branch": (branch, "-u --set-upstream-to --contains= --no-contains= --merged= --no-merged= --sort --format --points-at "
"--color= --column= --abbrev= -t=", "--delete --force --move --copy --list --all --remotes --show-current --edit-description "
"--unset-upstream --verbose --quiet --create-reflog"),
    "tag": (tag, "-m -F -u --message --file --local-user --cleanup --sort --format --contains --points-at -n= "
"--merged= --no-merged= --color= --column=",
"--delete --force --list --annotate --sign --verify --create-reflog"),
    "update-ref": (update_ref, "-m", "--stdin --no-deref --create-reflog --delete"),
    "symbolic-ref": (update_ref, "-m", "--delete --short --quiet"),
    "fetch": (fetch, _FETCH, "--all --append --prune --tags --force --dry-run --quiet --verbose --unshallow --update-shallow "
"--keep --multiple"),
    "fetch-pack": (fetch, _FETCH, "--all --quiet"),
    "ls-remote": (fetch, "--upload-pack --exec -o --server-option --sort",
"--heads --branches --tags --refs --quiet --exit-code --get-url --symref"),
    "clone": (
        clone,
        "-b -o -c -j -u --branch --origin --config --jobs --upload-pack --reference --reference-if-able "
"--depth --shallow-since --shallow-exclude --template "
        "--separate-git-dir --filter --bundle-uri --server-option --recurse-submodules=",
        "--bare --mirror --no-checkout --local --no-hardlinks --shared --quiet --verbose --single-branch "
"--no-single-branch --sparse --dissociate --no-tags",
    ),
    "remote": (remote, "-t -m", "--verbose --fetch --tags --no-tags --mirror --push --add --delete --all --prune --dry-run"),
    "reflog": (reflog, "--expire --expire-unreachable", "--all --rewrite --updateref --stale-fix --dry-run --verbose --single-worktree"),
    "gc": (collect, "--prune= --expire-to", "--aggressive --auto --quiet --force --keep-largest-pack --no-prune --cruft"),
    "prune": (prune, "--expire", "--dry-run --verbose --progress"),
    "replace": (replace, "--format", "--force --edit --graft --list --delete --raw"),
    "send-email": (send_email, "--to --cc --bcc --from --subject --smtp-server --smtp-user --smtp-pass --smtp-server-port "
"--in-reply-to --confirm", "--dry-run --annotate --compose --quiet"),
    "imap-send": (send_email, "", "--dry-run"),
}  # fmt: skip
