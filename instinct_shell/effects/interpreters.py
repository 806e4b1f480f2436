"""Interpreters: code in a word (-c, -e), on stdin, in a file. Code that stands in the line is read; a file that this line did not write is
`code.script` for the gate; what cannot be read is `code.opaque`.
"""

from __future__ import annotations

import posixpath

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known, literal
from . import flow, output, scripts
from .call import Call, Program, Scene, path_targets
from .followed import followed
from .orms import apply_tool
from .other_code import code_word, read_code
from .roles import file_effects, weakest
from .verbs import environment_text, head_of, shown, thing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


# ---------------------------------------------------------------- code from anywhere


def run_script(call: Call, scene: Scene, field: Field, language: str, argv: tuple[Field, ...]) -> Iterator[Effect]:
    """A file of code runs with these arguments."""
    if field.known is Known.DYNAMIC and any(origin.kind == "process" for origin in field.origins):
        text = scripts.printed(field, scene)
        if text is not None:
            yield from read_code(text, call, scene, language, argv)
        else:
            yield scripts.opaque(call, flow.source_of_field(field, scene), field.reason, language=language)
        return
    yield from flow.named_secrets(call.replace(argv=argv), scene)
    for target, sure in path_targets(field, call.invocation.cwd):
        path = scene.links.get(target.text, target.text)
        if path in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
            yield from run_stdin(call, scene, language, argv)
            continue
        if target.kind is TargetKind.PATH and not target.dynamic and path in scene.files:
            text = scene.files[path]
            written = "" if scene.sources.get(path) == scripts.GIVEN else "1"
            yield call.effect(
                EffectKind.CODE_SCRIPT,
                Target(TargetKind.PATH, path),
                language=language,
                written=written,
                readable="1" if text is not None else "",
            )
            if text is None:
                yield scripts.opaque(
                    call,
                    scene.sources.get(path, "generated"),
                    "the script is written by the same line and its text is not known",
                    language=language,
                    target=target,
                )
            else:
                yield from followed(read_code(text, call, scene, language, (field, *argv), path), path, scene)
            continue
        extra = {"dynamic": "interpreter" if target.dynamic else "", "unset": ",".join(field.unset), "source": scripts.brought(path, scene)}
        extra["target_env"] = environment_text(call, scene)
        yield call.effect(EffectKind.CODE_SCRIPT, target, extra, certainty=weakest(call.certainty, sure), language=language)


def run_stdin(call: Call, scene: Scene, language: str, argv: tuple[Field, ...]) -> Iterator[Effect]:
    """The program stands on fd 0; without one there it is a dialogue."""
    stdin = call.invocation.stdin
    text = output.stdin_text(call.invocation, scene)
    if text is not None and stdin.kind in ("text", "pipe", "file"):
        yield from read_code(text, call, scene, language, argv)
    elif stdin.kind == "text" and stdin.field is not None:
        yield from code_word(call, scene, stdin.field, language, argv)
    elif stdin.kind == "file" and stdin.field is not None:
        yield from run_script(call, scene, stdin.field, language, argv)
    elif stdin.kind == "pipe":
        yield scripts.opaque(call, flow.source_of(stdin.producers, scene), "the code comes through a pipe", language=language)


# ---------------------------------------------------------------- python

_PYTHON_LISTENS = frozenset("http.server SimpleHTTPServer xmlrpc.server smtpd aiosmtpd uvicorn gunicorn hypercorn http.server.test".split())
_PYTHON_RUNS_FILE = frozenset("pdb cProfile profile trace runpy timeit_file kernprof pyinstrument scalene viztracer debugpy".split())
_PYTHON_QUIET = frozenset(
    "json.tool compileall py_compile this antigravity calendar ast tokenize dis sysconfig site platform zipapp "
    "ensurepip unittest doctest pydoc "
    "venv virtualenv build base64 gzip zipfile tarfile inspect symtable tabnanny textwrap webbrowser turtle idlelib "
    "test pickletools difflib".split()
)


def python(call: Call, scene: Scene) -> Iterator[Effect]:
    """python [options] [-c CODE | -m MODULE | FILE | -] [arguments]."""
    words = call.argv
    at = 0
    while at < len(words):
        text = head_of(words[at])
        if not text.startswith("-") or text == "-":
            break
        at += 1
        if text.startswith("--"):
            if text in ("--version", "--help", "--help-all", "--help-env", "--help-xoptions"):
                return
            at += text == "--check-hash-based-pycs"
            continue
        for position, letter in enumerate(text[1:], 1):
            if letter in "cmWX":
                rest = text[position + 1 :]
                value = words[at - 1].replace(values=(rest,)) if rest else words[at] if at < len(words) else literal("")
                at += not rest
                if letter == "c":
                    yield from code_word(call, scene, value, "python", (literal("-c"), *words[at:]))
                    return
                if letter == "m":
                    yield from _python_module(call, scene, value, words[at:])
                    return
                break
            if letter in "Vh?":
                return
    rest_words = words[at:]
    if not rest_words or rest_words[0].text == "-":
        yield from run_stdin(call, scene, "python", rest_words or (literal(""),))
        return
    script = rest_words[0]
    name = posixpath.basename(shown(script))
    if name == "manage.py":
        yield from django(call, scene, rest_words[1:])
    elif name == "setup.py" and any(word.text in ("upload", "register") for word in rest_words[1:]):
        yield call.effect(EffectKind.PACKAGE_PUBLISH, thing("setup.py upload"), tool="setup.py")
    yield from run_script(call, scene, script, "python", rest_words[1:])


def django(call: Call, scene: Scene, argv: tuple[Field, ...]) -> Iterator[Effect]:
    """manage.py VERB: database verbs, `shell -c CODE`, runserver."""
    yield from apply_tool(call, scene, "django", argv)
    verb = shown(argv[0]) if argv else ""
    if verb in ("shell", "shell_plus"):
        for index, word in enumerate(argv):
            if word.text in ("-c", "--command") and index + 1 < len(argv):
                yield from code_word(call, scene, argv[index + 1], "python")
    elif verb == "runserver":
        yield call.effect(EffectKind.NET_LISTEN, Target(TargetKind.HOST, ""), via="django")


def _python_module(call: Call, scene: Scene, module: Field, argv: tuple[Field, ...]) -> Iterator[Effect]:
    """python -m MODULE."""
    name = module.text
    if name is None:
        yield scripts.opaque(call, "variable", "the module name is not known", language="python")
        return
    if name in _PYTHON_LISTENS:
        yield call.effect(EffectKind.NET_LISTEN, Target(TargetKind.HOST, ""), via=name)
    elif name == "timeit":
        for word in argv:
            if not shown(word).startswith("-"):
                yield from code_word(call, scene, word, "python")
    elif name in _PYTHON_RUNS_FILE or (name == "coverage" and argv and argv[0].text == "run"):
        files = [word for word in argv[name == "coverage" :] if not shown(word).startswith("-")]
        if files:
            yield from run_script(call, scene, files[0], "python", tuple(files[1:]))
    elif name in ("venv", "virtualenv"):
        for word in argv:
            if not shown(word).startswith("-"):
                yield from file_effects(call, scene, EffectKind.FILE_CREATE, word, recursive="1")
    elif name in ("json.tool", "base64", "gzip", "ast", "tokenize", "dis"):
        files = [word for word in argv if not shown(word).startswith("-")]
        for word in files[:1]:
            yield from file_effects(call, scene, EffectKind.FILE_READ, word)
        if name == "json.tool":
            for word in files[1:2]:
                yield from file_effects(call, scene, EffectKind.FILE_WRITE, word)
    elif name in ("zipfile", "tarfile"):
        yield from _python_archive(call, scene, argv)
    elif name in _PYTHON_QUIET:
        yield call.effect(EffectKind.PROCESS_SPAWN, Target(TargetKind.NAME, name))
    elif name == "dotenv":
        yield from scene.nested_argv((literal("dotenv"), *argv), call, via="python -m")
    elif _local_module(call, scene, name) is not None:
        yield from run_script(call, scene, literal(_local_module(call, scene, name) or ""), "python", argv)
    else:
        yield from scene.nested_argv((literal(name.replace("_", "-")), *argv), call, via="python -m")


def _local_module(call: Call, scene: Scene, name: str) -> str | None:
    """The file of a module that the same line wrote."""
    base = (call.invocation.cwd.text or "").rstrip("/")
    path = name.replace(".", "/")
    return next((one for one in (f"{base}/{path}.py", f"{base}/{path}/__main__.py") if one in scene.files), None)


def _python_archive(call: Call, scene: Scene, argv: tuple[Field, ...]) -> Iterator[Effect]:
    verb, files = shown(argv[0]) if argv else "", argv[1:]
    if verb in ("-c", "--create") and files:
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, files[0])
        for word in files[1:]:
            yield from file_effects(call, scene, EffectKind.FILE_READ, word, source_of_copy="1", recursive="1")
    elif verb in ("-e", "--extract") and files:
        yield from file_effects(call, scene, EffectKind.FILE_CREATE, files[1] if len(files) > 1 else literal("."), recursive="1")


# ---------------------------------------------------------------- javascript

_NODE_VALUES = frozenset(
    "-r --require --import --loader --experimental-loader --conditions -C --title --env-file --env-file-if-exists "
    "--stack-trace-limit --max-old-space-size "
    "--inspect-port --input-type --test-name-pattern --test-reporter --test-concurrency --watch-path --icu-data-dir "
    "--openssl-config --redirect-warnings "
    "--report-dir --trace-event-categories -P --project -T --compiler -O --cwd --tsconfig".split()
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
    rest = [word for word in call.argv[1:] if not shown(word).startswith("-")]
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
    if all(code.text is not None for code in codes):
        yield from read_code("\n".join(code.text or "" for code in codes), call, scene, language, operands)
    else:
        for code in codes:
            yield from code_word(call, scene, code, language, operands)


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
        yield from apply_tool(call, scene, "symfony-console", rest_words[1:])
    elif posixpath.basename(name) in ("composer", "composer.phar"):
        yield from scene.nested_argv((literal("composer"), *rest_words[1:]), call, via="php")
        return
    yield from run_script(call, scene, rest_words[0], "php", rest_words[1:])


def artisan(call: Call, scene: Scene, argv: tuple[Field, ...]) -> Iterator[Effect]:
    """Laravel's command line."""
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
