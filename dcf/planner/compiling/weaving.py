"""What is shared while a procedure is woven into a machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dcf.planner.compiling.known import NOTHING, Known, reach
from dcf.planner.compiling.state_names import StateNames
from dcf.planner.compiling.work import Members, Work
from dcf.problem import Problem, Severity
from dcf.sop import Sop, Step

State = dict[str, Any]


@dataclass(slots=True)
class Weaving:
    """``places`` has the states of each step by its number, the first one first; ``given`` the
    dotted names that a step is given, by argument."""

    sop: Sop
    works: Mapping[str, Work]
    problems: list[Problem] = field(default_factory=list)
    places: dict[str, list[str]] = field(default_factory=dict)
    given: dict[str, dict[str, str]] = field(default_factory=dict)
    titles: StateNames = field(default_factory=StateNames)

    def written(self, steps: Sequence[Step]) -> set[str]:
        """All names that ``steps`` write for those that come after them in the list."""
        return {name for step in steps for name in self.written_by(step)}

    def written_by(self, step: Step) -> set[str]:
        if step.kind == "task":
            return set(self.works[step.number].results)
        if step.kind == "parallel":
            return {name for lane in step.lanes for name in self.written(lane.steps)}
        return {write.target for write in step.writes}

    def surely(self, step: Step) -> Known:
        """What ``step`` has written in any case once it did its work."""
        if step.kind != "parallel":
            return frozenset(self.written_by(step))
        lanes = (reach(lane.steps, NOTHING, self.surely) for lane in step.lanes)
        return NOTHING.union(*(lane.surely for lane in lanes))

    def perhaps_null(self) -> frozenset[str]:
        """The names whose value may be null although it was written."""
        inputs = {one.name for one in self.sop.inputs if not one.required and one.default is None}
        return frozenset(inputs).union(
            name
            for work in self.works.values()
            for name, found in work.results.items()
            if not found.certain
        )

    def types(self) -> dict[str, str | None]:
        """The JSON types of names, as far as they are known."""
        found: dict[str, str | None] = {one.name: one.type for one in self.sop.inputs}
        for work in self.works.values():
            found |= {name: member.type for name, member in work.results.items()}
        return found

    def members(self) -> Members:
        return Members.of(self.sop.inputs)

    def tell(
        self, code: str, step: Step, what: str, hint: str, severity: Severity = "error"
    ) -> None:
        """Note a problem of ``step``."""
        message = f"step {step.number} ({step.title}): {what}"
        problem = Problem(code, message, hint=hint, severity=severity, line=step.line or None)
        self.problems.append(problem)
