"""Which files of a folder were written by a program, by what the folder itself says of them."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from dcf.regular_file import open_below

_log = logging.getLogger(__name__)

_LOCK = "skills.lock"
"""Stands beside what `dcf skills generate` wrote, and names each file of it under ``artefacts``."""
_LARGEST = 16 * 1024 * 1024
_MINIFIED = (".min.js", ".min.mjs", ".min.css", ".js.map", ".mjs.map", ".css.map")
"""Endings by which the tools that minify name what they write."""


def written_by_people(root: Path, paths: Sequence[str]) -> list[str]:
    """Those of ``paths``, files below ``root``, that no lock of skills names and no tool that
    minifies wrote. What is generated says what its sources say, and is no code to change."""
    locks = [path for path in paths if path.rpartition("/")[2] == _LOCK]
    generated = {*locks, *(name for lock in locks for name in _artefacts(root, lock))}
    return [one for one in paths if one not in generated and not one.lower().endswith(_MINIFIED)]


def _artefacts(root: Path, lock: str) -> Iterator[str]:
    folder = PurePosixPath(lock).parent
    return (str(folder / name) for name in _named(root, lock))


def _named(root: Path, lock: str) -> Iterable[str]:
    try:
        with os.fdopen(open_below(root, lock), "rb") as stream:
            document: Any = json.loads(stream.read(_LARGEST))
    except (OSError, ValueError, RecursionError) as error:
        # Then what it would name is searched as any other file.
        _log.warning("%s/%s does not say what is generated: %s", root, lock, error)
        return ()
    named = document.get("artefacts") if isinstance(document, dict) else None
    return [*named] if isinstance(named, dict) else ()
