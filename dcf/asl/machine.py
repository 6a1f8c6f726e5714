"""A parsed state machine, and the states inside it by path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dcf.asl.errors import UnknownState
from dcf.asl.state import State


@dataclass(frozen=True, slots=True)
class StateMachine:
    """``states`` by name; ``timeout_s`` limits the whole execution (top level only).

    ``definition`` is what it was parsed from, of an inner machine too one that stands alone.
    """

    start_at: str
    states: Mapping[str, State]
    timeout_s: float | None = None
    comment: str = ""
    definition: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def locate(self, path: Sequence[str | int]) -> State:
        """The state at ``path``, e.g. ``["Fan", 2, "Fetch"]``.

        A number after a Map is an iteration, after a Parallel the number of a branch.
        Raises UnknownState.
        """
        machine: StateMachine | None = self
        state: State | None = None
        for step in path:
            if isinstance(step, str):
                if machine is None or step not in machine.states:
                    raise UnknownState(path, step, machine.states if machine else ())
                state, machine = machine.states[step], None
            else:
                machine = _inner_machine(path, state, step)
                state = None
        if state is None:
            raise UnknownState(path, path[-1] if path else "", self.states)
        return state


def _inner_machine(path: Sequence[str | int], state: State | None, number: int) -> StateMachine:
    if state is not None and state.processor is not None and number >= 0:
        return state.processor
    if state is not None and 0 <= number < len(state.branches):
        return state.branches[number]
    raise UnknownState(path, number, ())
