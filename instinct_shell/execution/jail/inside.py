"""Whether this process is inside a jail of ours, by a fact that only the kernel can state.

The system call filter answers one question that no program asks, `getpriority` with an unknown "which", by an error number that the kernel never
gives. The filter is inherited for ever and cannot be taken off, and no variable, file or command line can bring that answer about outside.
"""

from __future__ import annotations

QUESTION = 0x1A57
ANSWER = 3741  # the kernel's own numbers end far below; 4095 is the highest that a filter may give


def inside() -> bool:
    """True in every process below a jailed command, false everywhere else."""
    import os

    try:
        os.getpriority(QUESTION, 0)
    except OSError as error:
        return error.errno == ANSWER
    return False
