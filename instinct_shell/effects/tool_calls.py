"""What a tool of another program (an MCP server's) would do, told from its name and its arguments.

Nobody but the tool itself knows what it does. Yet an argument named `command` holds a command, `sql` a statement, `path` a path: what such an
argument would do in the shell, or in a file tool, is what the call is judged by. The call stays an unknown one besides (`writes`). Pure.
"""

from __future__ import annotations

import json
import posixpath
import re

from ..model.effect import Effect
from ..model.intent import Intent, IntentType
from ..model.value import Value
from . import tool_words as names
from .sql_lexer import statements
from .writes import effects_of_intent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DEEPEST = 8
_LONGEST_PATH = 4096
_VIEWERS = frozenset("view read create write edit insert append delete remove rename undo_edit str_replace".split())


class Told(Value):
    """What the arguments tell. text: the equal shell text, "" when there is none. effects: those of the equal file tools."""

    text: str = ""
    effects: tuple[Effect, ...] = ()


def told(intent: Intent, home: str = "") -> Told:
    """What the call's arguments, a JSON object in the intent's content, tell; nothing for other intents and other content."""
    given = _arguments(intent)
    if not given or _is_ours(intent.target):
        return Told()
    tool = _Tool(intent, home)
    texts: list[str] = []
    effects: list[Effect] = []
    for each in _mappings(given):
        arguments = [(names.plain(name), value) for name, value in each.items()]
        texts += tool.texts(arguments)
        effects += tool.files(arguments)
    texts = list(dict.fromkeys(texts))
    # Each in a shell of its own: what one says (`exit`, an open quote) must not hide the next.
    text = texts[0] if len(texts) == 1 else "\n".join(f"bash -c {_quoted(each)}" for each in texts)
    return Told(text, tuple(dict.fromkeys(effects)))


def place_told(intent: Intent, home: str = "") -> str:
    """The folder in which the call's command runs: the one that its arguments name, else the intent's."""
    for each in _mappings(_arguments(intent)):
        for name, value in each.items():
            if names.plain(name) in names.FOLDERS and isinstance(value, str) and value and "\0" not in value:
                return posixpath.normpath(posixpath.join(intent.cwd, _at_home(value, home)))
    return intent.cwd


class _Tool:
    """One call: what its name says, and so what its arguments mean."""

    def __init__(self, intent: Intent, home: str) -> None:
        self.intent = intent
        self.home = home
        self.words = frozenset(names.words_in(intent.target))
        # The verb is the tool's, not the server's: `mcp__file-editor__read` reads.
        self.own = names.words_in(re.split(r"__|:|/|\.", intent.target)[-1])
        known = (names.PROGRAMS[word] for word in (*self.own, *names.words_in(intent.target)) if word in names.PROGRAMS)
        self.program = next(known, "")

    # ------------------------------------------------------------ shell text

    def texts(self, arguments: list[tuple[str, object]]) -> Iterator[str]:
        """The shell texts that these arguments are, or are equal to."""
        beside = " ".join(_words(value) for name, value in arguments if name in names.ARGUMENTS).strip()
        paths = any(name in names.PATHS for name, _ in arguments)
        commands = False
        for name, value in arguments:
            if name in names.COMMANDS and not (paths and value in _VIEWERS):
                for text in _commands(value):
                    commands = True
                    if not (self.words & names.DATABASES and _is_sql(text)):
                        yield f"{text} {beside}".strip()
                        yield from self._of_program(f"{text} {beside}".strip())
                    if _is_sql(text):
                        yield self._client(text)
            elif name in names.SCRIPTS:
                yield from self._scripts(value)
            elif name in names.SQL or (name in names.QUERIES and self._queries_sql(value)):
                yield from (self._client(";\n".join(found)) for found in (_strings(value),) if found)
            elif name in names.URLS and self.words & names.FETCHES:
                yield from (f"curl -sS -- {_quoted(url)}" for url in _strings(value) if "://" in url)
            elif name in names.SUBCOMMANDS and self.program:
                for text in _strings(value):
                    commands = True
                    yield from self._of_program(f"{text} {beside}".strip())
        if beside and not commands:
            if any(name == "argv" for name, _ in arguments):
                yield beside
            yield from self._of_program(beside)
        yield from self._dropped(arguments)

    def _of_program(self, text: str) -> Iterator[str]:
        """The same with the name of the program that the tool is named for, where the text leaves it out."""
        program = self.program.partition(" ")[0]
        first = text.split(None, 1)[0].strip("'\"").rpartition("/")[2]
        if program and first != program and first not in names.PROGRAMS.values():
            yield f"{self.program} {text if program == self.program else _quoted(text)}"

    def _dropped(self, arguments: list[tuple[str, object]]) -> Iterator[str]:
        """`drop-collection`, `drop_table`, and `delete-many` without a filter, of a database's tools: the equal statement."""
        mongo = self.program.startswith("mongosh")
        if not (mongo or self.words & names.DATABASES):
            return
        named = {name: text for name, value in arguments if name in names.DROPPED_NAMES for text in _strings(value)}
        what = next((word.removesuffix("s") for word in self.own if word in names.DROPPED), "")
        if "drop" in self.own and what:
            name = next((text for kind in (what, f"{what}name", "name") if (text := named.get(kind, ""))), "")
            if mongo:
                yield f"mongosh --eval {_quoted(f'db.getCollection({json.dumps(name)}).drop()' if what == 'collection' else 'db.dropDatabase()')}"
            elif name:
                yield self._client(f'DROP {what.upper()} "{name}"')
        elif mongo and "delete" in self.own and "many" in self.own and (name := named.get("collection", named.get("collectionname", ""))):
            if not any(value for argument, value in arguments if argument in ("filter", "query")):
                yield f"mongosh --eval {_quoted(f'db.getCollection({json.dumps(name)}).deleteMany({{}})')}"

    def _scripts(self, value: object) -> Iterator[str]:
        for text in _strings(value):
            if self.words & names.PYTHONS:
                yield f"python3 -c {_quoted(text)}"
            elif self.words & names.DATABASES and _is_sql(text):
                yield self._client(text)
            elif self.words & names.SHELLS and not self.words & names.PAGES:
                yield text

    def _queries_sql(self, value: object) -> bool:
        if self.words & names.SEARCHES and not self.words & names.DATABASES:
            return False
        return any(_is_sql(text) for text in _strings(value))

    def _client(self, sql: str) -> str:
        return f"{'mysql -e' if self.words & {'mysql', 'mariadb'} else 'psql -c'} {_quoted(sql)}"

    # ------------------------------------------------------------ files

    def files(self, arguments: list[tuple[str, object]]) -> Iterator[Effect]:
        """The effects of the file tool that the call amounts to."""
        if self.words & names.ELSEWHERE:
            return
        verb = self._verb(arguments)
        found: dict[str, list[str]] = {"path": [], "source": [], "destination": [], "output": []}
        for name, value in arguments:
            paths = [text for text in _strings(value) if _is_path(text)]
            for role, known in (
                ("path", names.PATHS),
                ("source", names.SOURCES),
                ("destination", names.DESTINATIONS),
                ("output", names.OUTPUTS),
            ):
                if name in known:
                    found[role] += paths
        if verb in ("move", "copy"):
            yield from self._moved(verb, found)
            return
        for path in found["output"]:
            yield from self._effects(IntentType.FILE_WRITE, path)
        kind = {
            "write": IntentType.FILE_WRITE,
            "edit": IntentType.FILE_EDIT,
            "delete": IntentType.FILE_DELETE,
            "": IntentType.FILE_READ,
        }.get(verb)
        whole = verb == "delete" and (
            any(name in ("recursive", "force") and value is True for name, value in arguments)
            or not names.FOLDER_WORDS.isdisjoint(self.own)
        )
        if kind is not None:
            for path in found["path"]:
                yield from self._effects(kind, path, *((("recursive", True),) if whole else ()))

    def _verb(self, arguments: list[tuple[str, object]]) -> str:
        """write | edit | delete | move | copy | look | "" for reading."""
        acts = [value for name, value in arguments if name in ("command", "action", "operation", "mode") and isinstance(value, str)]
        for word in (*self.own, *(word for act in acts for word in names.words_in(act))):
            if word in names.VERBS:
                return names.VERBS[word]
        return ""

    def _moved(self, verb: str, found: dict[str, list[str]]) -> Iterator[Effect]:
        sources = found["source"] or found["path"]
        destinations = found["destination"] or found["output"] or (found["path"][1:] if not found["source"] else found["path"])
        if verb == "move":  # with what it overwrites
            for source in sources:
                yield from self._effects(IntentType.FILE_MOVE, source, ("destination", destinations[0] if destinations else ""))
            return
        for source in sources:
            yield from self._effects(IntentType.FILE_READ, source)
        for destination in destinations:
            yield from self._effects(IntentType.FILE_WRITE, destination)

    def _effects(self, kind: IntentType, path: str, *metadata: tuple[str, object]) -> tuple[Effect, ...]:
        same = Intent(kind, self.intent.content, path, self.intent.cwd, metadata=metadata)
        return effects_of_intent(same, self.home)


def _is_ours(tool: str) -> bool:
    """Whether it is a tool of `instinct mcp`: that one judges each call itself, and holds its approvals for the act, not for the call."""
    return re.fullmatch(names.OURS, tool) is not None


def _arguments(intent: Intent) -> dict[str, object]:
    if intent.type is not IntentType.TOOL_CALL or not intent.content.lstrip().startswith("{"):
        return {}
    try:
        found = json.loads(intent.content)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _mappings(value: object, depth: int = 0) -> Iterator[dict[str, object]]:
    """The object and the objects in it: `{"params": {...}}`, `{"files": [{...}]}`."""
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        yield value
    inner: Iterable[object] = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner:
        yield from _mappings(each, depth + 1)


def _strings(value: object) -> list[str]:
    """The texts of a text or a list of texts; a NUL ends what any program would see of one."""
    return [each.partition("\0")[0] for each in (value if isinstance(value, list) else [value]) if isinstance(each, str) and each.strip()]


def _commands(value: object) -> list[str]:
    """A text, or a list: its words as one command, or where they hold blanks each as one of its own."""
    found = _strings(value)
    if not isinstance(value, list) or not found:
        return found
    vector = " ".join(map(_quoted, found))
    return [vector, *found] if " " in found[0] else [vector]


def _words(value: object) -> str:
    """A list as quoted words; a text is as many words as a shell makes of it."""
    return value if isinstance(value, str) and "\0" not in value else " ".join(map(_quoted, _strings(value)))


def _is_sql(text: str) -> bool:
    """Whether some statement of the text begins as SQL does."""
    begins = re.compile(names.STATEMENT, re.IGNORECASE | re.DOTALL)
    return any(isinstance(piece, str) and begins.match(piece) for piece in statements(text, "postgres"))


def _is_path(text: str) -> bool:
    return len(text) <= _LONGEST_PATH and "\n" not in text and ("://" not in text or text.startswith("file://"))


def _at_home(path: str, home: str) -> str:
    return home + path[1:] if home and (path == "~" or path.startswith("~/")) else path


def _quoted(text: str) -> str:
    """Always quoted: shlex.quote leaves `A=1` and `if` bare, which as the first word of a list are no program's name to a shell."""
    return "'" + text.replace("'", "'\\''") + "'"


__all__ = ["Told", "place_told", "told"]
