"""Interpreters: code in a word (-c, -e), on stdin, in a file. Code that stands in the line is read; a file that this line did not write is
`code.script` for the gate; what cannot be read is `code.opaque`.
"""

from __future__ import annotations

import posixpath
import re

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, literal
from . import scripts
from .call import Call, Program, Scene
from .program_text import code_word, read_code, run_script, run_stdin
from .python_program import python
from .roles import file_effects
from .verbs import head_of, shown, thing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


# ---------------------------------------------------------------- code from anywhere


# ---------------------------------------------------------------- python


# ---------------------------------------------------------------- javascript

_NODE_VALUES = frozenset(
    "-r --require --import --loader --experimental-loader --conditions -C --title --env-file --env-file-if-exists "
    "--stack-trace-limit --max-old-space-size "
    "--inspect-port --input-type --test-name-pattern --test-reporter --test-concurrency --watch-path --icu-data-dir "
    "--openssl-config --redirect-warnings "
    "--cpu-prof-dir --heap-prof-dir --diagnostic-dir --report-dir --trace-event-categories -P --project -T --compiler -O --cwd --tsconfig".split()
)


def node(call: Call, scene: Scene) -> Iterator[Effect]:
    """node, ts-node, tsx ...: [-e CODE | -p CODE | FILE] [arguments]."""
    words, at = call.argv, 0
    while at < len(words):
        text = head_of(words[at])
        if not text.startswith("-") or text == "-":
            break
        at += 1
        name, equals, tail = text.partition("=")
        if text in ("-v", "--version", "-h", "--help", "--v8-options", "--completion-bash"):
            return
        if name in ("-e", "--eval", "-p", "--print", "-pe", "-ep", "-ie"):
            value = words[at - 1].replace(values=(tail,)) if equals else words[at] if at < len(words) else literal("")
            yield from code_word(call, scene, value, "javascript", tuple(words[at + (not equals) :]))
            return
        if name in ("-c", "--check"):
            return
        if name == "--run":
            yield from file_effects(
                call,
                scene,
                EffectKind.CODE_SCRIPT,
                literal("package.json"),
                language="npm",
                entry=tail or (shown(words[at]) if at < len(words) else ""),
            )
            return
        if name in _NODE_VALUES:
            value = words[at - 1].replace(values=(tail,)) if equals else words[at] if at < len(words) else literal("")
            at += not equals
            if name in ("-r", "--require", "--import", "--loader", "--experimental-loader") and shown(value).startswith((".", "/")):
                yield from run_script(call, scene, value, "javascript", ())
            elif name in ("--redirect-warnings", "--cpu-prof-dir", "--heap-prof-dir", "--diagnostic-dir", "--report-dir"):
                kind = EffectKind.FILE_APPEND if name == "--redirect-warnings" else EffectKind.FILE_CREATE
                yield from file_effects(call, scene, kind, value)
            elif name.startswith("--env-file"):
                yield from file_effects(call, scene, EffectKind.FILE_READ, value)
    rest = words[at:]
    if call.name in ("tsx", "node") and rest and rest[0].text in ("watch", "inspect"):
        rest = rest[1:]
    if not rest or rest[0].text == "-":
        if not any(word.text in ("--test", "--watch") for word in words):
            yield from run_stdin(call, scene, "javascript", rest[1:])
        return
    yield from run_script(call, scene, rest[0], "javascript", rest[1:])


def bun_eval(call: Call, scene: Scene) -> Iterator[Effect]:
    """bun -e CODE."""
    for index, word in enumerate(call.argv):
        if word.text in ("-e", "--eval", "-p", "--print") and index + 1 < len(call.argv):
            yield from code_word(call, scene, call.argv[index + 1], "javascript")
            return


def deno(call: Call, scene: Scene) -> Iterator[Effect]:
    """deno VERB."""
    verb = shown(call.argv[0]) if call.argv else ""
    rest = [word for word in call.argv[1:] if not shown(word).startswith("-") or word.text == "-"]
    if verb == "eval" and rest:
        yield from code_word(call, scene, rest[-1] if len(rest) == 1 else rest[0], "javascript")
    elif verb == "repl":
        for index, word in enumerate(call.argv):
            if word.text == "--eval" and index + 1 < len(call.argv):
                yield from code_word(call, scene, call.argv[index + 1], "javascript")
    elif verb in ("run", "serve", "bench", "x") and rest:
        if shown(rest[0]).startswith(("http://", "https://", "npm:", "jsr:")):
            yield call.effect(EffectKind.NET_CONNECT, Target(TargetKind.URL, shown(rest[0])), method="GET")
            yield scripts.opaque(call, "network", "runs code from a URL", language="javascript")
        elif rest[0].text == "-":
            yield from run_stdin(call, scene, "javascript", ())
        else:
            yield from run_script(call, scene, rest[0], "javascript", tuple(rest[1:]))
    elif verb == "task":
        yield from file_effects(
            call, scene, EffectKind.CODE_SCRIPT, literal("deno.json"), language="npm", entry=shown(rest[0]) if rest else ""
        )
    elif verb in ("install", "add", "i") and rest:
        from .packages import install

        everywhere = "1" if any(word.text in ("-g", "--global") for word in call.argv) else ""
        yield from install(call, scene, "deno", tuple(rest), **{"global": everywhere})
    elif verb == "publish":
        yield call.effect(EffectKind.PACKAGE_PUBLISH, thing("jsr"), tool="deno")
    elif verb.endswith((".ts", ".js", ".mjs", ".tsx")):
        yield from run_script(call, scene, call.argv[0], "javascript", tuple(rest))


# ---------------------------------------------------------------- perl, ruby, php, lua


def cluster_language(call: Call, scene: Scene) -> Iterator[Effect]:
    """perl and ruby: letters in clusters, -e several times, -i edits the operands in place, -n and -p read them."""
    language = "ruby" if call.name in ("ruby", "jruby", "truffleruby", "irb") else "perl"
    codes: list[Field] = []
    loops = in_place = check = False
    words, at = call.argv, 0
    cwd: Field | None = None
    while at < len(words):
        text = head_of(words[at])
        if not text.startswith("-") or text in ("-", "--"):
            at += text == "--"
            break
        at += 1
        if text in ("--version", "--help", "-v", "-V", "-h", "--copyright"):
            return
        if text.startswith("--"):
            continue
        position = 1
        while position < len(text):
            letter, rest = text[position], text[position + 1 :]
            position += 1
            if letter == "e" or (letter == "E" and language == "perl"):
                codes.append(words[at - 1].replace(values=(rest,)) if rest else words[at] if at < len(words) else literal(""))
                at += not rest
                break
            if letter in "np":
                loops = True
            elif letter == "i":
                in_place = loops = True
                break
            elif letter == "c":
                check = True
            elif letter == "C" and language == "ruby":
                cwd = literal(rest) if rest else words[at] if at < len(words) else None
                at += not rest
                break
            elif letter in ("I", "r") if language == "ruby" else letter in ("I", "M", "m", "F", "x"):
                if letter in ("r", "M") and (rest or shown(words[at]) if at < len(words) else rest).startswith(("./", "/")):
                    yield from run_script(call, scene, literal(rest) if rest else words[at], language, ())
                at += not rest and letter not in "Fx"
                break
            elif letter in "0lDKWTUX":
                while position < len(text) and (
                    text[position].isalnum() and letter == "0" and text[position] in "0123456789xabcdefABCDEF777"
                ):
                    position += 1
    if cwd is not None:
        call = call.replace(invocation=call.invocation.replace(cwd=cwd))
    operands = words[at:]
    if check and not codes:
        return
    if not codes:
        if operands and operands[0].text != "-":
            yield from run_script(call, scene, operands[0], language, operands[1:])
        else:
            yield from run_stdin(call, scene, language, operands[1:])
        return
    kind = EffectKind.FILE_WRITE if in_place else EffectKind.FILE_READ
    if loops:
        for operand in operands:
            yield from file_effects(call, scene, kind, operand, in_place="1" if in_place else "")
    listed: tuple[Effect, ...] = ()
    if loops and not operands and any(re.search(r"\b(?:unlink|rmdir|rmtree|remove_tree)\b", code.text or "") for code in codes):
        yield from (listed := tuple(_each_deleted(call, scene)))
    if all(code.text is not None for code in codes):
        for effect in read_code("\n".join(code.text or "" for code in codes), call, scene, language, operands):
            if not (listed and effect.kind is EffectKind.FILE_DELETE and effect.target.dynamic):  # the same, and what it names is known
                yield effect
    else:
        for code in codes:
            yield from code_word(call, scene, code, language, operands)


def _each_deleted(call: Call, scene: Scene) -> Iterator[Effect]:
    """`find .. | perl -ne unlink`: every name that a listing brings is deleted."""
    from .listing import listing_of
    from .search import on_found

    found = listing_of(call.invocation.stdin.producers, scene) if call.invocation.stdin.kind == "pipe" else None
    if found is not None:
        yield from on_found(call, scene, (literal("rm"), literal("-r"), literal("{}")), found, via="perl -n")


def php(call: Call, scene: Scene) -> Iterator[Effect]:
    """php [-r CODE | -f FILE | FILE]; artisan and bin/console are scripts with database verbs."""
    words, at = call.argv, 0
    while at < len(words):
        text = head_of(words[at])
        if not text.startswith("-") or text in ("-", "--"):
            break
        at += 1
        letter, rest = text[:2], text[2:]
        value = words[at - 1].replace(values=(rest,)) if rest else words[at] if at < len(words) else literal("")
        if text in ("--version", "--help", "-v", "-i", "-m", "-h", "--ini"):
            return
        if letter in ("-r", "-B", "-R", "-E"):
            yield from code_word(call, scene, value, "php", tuple(words[at + 1 :]))
            if letter == "-r":
                return
            at += not rest
        elif letter == "-S":
            yield call.effect(EffectKind.NET_LISTEN, Target(TargetKind.HOST, shown(value)), via="php")
            return
        elif letter == "-l":
            return
        elif letter in ("-d", "-c", "-t", "-z", "-F"):
            at += not rest
            name, _, file = shown(value).partition("=")
            if letter == "-d" and name.strip() in ("auto_prepend_file", "auto_append_file") and file.strip("'\""):
                yield from run_script(call, scene, literal(file.strip("'\"")), "php", ())
        elif letter == "-f":
            yield from run_script(call, scene, value, "php", tuple(words[at + 1 :]))
            return
    rest_words = words[at:]
    if not rest_words or rest_words[0].text == "-":
        yield from run_stdin(call, scene, "php", ())
        return
    name = shown(rest_words[0])
    if posixpath.basename(name) == "artisan":
        yield from artisan(call, scene, rest_words[1:])
    elif name.endswith("bin/console"):
        from .orms import apply_tool

        yield from apply_tool(call, scene, "symfony-console", rest_words[1:])
    elif posixpath.basename(name) in ("composer", "composer.phar"):
        yield from scene.nested_argv((literal("composer"), *rest_words[1:]), call, via="php")
        return
    yield from run_script(call, scene, rest_words[0], "php", rest_words[1:])


def artisan(call: Call, scene: Scene, argv: tuple[Field, ...]) -> Iterator[Effect]:
    """Laravel's command line."""
    from .orms import apply_tool

    yield from apply_tool(call, scene, "artisan", argv)
    if argv and argv[0].text == "tinker":
        for word in argv[1:]:
            if shown(word).startswith("--execute=") and word.text is not None:
                yield from code_word(call, scene, literal(word.text[len("--execute=") :]), "php")


def lua(call: Call, scene: Scene) -> Iterator[Effect]:
    """lua [-e CODE] [-l MODULE] [FILE]."""
    words, at, spoke = call.argv, 0, False
    while at < len(words):
        text = head_of(words[at])
        if not text.startswith("-") or text in ("-", "--"):
            break
        at += 1
        if text.startswith("-e"):
            value = words[at - 1].replace(values=(text[2:],)) if len(text) > 2 else words[at] if at < len(words) else literal("")
            at += len(text) == 2
            spoke = True
            yield from code_word(call, scene, value, "lua", tuple(words[at:]))
        elif text == "-v":
            spoke = True
        elif text in ("-l", "-j", "-b"):
            at += 1
    if words[at:] and words[at].text != "-":
        yield from run_script(call, scene, words[at], "lua", tuple(words[at + 1 :]))
    elif not spoke:
        yield from run_stdin(call, scene, "lua", ())


PROGRAMS: tuple[Program, ...] = (
    Program(
        (
            "python",
            "python3",
            "python2",
            "pypy",
            "pypy3",
            "ipython",
            "ipython3",
            "micropython",
            "py",
            "bpython",
            "ptpython",
            "cython",
            "graalpy",
        ),
        style="raw nohelp",
        describe=python,
        summary="Python",
    ),
    Program(
        ("node", "nodejs", "ts-node", "tsx", "esno", "babel-node", "swc-node", "vite-node", "jiti", "esrun"),
        style="raw nohelp",
        describe=node,
        summary="JavaScript",
    ),
    Program(("deno",), style="raw nohelp", describe=deno, summary="JavaScript"),
    Program(("perl", "ruby", "jruby", "truffleruby"), style="raw nohelp", describe=cluster_language, summary="Perl and Ruby"),
    Program(("php", "php-cgi", "hhvm"), style="raw nohelp", describe=php, summary="PHP"),
    Program(("lua", "luajit", "texlua"), style="raw nohelp", describe=lua, summary="Lua"),
)
