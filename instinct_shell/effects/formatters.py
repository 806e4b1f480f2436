"""Formatters and fixers: they rewrite, in place, the files they are given by name. One line a tool: which words make it write.

A folder or a pattern (`prettier --write .`, `black src`) means the sources below it, as the tool's own configuration chooses them, so only files
that are named count; without the words a tool only reports.
"""

from __future__ import annotations

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..model.value import Value
from ..shell.invocation import Field
from .call import Call, Program, Scene
from .flow import is_source, looks_secret
from .holes import is_hole
from .roles import file_effects
from .verbs import Split, shown, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_OPTIONS = (
    "-c --config --config-path --parser --ignore-path --plugin --log-level -l --line-length --line-width -t --target-version --exclude "
    "--extend-exclude --include --ext -f --format -o --output-file --rule --rulesdir --fix-type --max-warnings --cache-location --stdin-filename "
    "--stdin-filepath --style -style -i= --indent --select --ignore --extend-select --extend-ignore -j --jobs -p --project --dialect -r --rules "
    "--resolve-plugins-relative-to --edition --assume-filename -D --disable -S -w= -L --ignore-words --skip --profile --print-width --tab-width "
    "--only --cop -m --tags"
)


class Fixer(Value):
    """writes: options, or a leading verb, with one of which the files are rewritten; "always" when they are without any. looks: what undoes that.

    verbs: first operands that are no files.
    """

    writes: str
    looks: str = "--check --diff --help --version -h --list-different"
    verbs: str = ""


FIXERS: dict[str, Fixer] = {
    "prettier": Fixer("--write -w", "--help --version"),
    "prettierd": Fixer("", ""),
    "eslint": Fixer("--fix", "--fix-dry-run"),
    "stylelint": Fixer("--fix"),
    "tslint": Fixer("--fix"),
    "standard": Fixer("--fix"),
    "xo": Fixer("--fix"),
    "oxlint": Fixer("--fix --fix-suggestions --fix-dangerously"),
    "biome": Fixer("--write --fix --apply --apply-unsafe", "", "format check lint ci"),
    "dprint": Fixer("fmt", "", "fmt check"),
    "black": Fixer("always", "--check --diff -h --help --version -c --code --color-diff"),
    "ruff": Fixer("format --fix --fix-only", "--check --diff -h --help", "check format rule linter clean server"),
    "isort": Fixer("always", "--check --check-only --diff -c -d -h --help --stdout"),
    "autopep8": Fixer("-i --in-place"),
    "yapf": Fixer("-i --in-place", "-d --diff -q --quiet-check"),
    "pyupgrade": Fixer("always"),
    "autoflake": Fixer("-i --in-place", "-c --check --check-diff"),
    "docformatter": Fixer("-i --in-place"),
    "rustfmt": Fixer("always", "--check --help --version --emit"),
    "gofmt": Fixer("-w"),
    "gofumpt": Fixer("-w"),
    "goimports": Fixer("-w"),
    "golines": Fixer("-w"),
    "clang-format": Fixer("-i"),
    "shfmt": Fixer("-w --write"),
    "rubocop": Fixer("-a -A --autocorrect --auto-correct --autocorrect-all --auto-correct-all --fix-layout -x"),
    "standardrb": Fixer("--fix"),
    "php-cs-fixer": Fixer("fix", "--dry-run", "fix check list-files describe"),
    "ktlint": Fixer("-F --format"),
    "swiftlint": Fixer("--fix --autocorrect autocorrect", "", "lint autocorrect analyze"),
    "swiftformat": Fixer("always", "--lint --dryrun --help"),
    "stylua": Fixer("always"),
    "taplo": Fixer("fmt format", "--check --diff -", "fmt format lint check"),
    "djlint": Fixer("--reformat"),
    "sqlfluff": Fixer("fix format", "--help", "fix format lint parse"),
    "markdownlint": Fixer("-f --fix"),
    "markdownlint-cli2": Fixer("--fix"),
    "codespell": Fixer("-w --write-changes"),
    "ormolu": Fixer("-i --inplace --mode"),
    "fourmolu": Fixer("-i --inplace --mode"),
    "svgo": Fixer("always", "-o --output -h --help"),
    "buf": Fixer("-w --write", "", "format lint build breaking generate"),
    "nixfmt": Fixer("always", "--check -c"),
    "alejandra": Fixer("always", "--check -c"),
    "sort-package-json": Fixer("always", "--check --help"),
    "mdformat": Fixer("always"),
    "yamlfmt": Fixer("always", "-lint -dry"),
    "yamlfix": Fixer("always"),
    "add-trailing-comma": Fixer("always"),
    "end-of-file-fixer": Fixer("always"),
    "trailing-whitespace-fixer": Fixer("always"),
    "pretty-format-json": Fixer("--autofix"),
}


def fixer(call: Call, scene: Scene) -> Iterator[Effect]:
    """A formatter or a linter that can mend what it finds."""
    row = FIXERS[call.name]
    words = split(call.argv, " ".join(option for option in _OPTIONS.split() if option not in row.writes.split()))
    yield call.effect(EffectKind.PROCESS_SPAWN, Target(TargetKind.NAME, call.name))
    for option in ("-o", "--output-file"):
        for field in words.all(option):
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, field)
    verb = words.verb() if words.verb() in row.verbs.split() else ""
    kind = EffectKind.FILE_WRITE if _writes(row, words, verb) else EffectKind.FILE_READ
    for field in words.words[bool(verb) :]:
        name = shown(field)
        secret = looks_secret("/" + name)
        if _is_file(field) and not is_hole(name) and not (secret and is_source(name)) and (secret or kind is EffectKind.FILE_WRITE):
            yield from file_effects(call, scene, kind, field, in_place="1" if kind is EffectKind.FILE_WRITE else "")


def _writes(row: Fixer, words: Split, verb: str) -> bool:
    if words.has(*row.looks.split()):
        return False
    return row.writes == "always" or words.has(*row.writes.split()) or (bool(verb) and verb in row.writes.split())


def _is_file(field: Field) -> bool:
    """Whether a word names a file rather than a folder, a pattern of sources, or stdin."""
    name = shown(field)
    return name not in ("-", ".", "..", "") and not name.startswith("!") and not name.endswith("/") and not any(c in name for c in "*{")


PROGRAMS: tuple[Program, ...] = (Program(tuple(FIXERS), style="raw", describe=fixer, summary="rewrites the files it is given in the project's style"),)
