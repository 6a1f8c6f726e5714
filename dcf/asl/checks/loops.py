"""States that may be entered more than once."""

from __future__ import annotations

from collections.abc import Mapping

from dcf.asl.checks.transitions import transitions
from dcf.asl.reading.node import Node


def looping_states(states: Mapping[str, Node]) -> set[str]:
    """The names of all states on a loop, and of those between two loops."""
    onward = {
        name: {target for _, target in transitions(state) if target in states}
        for name, state in states.items()
    }
    backward: dict[str, set[str]] = {name: set() for name in states}
    for name, targets in onward.items():
        for target in targets:
            backward[target].add(name)
    left = set(states)
    for away, there in ((onward, backward), (backward, onward)):
        _peel(left, away, there)
    return left


def _peel(left: set[str], away: Mapping[str, set[str]], there: Mapping[str, set[str]]) -> None:
    """Take states out of ``left`` until ``away`` leads from each to another one in it."""
    ways = {name: len(away[name] & left) for name in left}
    waiting = [name for name, count in ways.items() if not count]
    while waiting:
        name = waiting.pop()
        left.discard(name)
        for before in there[name]:
            if before in left:
                ways[before] -= 1
                if not ways[before]:
                    waiting.append(before)
