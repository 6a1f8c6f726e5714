"""The paths of cases: ``$.order_id``, ``$.items[0].sku``, ``$.tags[*]``, ``$['a name']``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_STEP = re.compile(
    r"\[(?P<index>\d{1,9})\]|\[(?P<all>\*)\]|\[(?P<quote>['\"])(?P<quoted>[^'\"\\]+)(?P=quote)\]"
    r"|\.?(?P<name>[^.\[\]$*'\"?()@,:\s][^.\[\]$*'\"?()@,:]*)"
)
_REF = re.compile(r"#/\$defs/(?P<name>[^/]+)")

Step = str | int | None
"""A member, an element, or ``None`` for every element."""


@dataclass(frozen=True, slots=True)
class ArgumentPath:
    """A way into the arguments of a call. Without steps it is the arguments as a whole."""

    steps: tuple[Step, ...]

    def findall(self, arguments: Any) -> list[Any]:
        """The values at the path, none where it leads nowhere."""
        found = [arguments]
        for step in self.steps:
            found = [inner for value in found for inner in _taken(value, step)]
        return found

    def schema_in(self, schema: Any) -> Any:
        """The schema of the place, ``{}`` where ``schema`` says nothing of it."""
        here = schema
        for step in self.steps:
            here = _resolved(here, schema)
            part = here.get("properties", {}) if isinstance(step, str) else here
            here = part.get(step if isinstance(step, str) else "items", {})
            if not isinstance(here, Mapping):
                return {}
        return _resolved(here, schema)


def read_path(expr: str) -> ArgumentPath | None:
    """The path that ``expr`` writes; ``None`` when it is no such path, but maybe a JSONPath.

    What the earlier generator wrote for "no path", a bare ``$.``, is the arguments as a whole.
    """
    body = expr.strip().removeprefix("$")
    if body == ".":
        return ArgumentPath(())
    steps: list[Step] = []
    position = 0
    while position < len(body):
        step = _STEP.match(body, position)
        if step is None:
            return None
        if step["index"] is not None:
            steps.append(int(step["index"]))
        else:
            steps.append(None if step["all"] else step["quoted"] or step["name"])
        position = step.end()
    return ArgumentPath(tuple(steps))


def _taken(value: Any, step: Step) -> Iterator[Any]:
    if isinstance(step, str):
        if isinstance(value, Mapping) and step in value:
            yield value[step]
    elif isinstance(value, list):
        if step is None:
            yield from value
        elif step < len(value):
            yield value[step]


def _resolved(schema: Any, root: Any) -> Any:
    """``schema``, or what its ``$ref`` leads to."""
    for _ in range(8):
        ref = schema.get("$ref") if isinstance(schema, Mapping) else None
        match = _REF.fullmatch(ref) if isinstance(ref, str) else None
        if match is None:
            break
        schema = root.get("$defs", {}).get(match["name"], {})
    return schema if isinstance(schema, Mapping) else {}
