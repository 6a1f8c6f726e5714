"""By which a file that did not change is known without reading it."""

from __future__ import annotations

import os
import time

_SETTLED_NS = 2_000_000_000
"""A file that was changed so shortly before it was read may have been changed again since, within
the grain of the file system's clock."""


def stamp_of(status: os.stat_result) -> str:
    """Another one for every change, but for those at nearly the same moment."""
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ino}"


def is_settled(status: os.stat_result) -> bool:
    """Whether what changes the file from now on changes its stamp."""
    return status.st_mtime_ns < time.time_ns() - _SETTLED_NS
