"""Around the describing of a command: a fault of ours is a refusal that names its place."""

from __future__ import annotations

from ..errors import DescribeFault, InstinctError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType


class _Describing:
    """Whatever is raised inside is a refusal that names the place, never a crash that ends a batch or a hook."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None or not issubclass(kind, Exception) or issubclass(kind, InstinctError | MemoryError | OSError):
            return
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = f" in {trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}" if trace is not None else ""
        message = f"the command could not be understood, by a fault of ours ({kind.__name__}{place}); nothing runs unjudged"
        raise DescribeFault(message, hint="say it in another way, and report the place") from error


DESCRIBING = _Describing()
