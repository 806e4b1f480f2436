"""Names of packages that a text brings in: imports of Python and JavaScript, lines of requirement files, pyproject.toml and package.json.

A name that the project has already (a file, an installed package, a manifest, the standard library) says nothing. Of the others each is looked
up among the well-known ones (known_packages): one letter beside one of them is what a slip or a planted package looks like.
"""

from __future__ import annotations

import ast
import json
import os
import re
import sys
import warnings

from .known_packages import MANIFESTS, look_up, mentions, normal

MOST = 5
LEAST_LOOKALIKE = 5  # shorter names are too near to each other to say anything
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(@?)")
_JS_IMPORT = re.compile(r"""(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*['"]([^'"\n]+)['"]""")
_FOREIGN = re.compile(r"^(?:git\+|git:|git@|https?:|github:|gitlab:|bitbucket:|ssh:|[\w.-]+/[\w.-]+(?:#|$))")
_LOCAL = ("file:", "link:", "workspace:", "portal:", "catalog:", ".", "/")
# What is imported under another name than the one it is installed by.
_ALIASES = frozenset(
    "attr yaml cv2 PIL sklearn bs4 dateutil dotenv jwt git docx pptx fitz magic serial usb Crypto OpenSSL MySQLdb psycopg2 google "
    "pkg_resources mpl_toolkits skimage jose slugify websocket zmq nacl dns ldap gi cairo wx win32api pythoncom pylab umap faiss igraph "
    "Levenshtein bson gridfs rest_framework corsheaders crispy_forms environ decouple flask_cors socks markdown_it grpc pywt ruamel "
    "_pytest setuptools pip distutils".split()
)
_NODE = frozenset(
    "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events fs http http2 "
    "https inspector module net os path perf_hooks process punycode querystring readline repl stream string_decoder sys test timers tls "
    "tty url util v8 vm wasi worker_threads zlib electron vscode bun".split()
)


def strange_names(path: str, before: str, after: str, workspace: str) -> list[dict[str, object]]:
    """What comes in and is not known: {"name", "manager", "near": a well-known name beside it or "", "manifest": it stands in a manifest,
    "foreign": it comes from a URL or git}. At most five; imports are named only when they look like another name or cannot be found anywhere."""
    name = os.path.basename(path)
    found: list[dict[str, object]] = []
    if name == "package.json" or _is_requirements(name) or name == "pyproject.toml":
        read = _package_json if name == "package.json" else _pyproject if name == "pyproject.toml" else _requirements
        manager = "npm" if name == "package.json" else "pip"
        there = read(before)
        for package, foreign in read(after).items():
            if package in there and there[package] == foreign:
                continue
            known, near = look_up(manager, package)
            if foreign or (not known and not _own(manager, package, workspace)):
                found.append({"name": package, "manager": manager, "near": near, "manifest": True, "foreign": foreign})
    elif path.endswith((".py", ".pyi")):
        for module in _python_imports(after) - _python_imports(before):
            if not _python_has(module, path, workspace):
                found += _import(module, "pip")
    elif path.endswith((".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte")):
        for package in _js_imports(after) - _js_imports(before):
            if not _js_has(package, path, workspace):
                found += _import(package, "npm")
    return sorted(found, key=lambda each: (not each["near"], str(each["name"])))[:MOST]


def _import(name: str, manager: str) -> list[dict[str, object]]:
    known, near = look_up(manager, name)
    if known:
        return []
    near = near if len(name) >= LEAST_LOOKALIKE and normal(manager, name) != normal(manager, near) else ""
    return [{"name": name, "manager": manager, "near": near, "manifest": False, "foreign": ""}]


# ---------------------------------------------------------------- imports


def _python_imports(text: str) -> set[str]:
    """The first names of absolute imports; () for a text that cannot be read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.encode("utf-8", "surrogateescape"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            found.add(node.module.partition(".")[0])
    return found


def _python_has(module: str, path: str, workspace: str) -> bool:
    if module in sys.stdlib_module_names or module in _ALIASES or module.startswith("_"):
        return True
    for folder in (
        *_upwards(path, workspace),
        *(f"{workspace}/{name}" for name in ("src", "lib", "python", "app", "backend", "server", "tests")),
    ):
        if os.path.lexists(f"{folder}/{module}") or os.path.lexists(f"{folder}/{module}.py") or os.path.lexists(f"{folder}/{module}.pyi"):
            return True
    for venv in (".venv", "venv", "env"):
        try:
            versions = os.listdir(f"{workspace}/{venv}/lib")
        except OSError:
            continue
        for version in versions:
            place = f"{workspace}/{venv}/lib/{version}/site-packages/{module}"
            if os.path.lexists(place) or os.path.lexists(f"{place}.py"):
                return True
    return _declared("pip", module, workspace) or _declared("pip", module.replace("_", "-"), workspace)


def _js_imports(text: str) -> set[str]:
    found = set()
    for match in _JS_IMPORT.finditer(text):
        parts = match[1].split("/")
        if match[1].startswith((".", "/", "~", "#", "@/", "$")) or ":" in parts[0] or "!" in match[1]:
            continue
        found.add("/".join(parts[:2]) if parts[0].startswith("@") else parts[0])
    return found


def _js_has(package: str, path: str, workspace: str) -> bool:
    if package in _NODE:
        return True
    for folder in _upwards(path, workspace):
        if os.path.lexists(f"{folder}/node_modules/{package}") or (
            os.path.isdir(f"{folder}/{package}") and folder != os.path.dirname(path)
        ):
            return True
    return _own("npm", package, workspace) or any(_declared("npm", package, folder) for folder in _upwards(path, workspace))


def _upwards(path: str, workspace: str) -> list[str]:
    found, folder = [], os.path.dirname(path)
    while folder.startswith(workspace) and len(folder) >= len(workspace):
        found.append(folder)
        if folder == "/":
            break
        folder = os.path.dirname(folder)
    return found or [workspace]


def _declared(manager: str, name: str, folder: str) -> bool:
    return any(mentions(_text(f"{folder}/{manifest}"), name) for manifest in MANIFESTS.get(manager, ()))


def _text(path: str) -> str:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), encoding="utf-8", errors="replace") as file:
            return file.read(1 << 18)
    except OSError:
        return ""


# ---------------------------------------------------------------- manifests


def _is_requirements(name: str) -> bool:
    return name.endswith((".txt", ".in")) and ("requirements" in name or name.startswith("constraints"))


def _requirements(text: str) -> dict[str, str]:
    """Package -> where it comes from when that is not the index."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        line = line.partition(" #")[0].strip()
        option = re.match(r"(?:--extra-index-url|--index-url|-i|--find-links|-f)[ =]+(\S+)", line)
        if option:
            found[option[1].partition("://")[2].partition("/")[0].rpartition("@")[2] or "index"] = "another index"
        elif line.startswith(("git+", "http:", "https:")) or re.match(r"-e\s+(?:git\+|https?:)", line):
            found[line.rpartition("#egg=")[2].rpartition("/")[2][:60] or "package"] = "a URL"
        elif line and not line.startswith(("#", "-", ".", "/")):
            _add(found, line)
    return found


def _add(found: dict[str, str], line: str) -> None:
    match = _REQUIREMENT.match(line)
    if match:
        where = line[match.end() :].strip() if match[2] else ""
        found[match[1]] = "a URL" if where and not where.startswith("file:") else ""


def _pyproject(text: str) -> dict[str, str]:
    import tomllib

    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}
    found: dict[str, str] = {}
    project, poetry = _table(data, "project"), _table(_table(data, "tool"), "poetry")
    groups = [project.get("dependencies"), *_table(project, "optional-dependencies").values(), *_table(data, "dependency-groups").values()]
    for group in groups:
        for line in group if isinstance(group, list) else ():
            if isinstance(line, str):
                _add(found, line)
    for table in (
        _table(poetry, "dependencies"),
        *(_table(group, "dependencies") for group in _table(poetry, "group").values() if isinstance(group, dict)),
    ):
        for name, wanted in table.items():
            if name != "python" and not (isinstance(wanted, dict) and "path" in wanted):
                found[name] = "a URL" if isinstance(wanted, dict) and {"git", "url"} & set(wanted) else ""
    own = project.get("name")
    return {name: where for name, where in found.items() if name != own}


def _package_json(text: str) -> dict[str, str]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    found: dict[str, str] = {}
    for group in ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies"):
        for name, wanted in _table(data, group).items():
            if isinstance(wanted, str) and not wanted.startswith(_LOCAL):
                alias = wanted.removeprefix("npm:").rpartition("@")[0] if wanted.startswith("npm:") else ""
                found[alias or name] = "a URL" if _FOREIGN.match(wanted) else ""
    return found


def _table(data: object, name: str) -> dict[str, object]:
    found = data.get(name) if isinstance(data, dict) else None
    return found if isinstance(found, dict) else {}


def _own(manager: str, package: str, workspace: str) -> bool:
    """Whether the name belongs to the project itself: its npm scope, a folder of its workspace."""
    if manager != "npm":
        return os.path.isdir(f"{workspace}/{package}") or os.path.isdir(f"{workspace}/{package.replace('-', '_')}")
    scope = package.partition("/")[0] if package.startswith("@") else ""
    try:
        own = json.loads(_text(f"{workspace}/package.json") or "{}").get("name", "")
    except (ValueError, AttributeError):
        return False
    return isinstance(own, str) and (own == package or bool(scope and own.startswith(scope + "/")))
