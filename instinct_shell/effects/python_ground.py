"""What all parts of the Python reader stand on: the call, the scene, the effects found so far, and the parts' names for each other."""

from __future__ import annotations

import ast

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field
from .call import Call, Scene
from .python_names import FUNCTIONS
from .roles import weakest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


Args = tuple[object, ...]
Named = dict[str, object]


class Ground:
    """State of one reader. Methods that raise NotImplementedError belong to a part named in their docstring."""

    def __init__(self, call: Call, scene: Scene, argv: tuple[Field, ...], path: str, depth: int) -> None:
        self.call = call
        self.scene = scene
        self.argv = argv
        self.path = path
        self.depth = depth
        self.sure = Certainty.CERTAIN
        self.effects: list[Effect] = []
        self.names: dict[str, object] = {}
        self.stars: list[str] = []
        self.filter = ""
        self.connected = ""
        self.duplicated = False

    def add(self, kind: EffectKind, target: Target | None = None, extra: dict[str, str] | None = None, /, **attributes: str) -> None:
        """An effect with the certainty of this place in the code."""
        self.effects.append(
            self.call.effect(kind, target, {**attributes, **(extra or {})}, certainty=weakest(self.call.certainty, self.sure))
        )

    def opaque(self, source: str, reason: str) -> None:
        """Code that runs and cannot be read."""
        self.effects.append(
            self.call.effect(
                EffectKind.CODE_OPAQUE,
                Target(TargetKind.NONE, ""),
                certainty=weakest(self.call.certainty, Certainty.POSSIBLE),
                language="python",
                reason=reason,
                source=source,
                dynamic="interpreter",
            )
        )

    def source(self, field: Field) -> str:
        """Where unknown text comes from, for `code.opaque`."""
        kinds = {origin.kind for origin in field.origins}
        return next((kind for kind in ("network", "file", "stdin", "generated", "env") if kind in kinds), "variable")

    def knows(self, name: str) -> bool:
        """Whether a dotted name is in the table."""
        return name in FUNCTIONS

    def value(self, node: ast.expr) -> object:
        """python_code: the value of an expression."""
        raise NotImplementedError

    def item_of(self, iterable: object) -> object:
        """python_flow: one value that stands for each item."""
        raise NotImplementedError

    def enter(self, local: object, args: Args, named: Named) -> object:
        """python_flow: follows a function of the text."""
        raise NotImplementedError

    def invoke(self, function: object, args: Args, named: Named) -> object:
        """python_calls: calls a value."""
        raise NotImplementedError

    def method(self, base: object, name: str, args: Args, named: Named, node: ast.Call | None) -> object:
        """python_calls: a method of a value."""
        raise NotImplementedError

    def thing_method(self, base: object, name: str, args: Args, named: Named, node: ast.Call | None) -> object:
        """python_things: a method of anything that is no text."""
        raise NotImplementedError

    def touch(self, kind: EffectKind, value: object, **attributes: str) -> None:
        """python_files: an effect on the path that a value names."""
        raise NotImplementedError

    def content(self, path: object) -> object:
        """python_files: what a file holds."""
        raise NotImplementedError

    def opened(self, path: object, mode: object) -> object:
        """python_files: a file opened in a mode."""
        raise NotImplementedError

    def process(self, words: Iterable[Field], named: Named) -> None:
        """python_processes: an argument vector runs."""
        raise NotImplementedError

    def shell_text(self, value: object, named: Named | None = None) -> None:
        """python_processes: shell text runs."""
        raise NotImplementedError

    def run_code(self, value: object) -> None:
        """python_processes: code in a value runs."""
        raise NotImplementedError

    def attribute_of(self, base: object, name: object) -> object:
        """python_processes: getattr(base, name)."""
        raise NotImplementedError

    def constant(self, name: str) -> object:
        """python_attributes: a dotted name that is a value, else the reference itself."""
        raise NotImplementedError

    def environment_value(self, name: str | None) -> object:
        """python_attributes: the value of a variable."""
        raise NotImplementedError

    def stored(self, base: object, key: object, value: object) -> None:
        """python_attributes: base[key] = value."""
        raise NotImplementedError

    def formatted_braces(self, base: Field, args: Args) -> object:
        """python_attributes: base.format(*args)."""
        raise NotImplementedError

    def do_getenv(self, name: str, args: Args, named: Named) -> object:
        """python_attributes: os.getenv."""
        raise NotImplementedError

    def do_stdin(self, name: str, args: Args, named: Named) -> object:
        """python_attributes: what stands on stdin."""
        raise NotImplementedError

    def do_move(self, name: str, args: Args, named: Named) -> object:
        """python_files: os.rename."""
        raise NotImplementedError

    def do_walk(self, name: str, args: Args, named: Named) -> object:
        """python_files: os.walk."""
        raise NotImplementedError

    def do_join(self, name: str, args: Args, named: Named) -> object:
        """python_decode: os.path.join."""
        raise NotImplementedError

    def do_expanduser(self, name: str, args: Args, named: Named) -> object:
        """python_decode: os.path.expanduser."""
        raise NotImplementedError

    def do_http_get(self, name: str, args: Args, named: Named) -> object:
        """python_network: a GET."""
        raise NotImplementedError

    def do_http_request(self, name: str, args: Args, named: Named) -> object:
        """python_network: a request with a method of its own."""
        raise NotImplementedError

    def request(self, method: str, args: Args, named: Named, body_at: int = 1) -> object:
        """python_network: one HTTP request."""
        raise NotImplementedError

    def connect(self, host: object, via: str) -> None:
        """python_network: a connection to a host."""
        raise NotImplementedError

    def reverse_shell(self) -> None:
        """python_network: a socket tied to a process."""
        raise NotImplementedError

    def remote(self, command: Field, host: str) -> None:
        """python_network: a command on another machine."""
        raise NotImplementedError
