"""Command lines whose options depend on a verb (docker, kubectl, aws, npm ...), and what to do with the words found there.

`derive` splits options by one row a program; programs with subcommands split again here, once for the global options and once for the
verb's own.
"""

from __future__ import annotations

from ..model.effect import Effect, Target, TargetKind
from ..model.value import Value
from ..shell.invocation import Field, Known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .call import Call, Scene


class Split(Value):
    """words: operands in order (verbs first). flags: options without a value. values: (option, its argument). rest: what stood after `--`."""

    words: tuple[Field, ...]
    flags: tuple[str, ...]
    values: tuple[tuple[str, Field], ...]
    rest: tuple[Field, ...] = ()

    def has(self, *names: str) -> bool:
        """Whether any of these options stands there, with or without a value; `--x=false` counts as absent."""
        return any(n in self.flags for n in names) or any(o in names and f.text not in ("false", "0", "no") for o, f in self.values)

    def value(self, *names: str) -> Field | None:
        """The last argument of these options."""
        found = None
        for option, field in self.values:
            if option in names:
                found = field
        return found

    def all(self, *names: str) -> tuple[Field, ...]:
        """Every argument of these options."""
        return tuple(field for option, field in self.values if option in names)

    def verb(self, index: int = 0) -> str:
        """The operand at this place as text; "" when absent or not known."""
        return (self.words[index].text or "") if 0 <= index < len(self.words) else ""


def split(argv: tuple[Field, ...], valued: str = "", *, long_single: bool = False, stop: int = -1) -> Split:
    """Split words into operands and options. valued: the options that take a separate argument, space separated ("-n --namespace").

    long_single: one dash starts a long option (terraform, openssl, java style), so letters are never read as a cluster.
    stop: after that many operands everything else is an operand (docker run IMAGE CMD ...). `--name=value` is always split.
    """
    takes = frozenset(valued.split())
    words: list[Field] = []
    flags: list[str] = []
    values: list[tuple[str, Field]] = []
    rest: tuple[Field, ...] = ()
    index = 0
    while index < len(argv):
        field = argv[index]
        index += 1
        text = field.text
        if stop >= 0 and len(words) >= stop:
            words.append(field)
            continue
        if text == "--":
            rest = argv[index:]
            break
        head = text if text is not None else field.prefix
        if not head.startswith("-") or head == "-":
            words.append(field)
            continue
        name, equals, _tail = head.partition("=")
        if equals and (name.startswith("--") or long_single):
            values.append((name, part_of(field, len(name) + 1)))
        elif head in takes and text is not None:
            if index < len(argv):
                values.append((head, argv[index]))
                index += 1
            else:
                flags.append(head)
        elif head.startswith("--") or long_single:
            flags.append(head)
        else:
            index = _cluster(field, head, takes, argv, index, flags, values)
    return Split(tuple(words), tuple(flags), tuple(values), rest)


def _cluster(
    field: Field, head: str, takes: frozenset[str], argv: tuple[Field, ...], index: int, flags: list[str], values: list[tuple[str, Field]]
) -> int:
    """Letters behind one dash: -it, -nprod, -n prod. Returns the index of the next word."""
    for at in range(1, len(head)):
        letter = "-" + head[at]
        if letter not in takes:
            flags.append(letter)
            continue
        if at + 1 < len(head) or field.text is None:
            skip = at + 2 if head[at + 1 : at + 2] == "=" else at + 1
            values.append((letter, part_of(field, skip)))
        elif index < len(argv):
            values.append((letter, argv[index]))
            index += 1
        else:
            flags.append(letter)
        break
    return index


def part_of(field: Field, skip: int) -> Field:
    """The field without its first `skip` characters (which are literal)."""
    if field.known is Known.DYNAMIC:
        return field.replace(prefix=field.prefix[skip:])
    return field.replace(values=tuple(value[skip:] for value in field.values))


def head_of(field: Field) -> str:
    """The literal beginning of a word: its one value, else what is known in front."""
    return field.text if field.text is not None else field.prefix


def shown(field: Field | None) -> str:
    """A field as text for a message or an attribute: its value, the alternatives, or its literal ends."""
    if field is None:
        return ""
    if field.values:
        return "|".join(field.values[:4])
    return f"{field.prefix}…{field.suffix}"


def possible(field: Field | None) -> tuple[str, ...]:
    """Every value the field may have; empty when it is unknown."""
    return field.values if field is not None else ()


def variables_of(call: Call, scene: Scene) -> dict[str, Field]:
    """The variables that the command sees, as far as the text sets them: exported earlier, or in front of it."""
    return dict((*scene.variables, *call.invocation.env, *call.invocation.assignments))


def spoken(field: Field | None) -> str:
    """A word as text; an unknown one by the variables it is made of, so that `$PROD_URL` says prod."""
    if field is None:
        return ""
    if field.known is not Known.DYNAMIC and field.values and any(field.values):
        return field.values[0]
    names = [f"${origin.detail}" for origin in field.origins if origin.kind in ("variable", "positional") and origin.detail]
    names += [f"${name}" for name in field.unset if f"${name}" not in names]
    return field.prefix + "".join(names) + field.suffix


_ENVIRONMENT = (
    "DATABASE_URL RAILS_ENV RACK_ENV NODE_ENV APP_ENV DJANGO_SETTINGS_MODULE MIX_ENV FLASK_ENV ENV ENVIRONMENT "
    "DB_HOST DATABASE_HOST PGHOST "
    "PGDATABASE SQLALCHEMY_DATABASE_URI MONGODB_URI DB_URL SPRING_PROFILES_ACTIVE ASPNETCORE_ENVIRONMENT STAGE"
).split()


def environment_text(call: Call, scene: Scene) -> str:
    """The variables of the command that say where it points, as text: `RAILS_ENV=production`, `DATABASE_URL=$PROD_URL`."""
    variables = {name: spoken(field) for name, field in variables_of(call, scene).items()}
    return " ".join(f"{name}={variables[name]}" for name in _ENVIRONMENT if variables.get(name))[:120]


def with_attributes(effect: Effect, **attributes: str) -> Effect:
    """The effect with these attributes added; the ones it already has stay when the new value is empty."""
    merged = dict(effect.attributes)
    merged.update({name: value for name, value in attributes.items() if value})
    return effect.replace(attributes=tuple(sorted(merged.items())))


def thing(text: str | Field | None) -> Target:
    """An OBJECT target: a resource, package, database object."""
    if text is None or isinstance(text, str):
        return Target(TargetKind.OBJECT, text or "")
    return Target(TargetKind.OBJECT, shown(text), text.reason if text.known is Known.DYNAMIC else "")
