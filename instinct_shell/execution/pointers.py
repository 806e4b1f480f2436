"""What the tools of clusters and clouds have selected: kube context, terraform workspace and state, gcloud project, docker context.

Read from their own files, line by line where those are YAML or INI: no tool is started and no parser is needed for one key.
"""

from __future__ import annotations

import json
import posixpath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    TextOf = Callable[[str], str]


def selected(tool: str, path: str, text_of: TextOf) -> str:
    """The names of the selected place, separated by spaces; "" when nothing is selected or nothing may be read.

    text_of: the text of a file, "" when it is absent or hidden from the command.
    """
    match tool:
        case "kube":
            return _kube(text_of(path))
        case "terraform":
            return _terraform(path, text_of)
        case "gcloud":
            chosen = text_of(posixpath.join(path, "active_config")).strip()
            project = _ini(text_of(posixpath.join(path, "configurations", f"config_{chosen}")), "project") if _plain(chosen) else ""
            return f"{chosen} {project}".strip()
        case "docker":
            context = _json(text_of(path)).get("currentContext")
            return context if isinstance(context, str) else ""
        case _:
            return ""


def _kube(text: str) -> str:
    """The current context with its cluster and namespace."""
    current = ""
    for line in text.splitlines():
        if line.startswith("current-context:"):
            current = line.partition(":")[2].strip().strip("'\"")
    if not current:
        return ""
    found = [current]
    # One entry of `contexts:` is a handful of lines around its name.
    entry: list[str] = []
    entries: list[list[str]] = []
    inside = False
    for line in text.splitlines():
        if not line.startswith((" ", "-")):
            inside = line.startswith("contexts:")
        elif inside:
            if line.lstrip().startswith("- "):
                entry = []
                entries.append(entry)
            entry.append(line.strip().removeprefix("- "))
    for entry in entries:
        values = dict(line.partition(":")[::2] for line in entry)
        if values.get("name", "").strip().strip("'\"") == current:
            found += [value.strip().strip("'\"") for key, value in values.items() if key in ("cluster", "namespace") and value.strip()]
    return " ".join(dict.fromkeys(found))


def _terraform(folder: str, text_of: TextOf) -> str:
    """The selected workspace, and where the state lies."""
    hidden = posixpath.join(folder, ".terraform")
    found = [text_of(posixpath.join(hidden, "environment")).strip()]
    backend = _json(text_of(posixpath.join(hidden, "terraform.tfstate"))).get("backend")
    config = backend.get("config") if isinstance(backend, dict) else None
    if isinstance(config, dict):
        found += [
            str(config[key])
            for key in ("bucket", "key", "prefix", "path", "container_name", "organization")
            if isinstance(config.get(key), str)
        ]
        workspaces = config.get("workspaces")
        names = workspaces if isinstance(workspaces, list) else [workspaces]
        found += [each["name"] for each in names if isinstance(each, dict) and isinstance(each.get("name"), str)]
    return " ".join(each for each in found if each and each != "default")


def _json(text: str) -> dict[str, object]:
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _ini(text: str, key: str) -> str:
    return next((line.partition("=")[2].strip() for line in text.splitlines() if line.partition("=")[0].strip() == key), "")


def _plain(name: str) -> bool:
    return bool(name) and name.replace("-", "").replace("_", "").isalnum()
