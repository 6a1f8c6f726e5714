"""Writing ``tools.lock.json``, which `dcf skills lock` makes and generating reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dcf.digest import file_json
from dcf.skills.generation.deposit import write_whole


def write_pins(path: Path, document: Mapping[str, Any]) -> None:
    """Make ``path`` hold the lock: the same lock gives the same bytes. Raises OSError."""
    write_whole(path, file_json(document))
