"""What the skills of uncovered steps would take and give: typed by what wrote a value, and by all
that is done with it later."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from dcf.planner.compiling.shape import Shape
from dcf.planner.compiling.tool_results import Schema, required_tools
from dcf.planner.compiling.value_schema import value_schema
from dcf.planner.compiling.weaving import Weaving
from dcf.planner.compiling.welcome import prefer_welcome
from dcf.planner.compiling.work import Work, result_schema
from dcf.sop import (
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Constant,
    Loop,
    Match,
    Membership,
    Name,
    Not,
    Step,
    Wait,
)

Scope = ChainMap[str, Shape]
_JSON_TYPES = {bool: "boolean", int: "number", float: "number", str: "string"}


@dataclass(frozen=True, slots=True)
class GapData:
    """``takes`` and ``gives`` have the shapes of the arguments and results by name; ``optional``
    are arguments whose value may be missing."""

    takes: Mapping[str, Shape]
    gives: Mapping[str, Shape]
    optional: frozenset[str]


def gap_data(weaving: Weaving) -> dict[str, GapData]:
    """For each step without a skill, by its number. The procedure has been woven before."""
    return _Reading(weaving).all()


@dataclass(slots=True)
class _Reading:
    """Walks the procedure once, joins shapes that are one value, and notes what is said of them.
    What is said more firmly (declared, then given by a tool, then wanted by one) is applied first,
    so that it stands."""

    weaving: Weaving
    found: dict[str, GapData] = field(default_factory=dict)
    declared: list[tuple[Shape, Schema]] = field(default_factory=list)
    given: list[tuple[Shape, Schema]] = field(default_factory=list)
    wanted: list[tuple[Shape, Schema]] = field(default_factory=list)
    compared: list[tuple[Shape, Shape]] = field(default_factory=list)
    asked: list[tuple[Step, Scope, Sequence[Step]]] = field(default_factory=list)

    def all(self) -> dict[str, GapData]:
        sop = self.weaving.sop
        scope = Scope({})
        for value in (*sop.inputs, *sop.outputs):
            self.declared.append((_at(scope, value.name), value_schema(value)))
        self._walk(sop.steps, scope)
        for shape, schema in (*self.declared, *self.given, *self.wanted):
            shape.hint(schema)
        for one, other in self.compared:
            for shape, beside in ((one, other), (other, one)):
                if not shape.is_told and beside.kind is not None:
                    shape.hint({"type": beside.kind})
        for step, scope, steps in self.asked:
            prefer_welcome(step, steps, partial(_at, scope))
        return self.found

    def _walk(self, steps: Sequence[Step], scope: Scope) -> None:
        for step in steps:
            if step.kind == "task":
                self._task(self.weaving.works[step.number], scope)
            if step.loop is not None:
                self._loop(step, step.loop, scope)
            if step.lanes:
                self._lanes(step, scope)
            if isinstance(step.wait, Wait):
                self._wait(step.wait, scope)
            for branch in step.branches:
                self._condition(branch.condition, scope)
            if step.branches:
                self.asked.append((step, scope, steps))

    def _task(self, work: Work, scope: Scope) -> None:
        given = self.weaving.given.get(work.step.number, {})
        if work.gap is not None:
            self.found[work.step.number] = self._gap(work.step, given, scope)
            return
        properties = {
            name: schema
            for tool in required_tools(work.skills)
            for name, schema in tool.input_schema.get("properties", {}).items()
        }
        for argument, path in given.items():
            self.wanted.append((_at(scope, path), properties.get(argument, {})))
        for name, found in work.results.items():
            self.given.append((_at(scope, name), result_schema(work, found)))

    def _gap(self, step: Step, given: Mapping[str, str], scope: Scope) -> GapData:
        gives: dict[str, Shape] = {}
        for write in step.writes:
            root, _, rest = write.source.partition(".")
            gives.setdefault(root, Shape()).draft().at(rest).join(_at(scope, write.target))
        perhaps = self.weaving.perhaps_null()
        unsure = {name for name, path in given.items() if "." in path or path in perhaps}
        takes = {name: _at(scope, path) for name, path in given.items()}
        return GapData(takes, gives, frozenset(unsure))

    def _loop(self, step: Step, loop: Loop, scope: Scope) -> None:
        own = {name: Shape() for name in self.weaving.written(step.steps)}
        inner = scope.new_child({**own, loop.item: _at(scope, loop.items).element()})
        self._walk(step.steps, inner)
        for write in step.writes:
            _at(scope, write.target).element().join(_at(inner, write.source))

    def _lanes(self, step: Step, scope: Scope) -> None:
        """What is kept of every lane is one value inside, and a list of them behind."""
        every = [join.name for join in step.joins if join.keep == "every"]
        for lane in step.lanes:
            inner = scope.new_child({name: Shape() for name in every}) if every else scope
            self._walk(lane.steps, inner)
            for name in every:
                _at(scope, name).element().join(_at(inner, name))

    def _wait(self, wait: Wait, scope: Scope) -> None:
        if isinstance(wait.seconds, Name):
            self.wanted.append((_at(scope, wait.seconds.path), {"type": "integer"}))
        if isinstance(wait.until, Name):
            schema = {"type": "string", "format": "date-time"}
            self.wanted.append((_at(scope, wait.until.path), schema))

    def _condition(self, condition: Condition, scope: Scope) -> None:
        match condition:
            case Comparison(left, _, Name() as right):
                self.compared.append((_at(scope, left.path), _at(scope, right.path)))
            case Comparison(left, _, Constant() as right):
                self.wanted.append((_at(scope, left.path), _type_schema(right)))
            case Membership(name, values):
                self.wanted.append((_at(scope, name.path), _type_schema(values[0])))
            case Match(name, _):
                self.wanted.append((_at(scope, name.path), {"type": "string"}))
            case Not(inner):
                self._condition(inner, scope)
            case AllOf(parts) | AnyOf(parts):
                for part in parts:
                    self._condition(part, scope)


def _at(scope: Scope, path: str) -> Shape:
    """The shape at the dotted ``path``; a root that nobody knows is one of the procedure."""
    root, _, rest = path.partition(".")
    if root not in scope:
        scope.maps[-1][root] = Shape()
    return scope[root].at(rest)


def _type_schema(constant: Constant) -> Schema:
    return {"type": _JSON_TYPES[type(constant.value)]}
