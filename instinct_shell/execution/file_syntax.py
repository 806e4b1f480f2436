"""Whether a file's text can be read by its own language. Only errors that an edit brings count: a file that is broken already may be edited.

In doubt there is no error: templates, dialects with comments, syntax newer than the interpreters here, files that nothing installed can read.
Parsers of the standard library, sqlglot, a YAML parser when one is installed; of other languages the system's own checkers, which read stdin,
run nothing of it and get an empty environment.
"""

from __future__ import annotations

import os
import re
import subprocess

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Error = tuple[int, str]  # line from 1 (0: nobody knows), what the parser says

SECONDS = 2.0
PLACES = ("/usr/bin", "/usr/local/bin", "/bin")
SQL_DIALECTS = (None, "postgres", "mysql", "sqlite", "tsql", "bigquery", "snowflake", "oracle")

LANGUAGES = {
    ".py": "python", ".pyi": "python", ".pyw": "python", ".json": "json", ".webmanifest": "json", ".geojson": "json", ".ipynb": "json",
    ".jsonl": "json lines", ".ndjson": "json lines", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml", ".sh": "shell", ".bash": "shell", ".bats": "",
    ".sql": "sql", ".xml": "xml", ".svg": "xml", ".plist": "xml", ".csproj": "xml", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript",
    ".php": "php", ".go": "go",
}  # fmt: skip
_NAMES = {"Pipfile": "toml", "poetry.lock": "toml", "Cargo.lock": "toml", ".bashrc": "shell", ".bash_profile": "shell", ".profile": "shell"}
_SHEBANG = re.compile(r"#!\s*\S*?(?:env\s+(?:-S\s+)?)?(?:\S*/)?(python[0-9.]*|bash|sh|dash)\b")
# JSON as these tools read it holds comments and trailing commas.
_RELAXED = re.compile(
    r"(?:^|/)(?:[tj]sconfig[^/]*\.json|\.vscode/[^/]*\.json|\.devcontainer/[^/]*\.json|devcontainer\.json|\.eslintrc(?:\.json)?|\.swcrc|\.babelrc(?:\.json)?"
    r"|babel\.config\.json|deno\.jsonc?|biome\.jsonc?|turbo\.json|api-extractor[^/]*\.json|renovate\.json|\.jshintrc|tslint\.json|language-configuration\.json"
    r"|\.zed/[^/]*\.json|keybindings\.json|settings\.json|nx\.json|project\.json|wrangler\.json|rush\.json|typedoc\.json|\.hintrc|\.mocharc\.json)\Z"
)
_FIXTURE = re.compile(
    r"(?:^|/)(?:fixtures?|testdata|test_data|__fixtures__|snapshots?|__snapshots__|cassettes|invalid|broken|bad[^/]*)(?:/|\.|\Z)",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(r"\{\{|\{%|<%|\$\{\{|@@[A-Z_]+@@")
# Syntax that Python 3.12 to 3.14 brought; an older interpreter calls it an error.
_NEWER = re.compile(r"(?m)^\s*type\s+\w+|\bdef\s+\w+\s*\[|\bclass\s+\w+\s*\[|\b[tT][rR]?['\"]|^\s*except\*?\s+\w[\w.]*\s*,")


def new_errors(path: str, before: str | None, after: str, workspace: str) -> tuple[str, list[str], int]:
    """(language or "", messages, first line): what cannot be read any more. before: None when it is not known, "" when there is no file."""
    language = language_of(path, after)
    if not language or before is None or not after.strip():
        return language, [], 0
    relative = path.removeprefix(workspace.rstrip("/") + "/")
    if _FIXTURE.search(relative) or "{{" in relative:
        return language, [], 0
    error = _CHECKS[language](relative, after)
    if error is None or _TEMPLATE.search(after) or (before.strip() and _CHECKS[language](relative, before) is not None):
        return language, [], 0
    line, message = error
    message = " ".join("".join(c if c.isprintable() else " " for c in message).split())[:160]
    return language, [f"line {line}: {message}" if line else message], line


def language_of(path: str, text: str) -> str:
    """The language that a file's name, else its first line, says; "" for one that nothing here reads."""
    name = os.path.basename(path)
    known = _NAMES.get(name, LANGUAGES.get(os.path.splitext(name)[1].lower()))
    if known is not None:
        return known
    first = _SHEBANG.match(text) if "." not in name else None
    if first is None:
        return ""
    if first[1].startswith("python") and not first[1].startswith("python2"):
        return "python"
    return "shell" if first[1] in ("bash", "sh", "dash") else ""


# ---------------------------------------------------------------- one language each


def _python(_: str, text: str) -> Error | None:
    import ast
    import warnings

    data = text.encode("utf-8", "surrogateescape")
    if data.startswith(b"#!") and b"python2" in data.partition(b"\n")[0]:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except (SyntaxError, ValueError) as error:
        message, line = (error.msg or "invalid syntax", error.lineno or 0) if isinstance(error, SyntaxError) else (str(error), 0)
        newer = _newer_pythons()
        if newer:
            return None if any(_accepts((python, "-I", "-S", "-c", _PARSE), data) is None for python in newer) else (line, message)
        unsure = _NEWER.search(text) or message.startswith("f-string") or "exception types must be parenthesized" in message
        return None if unsure else (line, message)
    except (RecursionError, MemoryError):
        return None
    return None


_PARSE = "import ast, sys, warnings; warnings.simplefilter('ignore'); ast.parse(sys.stdin.buffer.read())"


def _newer_pythons() -> list[str]:
    """Interpreters of the system that are newer than this one, newest first."""
    import sys

    found = [f"{place}/python3.{minor}" for minor in range(sys.version_info[1] + 6, sys.version_info[1], -1) for place in PLACES]
    return [path for path in found if os.access(path, os.X_OK)][:1]


def _json(path: str, text: str) -> Error | None:
    import json

    text = text.removeprefix("\ufeff")
    relaxed = _RELAXED.search(path) is not None
    try:
        json.loads(_plain_json(text) if relaxed else text)
    except ValueError as error:
        return getattr(error, "lineno", 0), getattr(error, "msg", str(error))
    except RecursionError:
        return None
    return None


def _json_lines(path: str, text: str) -> Error | None:
    for number, line in enumerate(text.split("\n"), 1):
        error = _json(path, line) if line.strip() else None
        if error is not None:
            return number, error[1]
    return None


def _plain_json(text: str) -> str:
    """JSON with comments and trailing commas as JSON without; line numbers stay."""
    text = re.sub(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', lambda m: m[1] or "\n" * m[0].count("\n"), text, flags=re.DOTALL)
    return re.sub(r'("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])', lambda m: m[1] or "", text)


def _toml(_: str, text: str) -> Error | None:
    import tomllib

    try:
        tomllib.loads(text)
    except ValueError as error:
        place = re.search(r"at line (\d+)", str(error))
        return int(place[1]) if place else 0, re.sub(r" \(at .*\)", "", str(error))
    except RecursionError:
        return None
    return None


def _yaml(_: str, text: str) -> Error | None:
    try:
        import yaml  # type: ignore[import-untyped]  # used when somebody installed it
    except ImportError:
        return None
    try:
        for _event in yaml.parse(text):
            pass
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        return (mark.line + 1 if mark else 0), str(getattr(error, "problem", "") or "invalid YAML")
    except (RecursionError, ValueError):
        return None
    return None


def _shell(_: str, text: str) -> Error | None:
    message = _accepts(("/bin/bash", "--norc", "--noprofile", "-O", "extglob", "-n"), text.encode("utf-8", "surrogateescape"))
    if not message:
        return None
    place = re.match(r"(?:/bin/)?bash: line (\d+): (.*)", message)
    return (int(place[1]), place[2]) if place else (0, message)


def _sql(_: str, text: str) -> Error | None:
    if re.search(r"(?im)^\s*\\|^\s*delimiter\b|\$\$|\bdo\s+language\b|^\s*go\s*$|^\s*\.\w", text):
        return None  # commands of a client, bodies in another language
    import logging

    import sqlglot

    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # it would talk on the agent's stderr
    first: Error | None = None
    for dialect in SQL_DIALECTS:
        try:
            sqlglot.parse(text, read=dialect)
            return None
        except sqlglot.errors.ParseError as error:
            details = error.errors[0] if error.errors else {}
            first = first or (int(details.get("line") or 0), str(details.get("description") or "invalid SQL"))
        except (sqlglot.errors.TokenError, RecursionError, ValueError) as error:
            first = first or (0, str(error).partition("\n")[0])
    return first


def _xml(_: str, text: str) -> Error | None:
    from xml.parsers import expat

    parser = expat.ParserCreate()
    try:
        parser.Parse(text.encode("utf-8", "surrogateescape"), True)  # "this is all"
    except expat.ExpatError as error:
        return error.lineno, expat.ErrorString(error.code) or "not well-formed"
    return None


def _javascript(_: str, text: str) -> Error | None:
    if re.search(r"</|/>|<[A-Za-z][\w.]*[\s>]|@flow|\bdeclare\s|:\s*[A-Z]\w*\s*[=,)]", text):
        return None  # JSX, Flow
    program = _system("node")
    data = text.encode("utf-8", "surrogateescape")
    if not program:
        return None
    messages = [_accepts((program, f"--input-type={kind}", "--check", "-"), data) for kind in ("module", "commonjs")]
    if not all(messages):
        return None
    lines = str(messages[0]).splitlines()
    place = re.search(r":(\d+)\s*$", lines[0])
    return int(place[1]) if place else 0, next((line for line in lines if "SyntaxError" in line), "invalid JavaScript")


def _php(_: str, text: str) -> Error | None:
    return _by_program("php", ("-n", "-l"), text, r"on line (\d+)")


def _go(_: str, text: str) -> Error | None:
    return _by_program("gofmt", ("-e", "-l"), text, r":(\d+):\d+:")


def _by_program(name: str, options: tuple[str, ...], text: str, place: str) -> Error | None:
    program = _system(name)
    message = _accepts((program, *options), text.encode("utf-8", "surrogateescape")) if program else None
    if not message:
        return None
    found = re.search(place, message)
    return int(found[1]) if found else 0, message.splitlines()[0]


def _system(name: str) -> str:
    return next((path for path in (f"{place}/{name}" for place in PLACES) if os.access(path, os.X_OK)), "")


def _accepts(argv: tuple[str, ...], data: bytes) -> str | None:
    """None when the program accepts the text on stdin, or cannot say within the time; else its message."""
    try:
        run = subprocess.run(
            argv, input=data, capture_output=True, timeout=SECONDS, check=False, cwd="/",
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"},
        )  # fmt: skip
    except (subprocess.TimeoutExpired, OSError):
        return None
    if run.returncode == 0:
        return None
    message = (run.stderr or run.stdout).decode("utf-8", "replace").strip()
    return message or "it cannot be read"


_CHECKS: dict[str, Callable[[str, str], Error | None]] = {
    "python": _python,
    "json": _json,
    "json lines": _json_lines,
    "toml": _toml,
    "yaml": _yaml,
    "shell": _shell,
    "sql": _sql,
    "xml": _xml,
    "javascript": _javascript,
    "php": _php,
    "go": _go,
}
