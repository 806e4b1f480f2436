"""What the jail's file tree looks like, worked out as a plain value before anything is mounted.

The view is the host's tree, read-only, with layers on top. The deepest layer over a path decides. INVARIANT: `Plan.access` says about a path what
the mounts will do to it (tests/contract/test_jail_view.py compares the two).
"""

from __future__ import annotations

from enum import StrEnum

from ...model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class LayerKind(StrEnum):
    WRITABLE = "writable"  # the host's folder or file with its own rights
    READ_ONLY = "read-only"  # a protected path inside a writable one
    SHOWN = "shown"  # a host path, read-only, inside a fresh or hidden folder
    HIDDEN = "hidden"  # a folder without entries or a file without content
    SOCKET = "socket"  # as hidden, a socket of a program outside: it may come and go, and its folders need not keep their names
    FRESH = "fresh"  # an empty private folder in memory
    PINNED_LINK = "pinned-link"  # a symbolic link that can be neither replaced nor renamed


# on the same path the stricter one counts
_STRICTNESS = {
    LayerKind.WRITABLE: 0,
    LayerKind.SHOWN: 0,
    LayerKind.FRESH: 1,
    LayerKind.READ_ONLY: 2,
    LayerKind.PINNED_LINK: 2,
    LayerKind.SOCKET: 3,
    LayerKind.HIDDEN: 4,
}


class Layer(Value):
    """One mount of the view. Layers are carried out in the order of `Plan.layers`: parents before children."""

    kind: LayerKind
    path: str


class Plan(Value):
    """The layers in mounting order, and the folders that must keep their names because something below them is protected.

    crowded: fresh or hidden folders in which later layers need a place to be mounted on.
    """

    layers: tuple[Layer, ...] = ()
    pins: tuple[str, ...] = ()
    crowded: tuple[str, ...] = ()

    def layer_over(self, path: str) -> Layer | None:
        """The deepest layer that holds `path`; None where the read-only host tree shows."""
        for layer in reversed(self.layers):
            if is_within(path, layer.path):
                return layer
        return None

    def access(self, path: str) -> str:
        """`rw`, `r`, or `` when the host's object of this name is not to be seen inside."""
        layer = self.layer_over(path)
        if layer is None or layer.kind in (LayerKind.READ_ONLY, LayerKind.SHOWN, LayerKind.PINNED_LINK):
            return "r"
        return "rw" if layer.kind is LayerKind.WRITABLE else ""

    def writable(self) -> tuple[str, ...]:
        """Every path below which Landlock has to grant write rights."""
        return tuple(layer.path for layer in self.layers if layer.kind in (LayerKind.WRITABLE, LayerKind.FRESH))


def is_within(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or lies below it, by name; both absolute and normal."""
    return path == folder or path.startswith(folder if folder.endswith("/") else folder + "/")


def layered(wanted: Iterable[Layer]) -> Plan:
    """Sorts the wanted layers, drops those that change nothing, and finds the pins.

    Protecting what nothing makes writable, or hiding inside what is hidden, changes nothing.
    """
    strictest: dict[str, Layer] = {}
    for layer in wanted:
        known = strictest.get(layer.path)
        if known is None or _STRICTNESS[layer.kind] > _STRICTNESS[known.kind]:
            strictest[layer.path] = layer
    kept: list[Layer] = []
    pins: set[str] = set()
    crowded: set[str] = set()
    for path in sorted(strictest, key=lambda path: (path.count("/"), path)):
        layer = strictest[path]
        around = _around(kept, path)
        if _changes_nothing(layer, around):
            continue
        kept.append(layer)
        if around is None:
            continue
        if around.kind is LayerKind.WRITABLE and layer.kind is not LayerKind.SOCKET:
            pins.update(_between(around.path, path))
        elif around.kind in (LayerKind.FRESH, LayerKind.HIDDEN):
            crowded.add(around.path)
    return Plan(layers=tuple(kept), pins=tuple(sorted(pins)), crowded=tuple(sorted(crowded)))


def _around(kept: list[Layer], path: str) -> Layer | None:
    for layer in reversed(kept):
        if is_within(path, layer.path):
            return layer
    return None


def _changes_nothing(layer: Layer, around: Layer | None) -> bool:
    surroundings = around.kind if around else LayerKind.READ_ONLY
    match layer.kind:
        case LayerKind.WRITABLE:
            return surroundings is LayerKind.WRITABLE
        case LayerKind.READ_ONLY | LayerKind.PINNED_LINK:
            return surroundings is not LayerKind.WRITABLE
        case LayerKind.SHOWN:
            return surroundings not in (LayerKind.FRESH, LayerKind.HIDDEN)
        case LayerKind.HIDDEN | LayerKind.SOCKET:
            return surroundings in (LayerKind.HIDDEN, LayerKind.FRESH)
        case LayerKind.FRESH:
            return False


def _between(top: str, path: str) -> list[str]:
    """The folders strictly between the two."""
    names = path[len(top.rstrip("/")) + 1 :].split("/")[:-1]
    return [f"{top.rstrip('/')}/{'/'.join(names[: i + 1])}" for i in range(len(names))]
