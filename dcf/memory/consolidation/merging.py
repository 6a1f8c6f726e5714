"""Removing what is said twice in a block, and knowing what is said by another block."""

from __future__ import annotations

from dataclasses import dataclass

from dcf.memory.consolidation.likeness import Likeness
from dcf.memory.consolidation.lines import is_data

_WHOLE = 3
"""Lines of a block that hardly stand in another one by chance."""


@dataclass(frozen=True, slots=True)
class Merged:
    """A text without ``count`` lines that say what others say. Those in ``gone`` do not stand there
    to the letter, and come with what they stood under."""

    text: str
    count: int = 0
    gone: tuple[str, ...] = ()


def merged_lines(text: str, likeness: Likeness) -> Merged:
    """``text`` without duplicate lines; the same text if there are none."""
    if is_data(text):
        return Merged(text)
    merged, more = Merged(text), _merged_once(text, likeness)
    # A line under which nothing is left may go too.
    while more.count:
        merged = Merged(more.text, merged.count + more.count, (*merged.gone, *more.gone))
        more = _merged_once(merged.text, likeness)
    return merged


def _merged_once(text: str, likeness: Likeness) -> Merged:
    lines = likeness.lines(text)
    found = likeness.duplicates(lines)
    return Merged(
        "\n".join(line.text for line in lines if line.number not in found),
        len(found),
        tuple(
            " > ".join([*lines[at].under, lines[at].text.strip()])
            for at, other in sorted(found.items())
            if lines[at].same != lines[other].same
        ),
    )


def repeats(text: str, other: str, likeness: Likeness) -> bool:
    """Whether all that ``text`` says stands in ``other``, and is too much for chance."""
    if is_data(text):
        return text.strip() == other.strip()
    lines = [line for line in likeness.lines(text) if line.text.strip()]
    if sum(line.plain for line in lines) < _WHOLE:
        return False
    return likeness.stand_in(lines, likeness.lines(other))
