r"""Text whose language takes files in: `#include`, `.incbin`, `\input`, `importstr`, `readFile`, `.. include::`. A secret that is named there is read.

The text stands in a word, comes in on stdin, or is a file that the same line wrote or the caller gave. Other files are the project's own.
"""

from __future__ import annotations

import re

from ..model.effect import Certainty, Effect, EffectKind
from ..shell.invocation import literal
from .call import Call, Scene, path_targets
from .flow import looks_secret
from .output import stdin_text
from .roles import path_effects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_C = r"""(?m)^[ \t]*(?:#|%)[ \t]*(?:include|include_next|embed|import|depend)[ \t]*["<]([^">\n]+)|\.?\b(?:incbin|include)[ \t]+["']([^"'\n]+)"""
_TEX = r"\\(?:input|include|verbatiminput|lstinputlisting|VerbatimInput|InputIfFileExists|openin\d*=?)\s*(?:\[[^\]]*\])?\s*\{?([^}\s\\]+)"
_NIX = r"(?:readFile|import|builtins\.path|importJSON|importTOML)\s+(?:\()?\"?([^\s\")};]+)"
_HCL = r"\b(?:file|filebase64|filesha256|templatefile|fileset|yamldecode\(file)\s*\(\s*\"([^\"]+)\""
_DOC = r"(?m)\binclude::([^\[\n]+)\[|^\s*\.\.\s+(?:include|literalinclude|raw)::\s*(\S+)|:file:\s*(\S+)|^\.(?:so|mso|psbb)\s+(\S+)"
_TEMPLATE = r"\{%-?\s*(?:include|import|extends|from)\s+[\"']([^\"']+)|\binclude\s*\(\s*[\"']([^\"']+)"
_LOOKUP = r"lookup\(\s*['\"](?:ansible\.builtin\.)?(?:file|template|unvault|ini|csvfile|lines)['\"]\s*,\s*['\"](?:cat\s+)?([^'\"]+)"
# Programs -> the directive of their language; one group of it is the path.
_ROWS = (
    ("gcc g++ cc c++ clang clang++ cpp tcc nvcc as gas nasm yasm ld mcpp fpp gfortran rustc zig", _C),
    ("pdflatex xelatex lualatex latex tex pdftex luatex xetex tectonic latexmk", _TEX),
    ("nix nix-instantiate nix-build nix-shell nix-env", _NIX),
    ("terraform tofu opentofu terragrunt", _HCL),
    ("jsonnet jrsonnet tk", r"\bimport(?:str|bin)?\s+[\"']([^\"']+)"),
    ("dhall dhall-to-json dhall-to-yaml", r"((?:\.{0,2}/|~/)\S+)\s+as\s+(?:Text|Bytes|Location)"),
    ("asciidoctor asciidoc asciidoctor-pdf rst2html rst2latex rst2man rst2xml docutils pandoc groff troff nroff man mandoc sphinx-build", _DOC),
    ("jinja2 j2 jinja2-cli minijinja-cli gomplate ytt", _TEMPLATE),
    ("ansible ansible-playbook ansible-console", _LOOKUP),
)
INCLUDERS: dict[str, str] = {name: pattern for names, pattern in _ROWS for name in names.split()}


def included(call: Call, scene: Scene) -> Iterator[Effect]:
    """The secrets that the text of a call takes in by name."""
    pattern = INCLUDERS[call.name]
    texts: list[tuple[str | None, str]] = [(word.text, "") for word in call.argv if word.text and len(word.text) > 8 and re.search(r"[\s(\"']", word.text)]
    if call.invocation.stdin.kind in ("text", "pipe", "file"):
        texts.append((stdin_text(call.invocation, scene), ""))
    for word in call.argv if scene.files else ():
        if word.text and not word.text.startswith("-"):
            texts += [(scene.files.get(target.text), target.text) for target, _ in path_targets(word, call.invocation.cwd)]
    for text, path in texts:
        for match in re.finditer(pattern, text or ""):
            name = next(group for group in match.groups() if group)
            if looks_secret("/" + name.strip()):
                beside = literal(path.rpartition("/")[0]) if path and not name.startswith("/") else call.invocation.cwd
                for cwd in dict.fromkeys((beside, call.invocation.cwd)):
                    for effect in path_effects(call, EffectKind.FILE_READ, literal(name.strip()), cwd, scene, prints="1"):
                        yield effect.replace(certainty=Certainty.POSSIBLE)


__all__ = ["INCLUDERS", "included"]
