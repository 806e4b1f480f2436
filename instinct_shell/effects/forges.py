"""Code forges and hubs: gh, glab, hub, kaggle, model hubs. Looking is free; publishing cannot be taken back; deleting loses history."""

from __future__ import annotations

import re

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, literal
from .call import Call, Program, Scene
from .infra import infra
from .roles import file_effects
from .verbs import Split, shown, split, thing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_VALUES = (
    "-R --repo -b --body -F --body-file -t --title -l --label -a --assignee -r --reviewer -B --base -H --head -m "
    "--milestone -p --project "
    "-L --limit -q --jq -s --state --json --template -X --method -f --raw-field --field --input --hostname --cache "
    "-n --notes --notes-file "
    "-d --desc --description -D --dir --pattern -w --workflow --ref -e --env --org -o --owner --source --remote "
    "--visibility --search -S --author "
    "--job --attempt -c --comment --reason --subject --match-head-commit --author-email --preview -u --user "
    "--env-file --target --discussion-category "
    "--filename --branch -A --app --homepage --gitignore --license --team --scopes --name --key --value --interval"
)
_DESTROYS = re.compile(
    r"^(?:release delete(?:-asset)?|repo (?:delete|archive)|gist delete|issue (?:delete|transfer)|cache delete|secret (?:delete|remove)|"
    r"variable (?:delete|remove)|label delete|run delete|codespace delete|project (?:delete|item-delete|field-delete)|ruleset delete|"
    r"ssh-key delete|gpg-key delete|workflow delete|mr delete|milestone delete|snippet delete|repo deploy-key delete|package delete|token revoke|"
    r"schedule delete|stack delete|deploy-key delete|org delete|environment delete|runner delete|cluster agent delete)\b"
)
_TALKS = re.compile(
    r"^(?:pr|mr|issue) (?:create|comment|note|edit|update|close|reopen|ready|review|lock|unlock|pin|unpin|approve|revoke|todo|subscribe|unsubscribe|develop|"
    r"new|for|rebase|update-branch)\b|^incident |^label (?:create|edit|clone)|^gist (?:edit|rename)|^snippet create|^milestone "
)
_PUBLISHES = re.compile(r"^(?:release (?:create|upload|edit)|gist create|repo (?:publish)|package publish)\b")
_APPLIES = re.compile(
    r"^(?:pr merge|mr merge|repo (?:create|edit|rename|fork|sync|unarchive|transfer|deploy-key add|set-default)|workflow (?:run|enable|disable)|"
    r"run (?:rerun|cancel)|secret set|variable set|ci (?:run|retry|trigger|cancel|delete)|codespace (?:create|stop|rebuild|edit)|project \w+|"
    r"ssh-key add|gpg-key add|variable (?:export)|schedule \w+|pipeline (?:run|delete|cancel)|job |deploy|ruleset create|org |token create|token rotate)\b"
)
_DELETING_QUERY = re.compile(r"mutation\b.*?\b(?:delete|remove|archive|destroy)\w*\s*\(", re.IGNORECASE | re.DOTALL)


def forge(call: Call, scene: Scene) -> Iterator[Effect]:
    """gh GROUP VERB; glab uses the same words."""
    words = split(call.argv, _VALUES)
    if words.has("--help", "-h") and words.verb() != "api":
        return
    group, verb = words.verb(), words.verb(1)
    line = f"{group} {verb}"
    repo = shown(words.value("-R", "--repo"))
    host = Target(TargetKind.HOST, "github.com" if call.name in ("gh", "hub") else "gitlab.com")
    named = words.words[2] if len(words.words) > 2 else None
    yield from _files(call, scene, words, line)
    if group == "api":
        yield from _api(call, scene, words)
    elif line == "auth token" or (line == "auth status" and words.has("-t", "--show-token")):
        yield call.effect(EffectKind.SECRET_READ, thing(f"{call.name} token"), store=call.name, prints="1")
    elif _DESTROYS.match(line):
        yield infra(call, EffectKind.INFRA_DESTROY, call.name, line, named or repo)
    elif (
        _PUBLISHES.match(line)
        or (line == "repo create" and words.has("--push", "--public", "--source"))
        or (line == "repo edit" and shown(words.value("--visibility")) == "public")
    ):
        public = "1" if words.has("--public", "-p", "--public=true") or "public" in shown(words.value("--visibility")) else ""
        yield call.effect(
            EffectKind.PACKAGE_PUBLISH, thing(named if line.startswith("release") else line), tool=call.name, name=line, public=public
        )
    elif _TALKS.match(line):
        yield call.effect(EffectKind.NET_UPLOAD, host, method="POST", upload="text", via=call.name, verb=line)
        if line in ("pr review", "mr approve") and (words.has("--approve", "-a") or line == "mr approve"):
            yield infra(call, EffectKind.INFRA_APPLY, call.name, line + " --approve", named)  # what others may merge by
        if "--delete-branch" in words.flags:
            yield infra(call, EffectKind.INFRA_DESTROY, call.name, line + " --delete-branch", named)
    elif _APPLIES.match(line):
        extra = "1" if words.has("-d", "--delete-branch", "--remove-source-branch") else ""
        yield infra(call, EffectKind.INFRA_APPLY, call.name, line, named or repo, deletes_branch=extra)
    elif group == "extension" and verb in ("install", "upgrade", "exec"):
        yield call.effect(EffectKind.PACKAGE_INSTALL, thing(named), manager=f"{call.name}-extension", name=shown(named), source="git")
    elif line == "alias set" and len(words.words) > 3 and shown(words.words[3]).startswith("!"):
        yield from scene.nested_shell(shown(words.words[3])[1:], call, via=f"{call.name} alias")
    elif line in ("codespace ssh", "cs ssh"):
        yield call.effect(EffectKind.NET_REMOTE_EXEC, host, via=call.name)
    elif line in ("repo clone", "gist clone", "run download", "release download"):
        yield call.effect(EffectKind.NET_CONNECT, host, via=call.name, method="GET")
        folder = words.value("-D", "--dir") or (words.words[3] if len(words.words) > 3 and "clone" in line else None)
        if folder is not None:
            yield from file_effects(call, scene, EffectKind.FILE_CREATE, folder, recursive="1")
    elif verb and group not in ("help", "completion", "config", "alias", "version", "browse", "auth", "extension"):
        yield call.effect(EffectKind.NET_CONNECT, host, via=call.name, method="GET")


def _files(call: Call, scene: Scene, words: Split, line: str) -> Iterator[Effect]:
    """Local files whose content goes to the forge."""
    sent: list[Field] = list(words.all("--body-file", "--notes-file", "--input", "--env-file"))
    if line == "gist create" or line == "snippet create":
        sent += words.words[2:]
    elif line in ("release create", "release upload"):
        sent += [word for word in words.words[3:] if not shown(word).startswith("#")]
    elif line == "secret set" or line == "variable set":
        sent += words.all("-f", "--env-file")
    if line.startswith(("pr ", "issue ", "release ")):
        sent += words.all("-F")
    for field in sent:
        if shown(field) != "-":
            yield from file_effects(call, scene, EffectKind.FILE_READ, field, source_of_copy="1")
    for field in words.all("-F", "--field"):
        if "=@" in shown(field) and line.startswith("api"):
            from .verbs import part_of

            name = part_of(field, shown(field).index("=@") + 2)
            if name.text != "-":
                yield from file_effects(call, scene, EffectKind.FILE_READ, name, source_of_copy="1")


def _api(call: Call, scene: Scene, words: Split) -> Iterator[Effect]:
    """gh api ENDPOINT: fields make it a POST unless a method says otherwise."""
    endpoint = words.verb(1)
    fields = [shown(field) for field in words.all("-f", "--raw-field", "-F", "--field")]
    method = shown(words.value("-X", "--method")).upper() or ("POST" if fields or words.value("--input") is not None else "GET")
    body = "\n".join(fields)
    if endpoint.strip("/") == "graphql":
        if _DELETING_QUERY.search(body):
            yield infra(call, EffectKind.INFRA_DESTROY, call.name, "api graphql", "graphql mutation")
        elif "mutation" in body or words.value("--input") is not None:
            yield infra(call, EffectKind.INFRA_APPLY, call.name, "api graphql", "graphql mutation")
        else:
            yield infra(call, EffectKind.INFRA_READ, call.name, "api graphql", "graphql query")
        return
    if method in ("POST", "PATCH", "PUT") and _TALK.search(endpoint):
        yield call.effect(EffectKind.NET_CONNECT, Target(TargetKind.HOST, "github.com"), via=call.name, method=method)
        return
    ref = re.search(r"git/refs/heads/([^/?]+)$", endpoint)
    if ref and method in ("PATCH", "POST", "PUT") and re.search(r"\bforce\"?[=:]\s*true\b", body):
        yield call.effect(EffectKind.GIT_FORCE_PUSH, Target(TargetKind.REF, f"origin/{ref[1]}"), remote="origin", branch=ref[1])
    kind = {"GET": EffectKind.INFRA_READ, "HEAD": EffectKind.INFRA_READ, "DELETE": EffectKind.INFRA_DESTROY}.get(
        method, EffectKind.INFRA_APPLY
    )
    yield infra(call, kind, call.name, f"api {method}", endpoint)


def data_hub(call: Call, scene: Scene) -> Iterator[Effect]:
    """kaggle, huggingface-cli, hf, wandb, dvc, replicate: what leaves the machine and what is started there."""
    words = split(
        call.argv,
        "-p --path -c -f --file -m --message -d --dataset -k --kernel --repo-type --revision --token --include --exclude "
        "-w --work -r --remote -q -l --local-dir",
    )
    texts = [word.text or "" for word in words.words]
    line = " ".join(texts[:2])
    if words.has("-h", "--help") or not texts:
        return
    last = words.words[-1]
    if set(texts[:3]) & {"push", "submit", "upload", "version", "create", "sync", "publish", "upload-large-folder", "artifact"} and not (
        texts[0] in ("version", "wandb") or (call.name == "wandb" and texts[0] in ("login", "init"))
    ):
        for field in words.all("-p", "--path", "-f", "--file"):
            yield from file_effects(call, scene, EffectKind.FILE_READ, field, source_of_copy="1", recursive="1")
        if texts[0] in ("upload", "upload-large-folder") and len(words.words) > 2:
            yield from file_effects(call, scene, EffectKind.FILE_READ, words.words[2], source_of_copy="1", recursive="1")
        yield call.effect(EffectKind.PACKAGE_PUBLISH, thing(last), tool=call.name, name=line)
    elif set(texts[:3]) & {"delete", "delete-files", "delete-branch", "remove", "rm", "gc"}:
        yield infra(call, EffectKind.INFRA_DESTROY, call.name, line, last)
    elif set(texts[:3]) & {"download", "pull", "output", "get"}:
        yield call.effect(EffectKind.NET_CONNECT, Target(TargetKind.HOST, call.name), method="GET")
        for field in words.all("-p", "--path", "-l", "--local-dir", "-w"):
            yield from file_effects(call, scene, EffectKind.FILE_CREATE, field, recursive="1")
    elif set(texts[:2]) & {"run", "predict", "train", "jobs"} and call.name not in ("dvc", "wandb"):  # those two run the project's own steps here
        from .spend import repetition

        yield call.effect(EffectKind.API_CALL, thing(line), repetition(call, scene), provider=call.name, unknown="1")


# Endpoints that say something about an issue or a pull request, as `gh issue comment` and `gh pr review` do.
_TALK = re.compile(
    r"/(?:issues|pulls)/\d+(?:/(?:comments|reviews|labels|reactions|assignees|requested_reviewers)(?:/.*)?)?$|/comments/\d+(?:/(?:replies|reactions))?$"
)
# Verbs by which an agent's client changes its own settings, and the file they stand in.
_SETTLES = frozenset("add add-json add-from-claude-desktop remove set install enable disable".split())
_SETTINGS = {"claude": ".claude.json", "codex": ".codex/config.toml", "gemini": ".gemini/settings.json", "opencode": "opencode.json"}
# Options with which an agent asks nobody before it acts.
_UNASKED = frozenset(
    "--dangerously-skip-permissions --allow-dangerously-skip-permissions --dangerously-bypass-approvals-and-sandbox --yolo".split()
) | {"--permission-mode bypassPermissions", "--approval-mode yolo", "--sandbox danger-full-access", "-s danger-full-access"}


def paid_agent(call: Call, scene: Scene) -> Iterator[Effect]:
    """Clients of paid models (claude, codex, gemini, llm ...): a prompt is a charge; versions, settings and logins are not."""
    words = split(
        call.argv,
        "-m --model -p= --prompt= --permission-mode --approval-mode -o --output-format --output --max-turns -f --file --system -s -t --temperature "
        "-c --config -C --cd" + (" --sandbox" if call.name == "codex" else ""),
    )
    texts = [word.text or "" for word in words.words]
    if texts[:1] in (["mcp"], ["config"], ["plugins"], ["plugin"]) and set(texts[1:2]) & _SETTLES and call.name in _SETTINGS:
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, literal(f"{scene.home}/{_SETTINGS[call.name]}"))
    if words.has("-v", "--version", "-h", "--help", "-V") or texts[:1] in (
        ["mcp"],
        ["config"],
        ["login"],
        ["logout"],
        ["doctor"],
        ["update"],
        ["models"],
        ["keys"],
        ["install"],
        ["version"],
        ["auth"],
        ["plugins"],
        ["logs"],
        ["help"],
        ["completion"],
        ["templates"],
        ["aliases"],
    ):
        return
    from .spend import repetition

    flag = next((flag for flag in (*words.flags, *(f"{option} {shown(field)}" for option, field in words.values)) if flag in _UNASKED), "")
    if flag:
        yield call.effect(EffectKind.PROCESS_SPAWN, Target(TargetKind.NAME, call.name), unasked=flag)
    yield call.effect(EffectKind.API_CALL, Target(TargetKind.NAME, call.name), repetition(call, scene), provider=call.name, unknown="1")


PROGRAMS: tuple[Program, ...] = (
    Program(("gh", "glab", "tea", "berg"), style="raw", describe=forge, summary="code forge"),
    Program(
        ("kaggle", "huggingface-cli", "hf", "wandb", "dvc", "replicate", "clearml-task"),
        style="raw",
        describe=data_hub,
        summary="data and model hubs",
    ),
    Program(
        (
            "claude",
            "codex",
            "gemini",
            "aider",
            "llm",
            "openai",
            "sgpt",
            "aichat",
            "mods",
            "opencode",
            "cursor-agent",
            "amp",
            "crush",
            "fabric",
        ),
        style="raw",
        describe=paid_agent,
        summary="client of a paid model",
    ),
)
