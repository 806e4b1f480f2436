"""The one place where a failure becomes words and an exit status. Whatever goes wrong, nothing unjudged runs and nobody sees a traceback."""

from __future__ import annotations

import os
import sys

from ..errors import Exit, InstinctError, UsageError
from .present import failure, style_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def guarded(program: Callable[[], int], *, usage_status: int = Exit.USAGE) -> int:
    """Run a front door's program and turn every failure of ours into one message and an exit status (design section 10).

    usage_status: what a wrong command line ends with; `instinct-exec` must not look like a command that ended with 2.
    """
    try:
        status = program()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # None: started with it closed
                stream.flush()
        return status
    except UsageError as error:
        tell(error.message, error.hint)
        return usage_status
    except InstinctError as error:
        tell(error.message, error.hint)
        return error.exit_status
    except KeyboardInterrupt:
        return die_of_signal(2)
    except BrokenPipeError:
        # The reader of our output went away, as in `instinct audit list | head`: no failure of anybody's.
        return die_of_signal(13)
    except MemoryError:
        tell("out of memory; refused", "free memory, or raise the limit that this process runs under")
        return Exit.FAILED
    except OSError as error:
        where = f" (`{error.filename}`)" if error.filename else ""
        tell(
            f"{(error.strerror or str(error)).lower()}{where}; refused",
            _report(error) or "see the message; nothing was started by this step",
        )
        return Exit.FAILED
    except Exception as error:  # noqa: BLE001  # the last line of defence: a bug of ours is a refusal, with a report to paste
        tell(f"internal fault ({type(error).__name__}); refused", _report(error) or "run `instinct doctor` and report what it prints")
        return Exit.FAILED


def tell(message: str, hint: str = "") -> None:
    """Say something on stderr; a closed stderr is no reason to fail differently."""
    try:
        sys.stderr.write(failure(message, hint, style_of(sys.stderr, os.environ)))
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass  # nobody is listening: the exit status still says it


def die_of_signal(number: int) -> int:
    """End this process by the signal, so that the caller sees what a shell would show; 128+n when the signal does not end it."""
    import resource
    import signal

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))  # our own core would tell nobody anything
    try:
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    except (OSError, ValueError):
        pass  # SIGKILL has no handler to reset
    try:
        os.kill(os.getpid(), number)
    except OSError:
        pass  # no such signal here: the status below stands in
    return 128 + number


def _report(error: BaseException) -> str:
    """Write what a maintainer needs into the state directory; returns how to use it, or "" when it cannot be written."""
    import platform
    import time
    import traceback

    from ..model.version import VERSION

    try:
        from ..wiring import state_dir

        folder = os.path.join(state_dir(), "reports")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(folder, f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt")
        # Values and messages may hold secrets: only the program's own frames and versions go in.
        frames = traceback.extract_tb(error.__traceback__)
        text = "".join(f"{frame.filename}:{frame.lineno} in {frame.name}\n" for frame in frames) + f"{type(error).__name__}\n"
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as report:
            report.write(f"instinct-shell {VERSION}, Python {platform.python_version()}, {platform.platform()}\n{text}")
    except Exception:  # noqa: BLE001  # reporting a fault must never become another one; the refusal stands either way
        return ""
    return f"report it with this file: {path}"
