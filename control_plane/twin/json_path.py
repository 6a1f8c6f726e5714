"""The JSON paths the twin understands: the root, members and array elements.

A path that starts with ``$`` addresses a list of matches; any other is of the older kind and
addresses one value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from control_plane.twin.defects import Unsupported

Step = str | int

_NAME = re.compile(r"\.([A-Za-z0-9_\-:/%#$^`+~]+)")
_ELEMENT = re.compile(r"""\.?\[\s*(?:"([^"\\]*)"|'([^'\\]*)'|(-?(?:0|[1-9][0-9]*)))\s*\]""")


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
"""What ``find`` gives where a path leads nowhere."""


@dataclass(frozen=True, slots=True)
class JsonPath:
    """A parsed path. ``text`` is as given, ``shown`` as error messages print it."""

    text: str
    shown: str
    legacy: bool
    steps: tuple[Step, ...]


@lru_cache(maxsize=4096)
def parse(text: str) -> JsonPath:
    """Raises Unsupported for wildcards, slices, filters, unions and for malformed paths.

    Also for names with an escaped quote: a server finds these when reading, not when writing.
    """
    legacy = not (text == "$" or text.startswith(("$.", "$[")))
    body = text if legacy else text[1:]
    if legacy and body == ".":
        body = ""
    elif legacy and not body.startswith("."):
        body = f".{body}"
    return JsonPath(text, f"${body}", legacy, _steps(text, body))


def _steps(text: str, body: str) -> tuple[Step, ...]:
    steps: list[Step] = []
    position = 0
    while position < len(body):
        match = _NAME.match(body, position) or _ELEMENT.match(body, position)
        if match is None:
            raise Unsupported(f"JSON path {text!r}")
        steps.append(_step(match))
        position = match.end()
    return tuple(steps)


def _step(match: re.Match[str]) -> Step:
    if match.re is _NAME:
        return match[1]
    if match[3] is not None:
        return int(match[3])
    return match[1] if match[1] is not None else match[2]


def find(value: Any, steps: tuple[Step, ...]) -> Any:
    """What ``steps`` lead to from ``value``, or MISSING."""
    for step in steps:
        value = _member(value, step) if isinstance(step, str) else _element(value, step)
        if value is MISSING:
            break
    return value


def _member(value: Any, name: str) -> Any:
    return value.get(name, MISSING) if type(value) is dict else MISSING


def _element(value: Any, index: int) -> Any:
    """Negative counts from the end; before the first element stands the first one again."""
    if type(value) is not list or index >= len(value) or not value:
        return MISSING
    return value[max(index, -len(value))]
