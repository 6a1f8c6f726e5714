"""Loops and parallel lanes: states with machines inside, and what comes out of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from dcf.planner.compiling.expression import Names, member_name, or_null, value_of, wrapped
from dcf.planner.compiling.known import Known
from dcf.planner.compiling.task_state import title_and_text
from dcf.planner.compiling.variables import Scope
from dcf.planner.compiling.weaving import State, Weaving
from dcf.sop import Keep, Step, Transfer

Output = Callable[[Names, Known], Any]
"""What a list of steps puts out at its end, by the names that are surely known there."""


class WeaveInside(Protocol):
    """Weaves a list of steps into a machine, which first assigns ``begin``."""

    def __call__(
        self,
        steps: Sequence[Step],
        scope: Scope,
        known: Known,
        begin: State,
        title: str,
        output: Output,
    ) -> State: ...


def loop_state(
    weaving: Weaving, step: Step, scope: Scope, known: Known, names: Names, weave: WeaveInside
) -> State:
    """A Map: each turn takes its item as a variable, and puts out what is collected."""
    assert step.loop is not None
    item, written = step.loop.item, weaving.written(step.steps)
    inner = scope.inside(step.number, written | {item})
    begin = {inner.variables[item]: f"{{% $states.input.{member_name(item)} %}}"}
    begin |= _carried(written - {item}, inner, names, known)

    def turn(there: Names, sure: Known) -> Any:
        values = {one.target: _output(one.source, there, sure) for one in step.writes}
        return next(iter(values.values())) if len(values) == 1 else values

    body = weave(step.steps, inner, known | {item}, begin, f"Take {item}", turn)
    state: State = {"Type": "Map", "Comment": title_and_text(step)}
    state["Items"] = wrapped(value_of(step.loop.items, names))
    if step.loop.at_once is not None:
        state["MaxConcurrency"] = step.loop.at_once
    state["ItemSelector"] = {item: "{% $states.context.Map.Item.Value %}"}
    state["ItemProcessor"] = body
    if step.writes:
        state["Assign"] = _collected(step.writes, names)
    state["Output"] = {}
    return state


def _collected(writes: Sequence[Transfer], names: Names) -> State:
    """The lists that the turns come to. A path through several members would join lists that are
    elements, so each is mapped."""
    if len(writes) == 1:
        return {names.variable(writes[0].target): "{% $states.result %}"}
    return {
        names.variable(write.target): wrapped(
            "$count($states.result) = 0 ? [] : "
            f"$map($states.result, function($turn) {{ $turn.{member_name(write.target)} }})[]"
        )
        for write in writes
    }


def parallel_state(
    weaving: Weaving, step: Step, scope: Scope, known: Known, names: Names, weave: WeaveInside
) -> State:
    """A Parallel: each lane puts out what it wrote, which is known afterwards."""
    branches: list[State] = []
    wrote: dict[str, list[int]] = {}
    for number, lane in enumerate(step.lanes):
        own = sorted(weaving.written(lane.steps))
        inner = scope.inside(f"{step.number}.{number + 1}", own)
        begin = _carried(set(own), inner, names, known)
        title = lane.title or f"Begin lane {number + 1}"
        named = {"Comment": lane.title} if lane.title else {}
        machine = weave(lane.steps, inner, known, begin, title, _lane_output(own))
        branches.append({**named, **machine})
        for name in own:
            wrote.setdefault(name, []).append(number)
    keeps = {join.name: join.keep for join in step.joins}
    lost = weaving.lost_by(step)
    assigned = {
        names.variable(name): wrapped(joined(name, lanes, keeps.get(name, "first")))
        for name, lanes in wrote.items()
        if name not in lost
    }
    state: State = {"Type": "Parallel", "Comment": title_and_text(step), "Branches": branches}
    if assigned:
        state["Assign"] = assigned
    state["Output"] = {}
    return state


def joined(name: str, lanes: Sequence[int], keep: Keep) -> str:
    """What is known of ``name``, which ``lanes`` put out by their indexes: null where one did not
    write it. A list in brackets would join lists that are elements, so each is mapped."""
    if keep == "every":
        listed = ", ".join(map(str, lanes))
        value = f"$states.result[$lane].{member_name(name)}"
        return f"$map([{listed}], function($lane) {{ {value} }})[]"
    ordered = lanes if keep == "first" else lanes[::-1]
    *before, other = (f"$states.result[{lane}].{member_name(name)}" for lane in ordered)
    return "".join([*(f"{one} != null ? {one} : " for one in before), other])


def _lane_output(own: Sequence[str]) -> Output:
    return lambda names, sure: {name: _output(name, names, sure) for name in own}


def _output(path: str, names: Names, sure: Known) -> str:
    """A value that goes out, null where some way to the end has not written it."""
    value = value_of(path, names)
    return wrapped(value if path in sure else or_null(value))


def _carried(own: set[str], inner: Scope, names: Names, known: Known) -> State:
    """What is known outside under a name that the inside writes too, for its own variable."""
    return {
        inner.variables[name]: wrapped(value_of(name, names))
        for name in sorted(own)
        if name in known and inner.variables[name] != names.variable(name)
    }
