"""Where the memory of bodies goes when they are written down.

Bodies come and go in sixteen threads. glibc keeps blocks of their size for later, in a heap for each thread, where a
single row that lives on keeps megabytes: a fetch then takes 60 MB more than it needs.
"""

import ctypes
from contextlib import suppress

_M_MMAP_THRESHOLD = -3  # malloc.h
_BODY_BYTES = 64 << 10


def give_back_bodies() -> None:
    """Have blocks as large as bodies go back to the system at once, for this process; a no-op without glibc."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _BODY_BYTES)
