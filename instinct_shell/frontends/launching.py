"""How a program of ours starts: the one thing that the launch files (bin/launch.py, an installation's launch.py) load, by its path.

A start lives for milliseconds, so nothing that the interpreter has not loaded yet is imported here: `os` alone costs a tenth of a start. It collects no
garbage (`check --batch` turns that on again) and does not take the interpreter down piece by piece.
"""

from __future__ import annotations

import gc
import posix
import sys
from _frozen_importlib import ModuleSpec  # `importlib` before it is imported
from _frozen_importlib_external import MAGIC_NUMBER, cache_from_source
from _signal import SIG_DFL, SIGINT, default_int_handler, getsignal, signal  # type: ignore[import-not-found]  # the C half of `signal`, whose enums cost 4 ms
from marshal import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, ModuleType
    from typing import NoReturn


class Near:
    """Finds the package's compiled modules where they lie; the usual search looks through five folders first, and costs three times what loading does.

    It takes what the usual loader would take, a compiled module that has its source's time and size, and leaves everything else to that one.
    """

    def __init__(self, package: str) -> None:
        self._above, _, self._name = package.rpartition("/")
        self._ending = cache_from_source("/x/_.py").removeprefix("/x/__pycache__/_")  # such as `.cpython-311.pyc`

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:  # noqa: ARG002  # as importlib calls it
        """The module's place and code; None for what is not ours or not compiled."""
        if name.partition(".")[0] != self._name:
            return None
        place = f"{self._above}/{name.replace('.', '/')}"
        folder, _, last = place.rpartition("/")
        for source, cached, package in (
            (f"{place}.py", f"{folder}/__pycache__/{last}{self._ending}", False),
            (f"{place}/__init__.py", f"{place}/__pycache__/__init__{self._ending}", True),
        ):
            try:
                found = posix.stat(source)
                fd = posix.open(cached, posix.O_RDONLY | posix.O_CLOEXEC)
            except OSError:
                continue
            try:
                data = posix.read(fd, posix.fstat(fd).st_size)
            finally:
                posix.close(fd)
            stamp = (int(found.st_mtime) & 0xFFFFFFFF).to_bytes(4, "little") + (found.st_size & 0xFFFFFFFF).to_bytes(4, "little")
            if data[:16] != MAGIC_NUMBER + bytes(4) + stamp:
                return None
            spec = ModuleSpec(name, _Loader(data), origin=source, is_package=package)  # type: ignore[arg-type]  # what a loader has to have
            spec.has_location, spec.cached = True, cached
            if package:
                spec.submodule_search_locations = [place]
            return spec
        return None


class _Loader:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def create_module(self, spec: object) -> None:
        """The usual one will do."""

    def exec_module(self, module: ModuleType) -> None:
        """Fill it."""
        code: CodeType = loads(memoryview(self._data)[16:])  # noqa: S302  # our own module, as the usual loader would load it
        exec(code, module.__dict__)  # noqa: S102  # this is how a module is loaded


def launch(package: str, program: str, arguments: list[str]) -> NoReturn:
    """Be one of our programs, to the end of this process. package: the folder of `instinct_shell`. program: instinct | instinct-exec | shell | hook."""
    gc.disable()
    sys.meta_path.insert(0, Near(package))
    begun = b""
    if program in ("instinct-exec", "shell") or (program == "instinct" and arguments[:1] == ["check"]):
        from instinct_shell.resident.front import warm

        status = warm("check", arguments[1:]) if program == "instinct" else warm(program, arguments)
        if status is not None:
            posix._exit(status)
    elif program == "hook":
        from instinct_shell.resident.front import hook

        status, begun = hook(arguments)
        if status is not None:
            posix._exit(status)
    main = _main(program, begun)
    if getsignal(SIGINT) == SIG_DFL:
        signal(SIGINT, default_int_handler)  # the launch file took it away: from here on ^C is said
    posix._exit(main(arguments))  # it has flushed what it wrote


def _main(program: str, begun: bytes) -> Callable[[list[str]], int]:
    if program == "instinct-exec":
        from instinct_shell.frontends import instinct_exec

        return instinct_exec.main
    if program == "hook":
        from instinct_shell.frontends.hooks import entry

        return lambda arguments: entry.main(arguments, begun)
    if program == "shell":
        from instinct_shell.frontends import shell

        return shell.main
    from instinct_shell.frontends.cli import main

    return main.main
