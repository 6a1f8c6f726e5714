"""What the states of one step say: whether somebody edited them since they were compiled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dcf.digest import canonical_json, digest

_INSIDE = ("ItemProcessor", "Iterator", "Branches")


def all_states(machine: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Every state at any depth by its name; of two with the same name the first."""
    found: dict[str, Mapping[str, Any]] = {}
    for name, state in _walk(machine):
        found.setdefault(name, state)
    return found


def states_digest(names: Iterable[str], states: Mapping[str, Mapping[str, Any]]) -> str:
    """The digest of the states called ``names``, without the machines inside them."""
    return digest(canonical_json([[name, _own(states.get(name, {}))] for name in names]))


def _own(state: Mapping[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in state.items() if field not in _INSIDE}


def _walk(machine: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    states = machine.get("States") if isinstance(machine, Mapping) else None
    for name, state in states.items() if isinstance(states, Mapping) else ():
        if not isinstance(state, Mapping):
            continue
        yield name, state
        for field in ("ItemProcessor", "Iterator"):
            yield from _walk(state.get(field))
        branches = state.get("Branches")
        for branch in branches if isinstance(branches, list) else ():
            yield from _walk(branch)
