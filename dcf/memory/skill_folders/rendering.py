"""The texts of the two blocks that say what an agent knows of skills."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from dcf.memory.audit.entity import Row

_DESCRIPTIONS = (1_000_000, 200, 80, 0)
"""How long descriptions may be, in characters: the next, where the catalog has no room."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """``text`` as it has room; ``longest`` is what was left of descriptions (None: all of them),
    ``left_out`` how many skills are not in it."""

    text: str
    longest: int | None = None
    left_out: int = 0


def catalog(rows: Sequence[Row], limit: int | None) -> Catalog:
    """The skills by name, in at most ``limit`` bytes: descriptions are shortened first, then the
    last names are left out, and the catalog says how many."""
    for longest in _DESCRIPTIONS:
        text = "\n".join(_line(row, longest) for row in rows)
        if limit is None or len(text.encode()) <= limit:
            return Catalog(text, None if longest == _DESCRIPTIONS[0] else longest)
    lines = [_line(row, 0) for row in rows]
    kept = len(lines)
    while kept:
        kept -= 1
        text = "\n".join([*lines[:kept], f"… and {len(lines) - kept} more"])
        if limit is not None and len(text.encode()) <= limit:
            return Catalog(text, 0, len(lines) - kept)
    return Catalog("", 0, len(lines))


def instructions(rows: Iterable[Row]) -> str:
    """What loaded skills say, in the order in which they were loaded."""
    return "\n\n".join(map(_whole, rows))


def _line(row: Row, longest: int) -> str:
    description = row["description"]
    if len(description) > longest:
        description = f"{description[: longest - 1]}…" if longest else ""
    return f"- {row['name']}: {description}" if description else f"- {row['name']}"


def _whole(row: Row) -> str:
    files = json.loads(row["files"])
    beside = f"\nFiles in {row['source']}/{row['name']}: {', '.join(files)}" if files else ""
    # A skill cannot end itself and begin another one.
    said = (row["content"] + beside).replace("</skill>", "<\\/skill>")
    return f'<skill name="{escape(row["name"])}">\n{said}\n</skill>'
