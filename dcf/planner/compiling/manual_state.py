"""The Task state of a step that a person does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dcf.planner.compiling.expression import Names, result_of, wrapped
from dcf.planner.compiling.task_state import arguments, retries, rule_lines, title_and_text
from dcf.planner.compiling.value_schema import value_schema
from dcf.sop import YES_OR_NO, Sop, Step, Transfer, Value

State = dict[str, Any]


def manual_state(step: Step, shown: Mapping[str, str], names: Names, sop: Sop) -> State:
    """The state of a manual step, without its transitions. ``shown`` are the dotted names of what
    the person is shown, by the name that it has there."""
    manual: State = {}
    if step.people:
        manual["by"] = list(step.people)
    if step.choices:
        manual["choices"] = list(step.choices)
    reported = step.writes[1:] if step.choices else step.writes
    if reported:
        manual["result"] = _schema(reported, sop)
    state: State = {
        "Type": "Task",
        "Comment": "\n".join([title_and_text(step), *rule_lines(sop.guardrails)]),
        "AgentBinding": {"task_type": "manual", "manual": manual},
        "Arguments": arguments(shown, names),
    }
    if step.deadline is not None:
        state["TimeoutSeconds"] = step.deadline
    if found := retries(step.retries, is_approved=False):
        state["Retry"] = found
    if step.writes:
        kept = {one.target: result_of(tuple(one.source.split("."))) for one in reported}
        if step.choices:
            kept = {step.writes[0].target: _answer(step), **kept}
        state["Assign"] = {names.variable(name): wrapped(one) for name, one in kept.items()}
    return state


def _answer(step: Step) -> str:
    """The choice; of yes and no as procedures have it, which is true and false."""
    chosen = result_of(("answer",))
    return f"{chosen} = 'yes'" if set(step.choices) == YES_OR_NO else chosen


def _schema(reported: Sequence[Transfer], sop: Sop) -> State:
    """What the person has to report; of the type that the step says, or that an output of this name
    has."""
    known = {one.name: value_schema(one) for one in sop.outputs}
    known |= {
        one.source: value_schema(Value(one.source, one.type, items=one.items))
        for one in reported
        if one.type is not None
    }
    members = {one.root: known.get(one.root, {}) for one in reported}
    return {"type": "object", "properties": members, "required": list(members)}
