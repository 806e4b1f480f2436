"""JavaScript's ways to name modules: require, import, destructuring. Each binds local names to `module.member`."""

from __future__ import annotations

from .python_values import UNKNOWN, Ref, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .code_chain import Chains as Reader


def module_name(text: str) -> str:
    """`node:fs/promises` is `fs`."""
    name = text.removeprefix("node:")
    return {
        "fs/promises": "fs",
        "graceful-fs": "fs",
        "timers/promises": "timers",
        "mysql2/promise": "mysql2",
        "execa/index.js": "execa",
    }.get(name, name)


def declaration(reader: Reader, word: str, at: int) -> int | None:
    """`const {a, b: c} = X`, `import a, {b as c} from "x"`, `import * as a from "x"`; the index after it, None for a plain one."""
    if word == "export":
        return at + 1
    if word == "import":
        if reader.peek(at + 1) == "(":
            return None
        return _imports(reader, at + 1)
    if reader.peek(at + 1) not in ("{", "["):
        return None
    names: list[tuple[str, str]] = []
    index = at + 2
    closer = "}" if reader.peek(at + 1) == "{" else "]"
    while index < len(reader.tokens) and reader.peek(index) != closer:
        name = reader.peek(index)
        if (name and name[0].isalpha()) or (name[:1] in "_$" and name):
            if reader.peek(index + 1) == ":" and reader.peek(index + 2):
                names.append((name, reader.peek(index + 2)))
                index += 3
                continue
            names.append((name, name))
        index += 1
    if reader.peek(index + 1) != "=":
        return None
    value, after = reader.expression(index + 2)
    for member, local in names:
        if isinstance(value, Ref):
            reader.names[local] = reader.constant(f"{value.name}.{member}")
        elif isinstance(value, Table):
            reader.names[local] = value.get(member) or UNKNOWN
        else:
            reader.names[local] = reader.member(value, member) if closer == "}" else UNKNOWN
    return after


def _imports(reader: Reader, at: int) -> int:
    """The clause of an import statement."""
    end = at
    while end < len(reader.tokens) and reader.tokens[end].kind != "text":
        end += 1
    if end >= len(reader.tokens):
        return at
    module = module_name(reader.tokens[end].text)
    inside = False
    index = at
    while index < end:
        text = reader.peek(index)
        if text in "{}":
            inside = text == "{"
        elif text == "*":
            reader.names[reader.peek(index + 2)] = Ref(module)
            index += 2
        elif text and text not in (",", "from", "type") and (text[0].isalpha() or text[0] in "_$"):
            if reader.peek(index + 1) == "as":
                reader.names[reader.peek(index + 2)] = reader.constant(f"{module}.{text}")
                index += 2
            else:
                reader.names[text] = reader.constant(f"{module}.{text}") if inside else Ref(module)
        index += 1
    return end + 1
