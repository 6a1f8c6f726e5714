"""Where the memory is and how it is opened, as the environment says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dcf.memory.database import Source


def source_of(environment: Mapping[str, str], home: Path) -> Source:
    """The memory of the DCF home ``home``: ``memory.db`` in it, or the file that ``DCF_MEMORY``
    names; encrypted with ``DCF_MEMORY_KEY``, if that is not empty. ``DCF_FSYNC=always`` makes each
    commit wait for the disk. Raises UnusableKey."""
    return Source(
        path=Path(environment.get("DCF_MEMORY") or home / "memory.db").expanduser().absolute(),
        key=environment.get("DCF_MEMORY_KEY") or None,
        power_safe=environment.get("DCF_FSYNC") == "always",
    )
