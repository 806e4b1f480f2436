"""The Clock port on this machine."""

from __future__ import annotations

import time


class SystemClock:
    """The machine's clocks."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def monotonic_us(self) -> int:
        """Microseconds on a clock that only moves forward."""
        return time.monotonic_ns() // 1000
