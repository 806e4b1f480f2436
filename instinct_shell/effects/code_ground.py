"""What all parts of the code reader stand on: the call, the scene, the effects found so far, and the parts' names for each other."""

from __future__ import annotations

from ..model.effect import Certainty, Effect, EffectKind, Target
from ..shell.invocation import Field
from .call import Call, Scene
from .code_names import ACTIONS

Args = tuple[object, ...]


class Ground:
    """State of one reader. Methods that raise NotImplementedError belong to a part named in their docstring."""

    def __init__(self, call: Call, scene: Scene, language: str, argv: tuple[Field, ...], path: str, depth: int) -> None:
        self.call = call
        self.scene = scene
        self.language = language
        self.argv = argv
        self.path = path
        self.depth = depth
        self.names: dict[str, object] = {}
        self.effects: list[Effect] = []
        self.connected = ""
        self.spawned_shell = False

    def add(self, kind: EffectKind, target: Target | None = None, extra: dict[str, str] | None = None, /, **attributes: str) -> None:
        """An effect of the program."""
        self.effects.append(self.call.effect(kind, target, {**attributes, **(extra or {})}))

    def opaque(self, source: str, reason: str) -> None:
        """Code that runs and cannot be read."""
        self.effects.append(
            self.call.effect(
                EffectKind.CODE_OPAQUE,
                certainty=Certainty.POSSIBLE,
                language=self.language,
                reason=reason,
                source=source,
                dynamic="interpreter",
            )
        )

    def action(self, name: str) -> str | None:
        """What a function of this name does, or None."""
        table = ACTIONS[self.language]
        return table.get(name) or (
            table.get(name.split(".", 1)[1])
            if name.startswith(("globalThis.", "global.", "window.", "Kernel.", "self.", "this."))
            else None
        )

    def constant(self, name: str) -> object:
        """code_actions: a dotted name that is a value, else a reference."""
        raise NotImplementedError

    def invoke(self, function: object, args: Args) -> object:
        """code_actions: calls a value."""
        raise NotImplementedError

    def method(self, base: object, name: str, args: Args) -> object:
        """code_actions: a method of a value."""
        raise NotImplementedError

    def text_method(self, base: object, name: str, args: Args) -> object:
        """code_values: string and list methods that compute."""
        raise NotImplementedError

    def environment(self, name: str | None) -> object:
        """code_values: the value of a variable."""
        raise NotImplementedError

    def decoded(self, how: str, field: Field) -> object:
        """code_values: a literal unpacked."""
        raise NotImplementedError

    def do_join(self, name: str, args: Args) -> object:
        """code_values: paths joined."""
        raise NotImplementedError

    def do_stdin(self, name: str, args: Args) -> object:
        """code_values: what stands on stdin."""
        raise NotImplementedError

    def touch(self, kind: EffectKind, value: object, **attributes: str) -> None:
        """code_files: an effect on the path that a value names."""
        raise NotImplementedError

    def content(self, path: object) -> object:
        """code_files: what a file holds."""
        raise NotImplementedError

    def globbed(self, pattern: object) -> object:
        """code_files: the matches of a pattern."""
        raise NotImplementedError

    def shell_text(self, value: object) -> None:
        """code_processes: shell text runs."""
        raise NotImplementedError

    def process(self, words: list[Field]) -> None:
        """code_processes: an argument vector runs."""
        raise NotImplementedError

    def reverse_shell(self) -> None:
        """code_processes: a socket tied to a process."""
        raise NotImplementedError

    def do_starts(self, name: str, args: Args) -> object:
        """code_processes: system and its kin."""
        raise NotImplementedError

    def do_do_file(self, name: str, args: Args) -> object:
        """code_processes: a file of code runs."""
        raise NotImplementedError

    def do_http_get(self, name: str, args: Args) -> object:
        """code_network: a GET."""
        raise NotImplementedError

    def on_socket(self, base: object, name: str, args: Args) -> object:
        """code_network: a method of a socket."""
        raise NotImplementedError
