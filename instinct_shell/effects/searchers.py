"""Programs that search below a folder: fd, which may run a command on what it finds, and grep, rg, ag, which read."""

from __future__ import annotations

from ..model.effect import Effect, EffectKind
from ..shell.invocation import literal
from .call import Call, Program, Scene, path_targets
from .listing import Found
from .roles import file_effects
from .scripts import run_text
from .search import on_found
from .verbs import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def fd(call: Call, scene: Scene) -> Iterator[Effect]:
    """fd: -x and -X run a command on every match."""
    for at, word in enumerate(call.argv):
        if word.text in ("-x", "--exec", "-X", "--exec-batch") and at + 1 < len(call.argv):
            from .listing import _fd

            words = call.argv[at + 1 :]
            ends = next((i for i, w in enumerate(words) if w.text == ";"), len(words))
            words = words[:ends] if any("{" in (w.text or "") for w in words[:ends]) else (*words[:ends], literal("{}"))
            yield from on_found(call, scene, words, _fd(call.argv[:at], call.invocation), via=f"fd {word.text}")
            return


def grep(call: Call, scene: Scene) -> Iterator[Effect]:
    """grep and its like: the first operand is the pattern unless -e or -f gave it; the rest is read, below it with -r."""
    files = call.operands if call.has("-e", "-f", "--regexp", "--file") or call.has("--files") else call.operands[1:]
    always = call.name in ("rg", "ag", "ack", "ripgrep", "ugrep", "ug", "rgrep", "ack-grep", "pt")
    recursive = (
        always
        or call.has("-r", "-R", "--recursive", "--dereference-recursive")
        or (call.has("-d") and (call.value("-d") or literal("")).text == "recurse")
    )
    for option in ("-f", "--file"):
        file = call.value(option)
        if file is not None and file.text != "-":
            yield from file_effects(call, scene, EffectKind.FILE_READ, file)
    if not files and recursive and call.invocation.stdin.kind in ("inherit", "null") and not call.has("--files", "--type-list"):
        files = (literal("."),)
    filters = [
        field.text or field.prefix + "*" for option, field in call.values if option in ("--include", "-g", "--glob", "--iglob", "-G")
    ]
    named = [name.rpartition("/")[2] for name in filters if not name.startswith("!")]
    everything = recursive and not named and _sees_all(call)
    for field in files:
        for name in named or [""]:
            yield from file_effects(
                call,
                scene,
                EffectKind.FILE_READ,
                field,
                recursive="1" if recursive else "",
                search="1" if recursive else "",
                filter=name,
                prints="1" if everything else "",
            )
    command = call.value("--pre", "--pager", "--hostname-bin", "--filter")
    if command is not None and command.text != "":
        places = tuple(target for field in files or (literal("."),) for target, _ in path_targets(field, call.invocation.cwd))
        if " " in shown(command).strip():
            yield from run_text(call, scene, command, via=f"{call.name} --pre")
        elif call.has("--pre", "--filter"):
            yield from on_found(call, scene, (command, literal("{}")), (Found(places),), via=f"{call.name} --pre")
        else:
            yield from scene.nested_argv((command,), call, via=f"{call.name} --pager")


# What fzf runs of an action: `execute(..)`, `reload[..]`, `become:..` to the end.
_ACTION = (
    r"(?:execute(?:-silent|-multi)?|reload(?:-sync)?|become|preview|transform(?:-\w+)*|change-preview|bg-\w+)"
    r"(?:\((?P<a>.*?)\)(?=[+,]|$)|\[(?P<b>.*?)\](?=[+,]|$)|\{(?P<c>.*?)\}(?=[+,]|$)|(?P<d>[~!@#$%^&*;/|])(?P<e>.*?)(?P=d)|:(?P<f>.*)$)"
)


def picker(call: Call, scene: Scene) -> Iterator[Effect]:
    """fzf, sk: a person picks from a list; previews, bound keys and sk's -c run shell text, with the picked lines in the place of `{}`."""
    import re

    for option, field in call.values:
        if option in ("--preview", "-c", "--cmd"):
            yield from run_text(call, scene, field, via=f"{call.name} {option}")
        elif option == "--bind":
            for value in field.values:
                for match in re.finditer(_ACTION, value, re.DOTALL):
                    text = next((piece for name, piece in match.groupdict().items() if piece and name != "d"), "")
                    yield from run_text(call, scene, literal(text), via=f"{call.name} --bind")


def _sees_all(call: Call) -> bool:
    """Whether a searcher was told to look into hidden and ignored files and shows what it finds there."""
    if call.has("-l", "--files-with-matches", "-c", "--count", "--count-matches", "-q", "--quiet", "--files", "-L", "--files-without-match"):
        return False
    unrestricted = call.flags.count("-u") + call.flags.count("--unrestricted")
    if call.name in ("rg", "ripgrep"):
        return unrestricted > 1 or (call.has("--hidden", "-.") and (unrestricted == 1 or call.has("--no-ignore", "--no-ignore-vcs")))
    if call.name in ("ag", "ack", "pt"):
        return unrestricted > 0 or (call.has("--hidden") and call.has("--skip-vcs-ignores", "-U")) or (call.has("--all-types", "-a") and call.has("--hidden"))
    return False


PROGRAMS: tuple[Program, ...] = (
    Program(
        ("fzf", "fzf-tmux", "sk"),
        options="--bind --preview --preview-window --query -q --filter -f --prompt --header --height --delimiter -d --nth -n --with-nth --tiebreak --border= "
        "--color --expect --layout --margin --padding --marker --pointer --info --history --history-size --tabstop --listen= -c --cmd --header-lines",
        describe=picker,
        summary="lets a person pick from a list; previews and bound keys run commands",
    ),
    Program(("fd", "fdfind"), style="raw", describe=fd, summary="searches folders; -x and -X run a command on what is found"),
    Program(
        ("grep", "egrep", "fgrep", "zgrep", "zegrep", "zfgrep", "bzgrep", "xzgrep", "pcregrep", "pcre2grep", "ggrep", "rgrep", "agrep"),
        options="-e -f -m -A -B -C -d -D --regexp --file --max-count --after-context --before-context --context "
        "--include --exclude --exclude-dir --exclude-from "
        "--label --color= --colour= --binary-files --directories --devices",
        longs="--recursive --dereference-recursive --ignore-case --invert-match --files-with-matches --line-number "
        "--count --only-matching --quiet --fixed-strings",
        option_roles=(("--exclude-from", "read"),),
        describe=grep,
        summary="searches text in files",
    ),
    Program(
        ("rg", "ripgrep", "ugrep", "ug"),
        options="-e -f -m -A -B -C -g -t -T -j -M -r -E -d --regexp --file --max-count --after-context "
        "--before-context --context --glob --iglob --type --type-not "
        "--type-add --max-depth --threads --replace --encoding --engine --sort --sortr --color --colors "
        "--path-separator --pre --pre-glob --ignore-file --max-filesize "
        "--max-columns --context-separator --hostname-bin --include --exclude --pager",
        option_roles=(("--ignore-file", "read"),),
        describe=grep,
        summary="searches text below a folder; --pre runs a program on each file",
    ),
    Program(
        ("ag", "ack", "ack-grep", "pt"),
        options="-A -B -C -G -m -p -W --after --before --context --depth --file-search-regex --ignore --ignore-dir "
        "--max-count --pager --path-to-ignore --workers --type --filter=",
        describe=grep,
        summary="searches text below a folder",
    ),
)
