"""Observations as a section of a Markdown file that people and their agents read.

It says the same as long as the observations do: no ages, no counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dcf.memory.extraction import visible
from dcf.memory.observation import ICONS, Observation
from dcf.memory.observations.rendering import EXTRACTED, details_of
from dcf.search import count_tokens, counts_of_tokens

_HEAD = "Seen in this project; `dcf memory observations render` writes this section anew."
_NONE = "No observations yet."


@dataclass(frozen=True, slots=True)
class Section:
    """The ``text`` of a section, what is ``told`` in it, in order, and how many others there was no
    room for."""

    text: str
    told: tuple[Observation, ...]
    left_out: int


def section_of(observations: Sequence[Observation], tokens: int, *, full: bool) -> Section:
    """As many of the first observations as ``tokens`` have room for: a line for each, or all that
    they say. One that is too long does not keep shorter ones out."""
    items = [_item(one, full=full) for one in observations]
    costs = counts_of_tokens([f"\n{item}" for item in items]) if items else []
    left, taken = tokens - count_tokens(_HEAD), list[int]()
    for number, cost in enumerate(costs):
        if cost <= left:
            taken.append(number)
            left -= cost
    # Texts side by side may cost more than each by itself.
    while taken and count_tokens(_text(items, taken)) > tokens:
        taken.pop()
    told = tuple(observations[number] for number in taken)
    return Section(_text(items, taken), told, len(items) - len(told))


def _text(items: Sequence[str], taken: Sequence[int]) -> str:
    told = [items[number] for number in taken] or [_NONE]
    return "\n".join([_HEAD, "", *told])


def _item(one: Observation, *, full: bool) -> str:
    """An item of a list. All its lines are indented, so that what one of them begins (a heading,
    code) ends with it; none has the beginning of a comment, as markers are."""
    said = details_of(one) if full else f"{ICONS[one.type]} {one.type}: {one.title}"
    lines = visible(said).replace("<!--", "&lt;!--").splitlines()
    of = f"({EXTRACTED}, {one.citation})" if one.extracted else f"({one.citation})"
    lines = [*lines, of] if full else [f"{' '.join(lines)} {of}"]
    return "\n".join([f"- {lines[0]}", *(f"  {line}".rstrip() for line in lines[1:])])
