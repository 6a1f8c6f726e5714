"""Where names stand in the files as they are now, by ripgrep."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dcf.code.files import LARGEST, ignoring, path_text
from dcf.code.ripgrep import records

_MOST = 5_000
_A_FILE = 200
"""Lines of one file: a name that stands in more of them is no news there."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file, from 1."""

    path: str
    line: int


Mentions = Mapping[Place, frozenset[str]]


async def mentions(root: Path, names: Sequence[str], folders: Sequence[str]) -> Mentions:
    """The lines on which one of ``names`` stands as a whole word, with those that do; in
    ``folders`` only, if there are any. Raises ``RipgrepMissing``, ``RipgrepFailed``."""
    # A folder that is not there would make all of it an error.
    there = [one for one in folders if _is_there(root / one)]
    if not names or (folders and not there):
        return {}
    arguments = [
        *("--null", "--line-number", "--no-heading", "--with-filename", "--only-matching"),
        *("--fixed-strings", "--word-regexp", "--case-sensitive"),
        *(f"--max-count={_A_FILE}", f"--max-filesize={LARGEST}"),
        *ignoring(root),
        *(f"--regexp={name}" for name in names),
        "--",
        *(there or ["."]),
    ]
    # What is beyond is as common as it gets.
    lines, _ = await records(arguments, root, end=b"\n", most=_MOST)
    found: dict[Place, set[str]] = {}
    for line in lines:
        path, _, rest = line.partition(b"\0")
        number, _, name = rest.partition(b":")
        place = path_text(path)
        if place is not None and number.isdigit():
            found.setdefault(Place(place, int(number)), set()).add(name.decode("utf-8", "replace"))
    return {place: frozenset(said) for place, said in found.items()}


def _is_there(path: Path) -> bool:
    return os.path.lexists(path)
