"""The path of a stub case: where in a call's arguments it looks.

``order_id``, ``address.country``, ``items[0].sku``, ``tags[*]``, ``['a name']``; a leading ``$.``
or ``$`` is accepted. Emitted as a JSONPath (RFC 9535) with ``$`` in front.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_NAME = r"[A-Za-z_][A-Za-z0-9_-]*"
_STEP = re.compile(
    rf"(?P<dot>\.)?(?:(?P<name>{_NAME})"
    r"|\[(?P<index>[0-9]{1,9})\]|\[(?P<all>\*)\]|\['(?P<quoted>[^'\\]+)'\])"
)
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Step = str | int | None  # a member, an element, or None for every element


@dataclass(frozen=True, slots=True)
class CasePath:
    steps: tuple[Step, ...]

    @property
    def expr(self) -> str:
        """The path as JSONPath, as in ``$.items[0].sku``."""
        return "$" + "".join(_written(step) for step in self.steps)

    def schema_in(self, schema: dict[str, Any]) -> dict[str, Any] | None:
        """What ``schema`` says of the place; ``{}`` when it says nothing, None when a member on
        the way is declared nowhere."""
        here: Any = schema
        for step in self.steps:
            if not isinstance(here, dict):
                return {}
            members = here.get("properties")
            if not isinstance(step, str):
                here = here.get("items", {})
            elif isinstance(members, dict) and step in members:
                here = members[step]
            elif isinstance(members, dict) and members:
                return None
            else:
                return {}
        return here if isinstance(here, dict) else {}


def case_path(match: dict[str, Any]) -> str | None:
    """The path that a match names; None when it means all arguments."""
    text = match.get("path")
    return None if not isinstance(text, str) or text.strip() in ("", "$") else text


def parse_case_path(text: str) -> CasePath | None:
    """The path that ``text`` writes, or None when it is no path."""
    body = text.strip().removeprefix("$")
    steps: list[Step] = []
    position = 0
    while position < len(body):
        match = _STEP.match(body, position)
        if match is None or not _joined(match, first=not steps):
            return None
        steps.append(_step(match))
        position = match.end()
    return CasePath(tuple(steps)) if steps else None


def _joined(match: re.Match[str], *, first: bool) -> bool:
    # A dot goes before a name, except at the very start; never before a bracket.
    named = match["name"] is not None
    return bool(named) if match["dot"] else first or not named


def _step(match: re.Match[str]) -> Step:
    if match["index"] is not None:
        return int(match["index"])
    return match["name"] or match["quoted"]


def _written(step: Step) -> str:
    if step is None:
        return "[*]"
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN.fullmatch(step) else f"['{step}']"
