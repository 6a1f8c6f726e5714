"""What is shared while a procedure is woven into a machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dcf.planner.compiling.binding import BindingQuestion, known_schemas
from dcf.planner.compiling.known import NOTHING, Known, reach
from dcf.planner.compiling.state_names import StateNames
from dcf.planner.compiling.tool_results import Schema
from dcf.planner.compiling.work import Members, Work
from dcf.problem import Problem, Severity
from dcf.sop import Sop, Step

State = dict[str, Any]


@dataclass(slots=True)
class Weaving:
    """``places`` has the states of each step by its number, the first one first; ``given`` the
    dotted names that a step is given, by argument; ``questions`` are what such a name may be;
    ``schemas`` those of values by dotted name, with words for where a value comes from."""

    sop: Sop
    works: Mapping[str, Work]
    problems: list[Problem] = field(default_factory=list)
    places: dict[str, list[str]] = field(default_factory=dict)
    given: dict[str, dict[str, str]] = field(default_factory=dict)
    titles: StateNames = field(default_factory=StateNames)
    questions: list[BindingQuestion] = field(default_factory=list)
    schemas: Mapping[str, tuple[Schema, str]] = field(init=False)
    _lost: dict[str, dict[str, list[int]]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.schemas = known_schemas(self.sop, self.works)

    def written(self, steps: Sequence[Step]) -> set[str]:
        """All names that ``steps`` write for those that come after them in the list."""
        return {name for step in steps for name in self.written_by(step)}

    def written_by(self, step: Step) -> set[str]:
        if step.kind == "task":
            return set(self.works[step.number].results)
        if step.kind == "parallel":
            names = {name for lane in step.lanes for name in self.written(lane.steps)}
            return names - self.lost_by(step).keys()
        return {write.target for write in step.writes}

    def lost_by(self, step: Step) -> dict[str, list[int]]:
        """The names that several lanes of ``step`` give without declaring it, with the indexes of
        those lanes. Nobody said whose value is meant, so behind the step they are not known."""
        if step.number in self._lost:
            return self._lost[step.number]
        given = [self.written(lane.steps) for lane in step.lanes]
        ruled = {join.name for join in step.joins}
        lost: dict[str, list[int]] = {}
        for name in sorted(set().union(*given) - ruled):
            lanes = [index for index, names in enumerate(given) if name in names]
            if len(lanes) > 1:
                lost[name] = lanes
        self._lost[step.number] = lost
        return lost

    def why_lost(self, name: str) -> str | None:
        """In words, with lines, that several lanes give ``name``, if that is why nobody knows it
        behind them."""
        for step in self.sop.all_steps():
            lanes = self.lost_by(step).get(name) if step.lanes else None
            if lanes is not None:
                givers = [self._giver(step.lanes[index].steps, name) for index in lanes]
                places = " and ".join(f"step {one.number} (line {one.line})" for one in givers)
                return f"{places} give `{name}` at the same time"
        return None

    def _giver(self, steps: Sequence[Step], name: str) -> Step:
        step = next(one for one in steps if name in self.written_by(one))
        inside = [one for lane in step.lanes for one in lane.steps]
        return self._giver(inside, name) if inside else step

    def surely(self, step: Step) -> Known:
        """What ``step`` has written in any case once it did its work."""
        if step.kind != "parallel":
            return frozenset(self.written_by(step))
        lanes = (reach(lane.steps, NOTHING, self.surely) for lane in step.lanes)
        sure = NOTHING.union(*(lane.surely for lane in lanes)) - self.lost_by(step).keys()
        return sure.union(join.name for join in step.joins if join.keep == "every")

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
        # In its lanes it is one value, afterwards a list.
        found |= dict.fromkeys(
            join.name
            for step in self.sop.all_steps()
            for join in step.joins
            if join.keep == "every"
        )
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
