"""The root frame of a definition as a graph: what leads where, and what nothing leads to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_ENDS = ("Succeed", "Fail")


@dataclass(frozen=True, slots=True)
class Graph:
    """``invalid`` are transitions (from, to) to states that do not exist, ``missing`` those states;
    ``terminal`` says whether any state ends the run."""

    start_exists: bool
    missing: tuple[str, ...]
    unreachable: tuple[str, ...]
    invalid: tuple[tuple[str, str], ...]
    terminal: bool


def graph_of(definition: Mapping[str, Any]) -> Graph:
    """The graph of ``definition``, however broken that is."""
    found = definition.get("States")
    states = {
        name: state
        for name, state in (found.items() if isinstance(found, dict) else ())
        if isinstance(state, dict)
    }
    edges = [(name, target) for name, state in states.items() for target in targets(state)]
    invalid = tuple(edge for edge in edges if edge[1] not in states)
    start = definition.get("StartAt")
    reached: set[str] = set()
    waiting = [start] if isinstance(start, str) and start in states else []
    while waiting:
        here = waiting.pop()
        if here not in reached:
            reached.add(here)
            waiting += [target for source, target in edges if source == here and target in states]
    return Graph(
        start_exists=isinstance(start, str) and start in states,
        missing=tuple(dict.fromkeys(target for _, target in invalid)),
        unreachable=tuple(name for name in states if name not in reached),
        invalid=invalid,
        terminal=any(
            state.get("End") is True or state.get("Type") in _ENDS for state in states.values()
        ),
    )


def targets(state: Mapping[str, Any]) -> Iterator[str]:
    """The names that a state may go on to."""
    for field in ("Next", "Default"):
        if isinstance(state.get(field), str):
            yield state[field]
    for field in ("Choices", "Catch"):
        rules = state.get(field)
        for rule in rules if isinstance(rules, list) else ():
            if isinstance(rule, dict) and isinstance(rule.get("Next"), str):
                yield rule["Next"]
