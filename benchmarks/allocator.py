"""Keeping glibc from returning memory to the system after every forward.

By default glibc maps a large activation afresh and unmaps it again on every forward; the page
faults are slow and the slowness differs from process to process. Knows nothing of what allocates.
"""

from __future__ import annotations

import ctypes
import platform

# Parameters of mallopt(3), from malloc.h
_SETTINGS = {
    "trim_threshold": (-1, 2**31 - 1),
    "top_pad": (-2, 64 * 2**20),
    "mmap_threshold": (-3, 2**30),
    "arena_max": (-8, 1),
}


def keep_memory() -> str:
    """Tell glibc to keep what it has; return the allocator's name and settings, for the record.

    Call it before the library that allocates is loaded. Elsewhere than on Linux with glibc nothing
    is changed, and the answer says so.
    """
    library, version = platform.libc_ver()
    if library != "glibc":
        return f"{platform.system()} default, unchanged"
    mallopt = ctypes.CDLL(None).mallopt
    words = [
        f"{name}={value}" if mallopt(parameter, value) == 1 else f"{name} refused"
        for name, (parameter, value) in _SETTINGS.items()
    ]
    return f"glibc {version}, {', '.join(words)}"
