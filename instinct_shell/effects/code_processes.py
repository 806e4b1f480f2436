"""Processes and code in the code reader: programs started, shell text, code made from text."""

from __future__ import annotations

import re

from ..model.effect import EffectKind, Target, TargetKind
from ..shell.invocation import INHERIT, Field, Known, literal
from .call import Call
from .code_ground import Args, Ground
from .code_modules import module_name
from .python_values import UNKNOWN, Either, Many, Ref, Table, Thing, Unknown, field_of, taint
from .roles import file_effects

_SHELLS = re.compile(r"^(?:\S*/)?(?:sh|bash|zsh|dash|ksh|cmd(?:\.exe)?|powershell)(?:\s+-i)?(?:\s*[<>&\d]+.*)?$")


class Processes(Ground):
    """Effects of running things."""

    def nested_call(self) -> Call:
        """The call without the streams that belong to the program itself."""
        return self.call.replace(invocation=self.call.invocation.replace(stdin=INHERIT, streams=(), readers=()))

    def shell_text(self, value: object) -> None:
        """Shell text runs."""
        if isinstance(value, Either):
            for one in value.values:
                self.shell_text(one)
            return
        from .scripts import run_text

        field = field_of(value)
        if field.text is not None and _SHELLS.match(field.text.strip()):
            self.spawned_shell = True
            if self.connected:
                self.reverse_shell()
        self.effects.extend(
            run_text(
                self.nested_call(), self.scene, field.replace(origins=tuple(o for o in field.origins if not o.producers)), via=self.language
            )
        )

    def process(self, words: list[Field]) -> None:
        """An argument vector runs."""
        if (
            words
            and words[0].text is not None
            and _SHELLS.match(words[0].text)
            and not any((word.text or "").startswith("-c") for word in words[1:])
        ):
            self.spawned_shell = True
            if self.connected:
                self.reverse_shell()
        if words and words[0].known is Known.DYNAMIC and not words[0].prefix:
            self.opaque("variable", "runs a program whose name is computed")
        elif words:
            self.effects.extend(self.scene.nested_argv(tuple(words), self.nested_call(), via=self.language))

    def reverse_shell(self) -> None:
        """A socket tied to a process."""
        self.add(
            EffectKind.NET_REMOTE_EXEC,
            Target(TargetKind.HOST, "" if self.connected == "socket" else self.connected),
            reverse="1",
            via=self.language,
        )

    def do_starts(self, name: str, args: Args) -> object:
        words = [one for one in args if not isinstance(one, (Table, Thing)) and not (isinstance(one, Ref) and not one.name.isupper())]
        if self.language in ("javascript", "php", "lua"):
            words = words[:1]
        if words and isinstance(words[0], Table):
            words = words[1:]
        if words and isinstance(words[0], Many) and len(words) == 1:
            words = list(words[0].items)
            self.process([field_of(one) for one in words])
        elif len(words) > 1 and name not in ("IO.popen", "popen"):
            self.process([field_of(one) for one in words])
        elif words:
            self.shell_text(words[0])
        return Unknown("command")

    def do_argv(self, name: str, args: Args) -> object:
        """(file, [arguments], options)"""
        first = args[0] if args else UNKNOWN
        options = next((one for one in args if isinstance(one, Table)), None)
        if isinstance(first, Table):
            options, first = first, first.get("cmd") or UNKNOWN
        given = args[1] if len(args) > 1 and isinstance(args[1], Many) else options.get("args") if options is not None else None
        words = [field_of(one) for one in first.items] if isinstance(first, Many) else [field_of(first)]
        if isinstance(given, Many):
            words += [field_of(one) for one in given.items]
            if given.more:
                words.append(Field(Known.DYNAMIC, reason="computed by the program", many=True))
        if options is not None and options.get("shell") is not None and all(word.text is not None for word in words):
            self.shell_text(literal(" ".join(word.text or "" for word in words)))
        else:
            self.process(words)
        return Thing("process")

    def do_fork(self, name: str, args: Args) -> object:
        self.process([literal("node"), *(field_of(one) for one in args[:1])])
        return Thing("process")

    def do_eval(self, name: str, args: Args) -> object:
        """Code in a value runs."""
        for one in args[-1:] if name.endswith("Function") else args[:1]:
            self.run_code(one)
        return UNKNOWN

    def run_code(self, value: object) -> None:
        """Known text is read, the rest is opaque."""
        if isinstance(value, Either):
            for one in value.values:
                self.run_code(one)
            return
        if isinstance(value, (Thing, Ref, int)):
            return
        field = field_of(value)
        if isinstance(value, Unknown) and value.source == "file" and isinstance(value.detail, Field):
            self.do_do_file("eval", (value.detail,))
        elif field.known is Known.DYNAMIC:
            sources = taint(value)
            self.opaque(next((one for one in ("network", "file", "stdin") if one in sources), "variable"), "runs code that is computed")
        elif self.depth < 6:
            from .other_code import code_effects

            for text in field.values:
                found = code_effects(text, self.call, self.scene, self.language, self.argv, self.path, self.depth + 1)
                self.effects.extend(effect for effect in found if effect.kind is not EffectKind.CODE_INLINE)

    def do_do_file(self, name: str, args: Args) -> object:
        """A file of code runs: followed when the same line wrote it."""
        for one in args[:1]:
            field = field_of(one)
            text = field.text or ""
            if (
                name in ("require", "require_relative", "use")
                and "/" not in text
                and not text.endswith((".rb", ".pl", ".php", ".lua", ".pm"))
            ):
                continue
            for effect in file_effects(self.call, self.scene, EffectKind.CODE_SCRIPT, field, language=self.language):
                self.effects.append(effect)
                written = self.scene.files.get(effect.target.text)
                if written is not None:
                    self.run_code(literal(written))
        return UNKNOWN

    def do_module(self, name: str, args: Args) -> object:
        text = field_of(args[0]).text if args else None
        if name == "createRequire":
            return Ref("require")
        if text is None:
            return Unknown("computed")
        if text.startswith((".", "/")):
            return self.do_do_file("import", args)
        return Ref(module_name(text))

    def do_opaque(self, name: str, args: Args) -> object:
        if name.endswith("inding") and args and field_of(args[0]).text == "spawn_sync":
            self.opaque("generated", f"reaches for `{name}`")
            return Thing("spawn_binding")
        self.opaque("generated", f"reaches for `{name}`")
        return UNKNOWN

    def do_invoke(self, name: str, args: Args) -> object:
        text = field_of(args[0]).text if args else None
        if text is None:
            self.opaque("generated", "calls a computed function")
            return UNKNOWN
        rest = args[1].items if name.endswith("array") and len(args) > 1 and isinstance(args[1], Many) else args[1:]
        return self.invoke(Ref(text), tuple(rest))

    def do_each_of(self, name: str, args: Args) -> object:
        """array_map('f', list): f on each item."""
        if len(args) > 1:
            items = args[1].items if isinstance(args[1], Many) else (args[1],)
            for item in items[:64]:
                self.do_invoke(name, (args[0], item))
        return UNKNOWN

    def do_send(self, name: str, args: Args) -> object:
        return self.do_invoke(name, args)

    def do_kill(self, name: str, args: Args) -> object:
        order = args if self.language in ("javascript", "php") else (*args[1:2], *args[:1])
        pid = order[0] if order else UNKNOWN
        signal = field_of(order[1]).text or "" if len(order) > 1 else ""
        by = "all" if pid == -1 else "signal0" if signal == "0" else "pid"
        text = str(pid) if isinstance(pid, int) else "parent" if isinstance(pid, Ref) and pid.name.endswith("ppid") else ""
        self.add(EffectKind.PROCESS_KILL, Target(TargetKind.PROCESS, text, "" if text else "computed by the program"), by=by, signal=signal)
        return UNKNOWN
