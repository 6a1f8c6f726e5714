"""Every text in a part of a state, with the way to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from dcf.asl.payload import JSON
from dcf.asl.reading.findings import child
from dcf.asl.reading.node import Node

Way: TypeAlias = tuple[Any, str | int]
"""(way to what is around it, name or index): made into a pointer only where one is needed."""


def texts(value: JSON, name: str) -> Iterator[tuple[Way, str, str]]:
    """(way, key, text) of all texts in field ``name`` of a state; in arrays the key is empty."""
    waiting: list[tuple[Any, str | int, JSON]] = [(None, name, value)]
    while waiting:
        around, step, item = waiting.pop()
        if isinstance(item, str):
            yield (around, step), (step if isinstance(step, str) else ""), item
        elif isinstance(item, dict):
            here = (around, step)
            waiting.extend((here, key, inner) for key, inner in reversed(item.items()))
        elif isinstance(item, list):
            here = (around, step)
            waiting.extend((here, at, item[at]) for at in range(len(item) - 1, -1, -1))


def pointer_of(node: Node, way: Way) -> str:
    """The JSON pointer of what stands at ``way`` in the state ``node``."""
    steps: list[str | int] = []
    at: Any = way
    while at is not None:
        at, step = at
        steps.append(step)
    return child(node.pointer, *reversed(steps))
