"""How a list of steps ends: well, with what it puts out, or with an error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dcf.planner.compiling.expression import Names, text_with_names, wrapped
from dcf.planner.compiling.state_names import StateNames
from dcf.planner.compiling.variables import Scope
from dcf.planner.compiling.weaving import State
from dcf.sop import Step, Stop

STOPPED = "Stopped"
"""The error of a procedure that stops and names none."""


@dataclass(slots=True)
class Endings:
    """The end states of one list, made when something leads to them. ``succeed`` makes the one in
    which it ends well."""

    scope: Scope
    names: Names
    titles: StateNames
    succeed: Callable[[], State]
    states: dict[str, State] = field(default_factory=dict)
    _well: str | None = None

    def well(self) -> str:
        """The name of the state in which the list ends well."""
        if self._well is None:
            self._well = self.titles.take("Finished" if self.scope.number else "Done")
            self.states[self._well] = self.succeed()
        return self._well

    def fail(self, stop: Stop, step: Step, *, caught: bool) -> str:
        """The name of the state in which everything fails; the same one for the same failure."""
        made = self.failure(stop, caught=caught)
        for name, state in self.states.items():
            if state == made:
                return name
        name = self.titles.take(stop.error or f"{step.title} failed")
        self.states[name] = made
        return name

    def failure(self, stop: Stop, *, caught: bool) -> State:
        """A Fail state. What the procedure does not say of a ``caught`` error is said by it."""
        variable = self.variable
        error = stop.error or (wrapped(f"${variable}.Error") if caught else STOPPED)
        state: State = {"Type": "Fail", "Error": error}
        if stop.cause:
            text = text_with_names(stop.cause, self.names, self.scope.variables.__contains__)
            state["Cause"] = wrapped(text) if text else stop.cause
        elif caught:
            state["Cause"] = wrapped(f"${variable}.Cause")
        return state

    @property
    def variable(self) -> str:
        """The variable of what went wrong, which no value of the procedure has."""
        taken = self.scope.assigned | set(self.scope.variables.values())
        suffix = "".join(one if one.isalnum() else "_" for one in self.scope.number)
        name = f"failure_{suffix}" if suffix else "failure"
        while name in taken:
            name += "_"
        return name
