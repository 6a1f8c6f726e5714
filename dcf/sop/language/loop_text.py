"""Loops in words: ``For each \\`line\\` in \\`order.items\\`, two at a time``."""

from __future__ import annotations

import re

from dcf.sop.language.phrase import DOTTED, NAME, Unreadable, bare, count_of
from dcf.sop.step import Loop

START = re.compile(r"for (?:each|every)\b", re.IGNORECASE)
_LOOP = re.compile(
    r"for (?:each|every) (?P<item>.+?) (?:in|of) (?P<items>`[^`]*`|[^\s,]+)"
    r"(?:,?\s+(?P<pace>.+?))?(?:,?\s*do)?",
    re.IGNORECASE,
)
MOST_AT_ONCE = 256
_HINT = "write For each `line` in `items`, with ` at most 5 at a time` or `all at once` after it"


def read_loop(text: str) -> Loop:
    """Raises ``Unreadable``. Without a pace, one item comes after another."""
    text = text.strip().rstrip(":.").strip()
    found = _LOOP.fullmatch(text)
    if found is None:
        raise Unreadable(
            "SOP_LOOP_ITEMS", f"{text!r} does not say in which list the items are", _HINT
        )
    item, items = bare(found["item"]), bare(found["items"])
    if not re.fullmatch(NAME, item):
        name = re.sub(r"\W+", "_", item).strip("_").lower()
        raise Unreadable("SOP_NAME", f"{item!r} is no name for an item", f"write `{name}`")
    if not re.fullmatch(DOTTED, items):
        raise Unreadable("SOP_LOOP_ITEMS", f"{items!r} is no name of a list", _HINT)
    return Loop(items, item, _pace(text, (found["pace"] or "").lower()))


def _pace(text: str, pace: str) -> int | None:
    if pace in ("", "one after another", "one after the other", "in order"):
        return 1
    if pace in ("all at once", "at the same time", "in parallel"):
        return None
    counted = re.fullmatch(r"(?:at most |up to )?(\w+) at (?:a time|once|the same time)", pace)
    count = count_of(counted[1]) if counted else None
    if not isinstance(count, int) or not 1 <= count <= MOST_AT_ONCE:
        raise Unreadable("SOP_LOOP_PACE", f"{text!r}: {pace!r} is no pace", _HINT)
    return count


def print_loop(loop: Loop) -> str:
    """As ``read_loop`` reads it."""
    pace = {None: ", all at once", 1: ""}.get(loop.at_once, f", {loop.at_once} at a time")
    return f"For each `{loop.item}` in `{loop.items}`{pace}"
