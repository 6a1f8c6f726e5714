"""What Tasks say of a memory that a Map or Parallel around them does without: warnings."""

from __future__ import annotations

from typing import Any

from dcf.asl.memory_policy import MEMORY, NEEDS_MEMORY
from dcf.asl.reading.findings import child
from dcf.asl.reading.node import Node
from dcf.asl.reading.state_tree import inner_machines, states_of


def warn_unkept(root: Node) -> None:
    """Warn of each ``note``, ``score`` and ``gather`` inside a Map or Parallel whose memory has the
    scope ``none``."""
    waiting: list[tuple[Node, str | None]] = [(root, None)]
    while waiting:
        machine, without = waiting.pop(0)
        for name, state in states_of(machine).items():
            if without is not None:
                _look_at(state, without)
            is_none = _member(state.value, MEMORY).get("scope") == "none"
            inside = name if without is None and is_none else without
            waiting += ((one, inside) for one in inner_machines(state))


def _look_at(state: Node, without: str) -> None:
    memory = _member(_member(state.value, "AgentBinding"), MEMORY)
    for field in NEEDS_MEMORY:
        # Beside a scope `none` of its own it is an error.
        if memory.get(field) and memory.get("scope") != "none":
            place = child(state.place("AgentBinding"), MEMORY, field)
            message = f"`{field}` has no effect: `{without}` around it has the memory scope `none`"
            hint = f"give `{without}` another scope, or leave out `{field}`"
            state.findings.warning("ASL_NO_MEMORY", place, message, hint)


def _member(value: dict[str, Any], field: str) -> dict[str, Any]:
    found = value.get(field)
    return found if isinstance(found, dict) else {}
