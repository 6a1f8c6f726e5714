"""What a state is given and keeps, and how it is carried out, in the terms of a step."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dcf.planner.decompiling.jsonata_condition import NotPlain
from dcf.planner.decompiling.jsonpath_condition import dotted
from dcf.sop import VALUE_TYPES, Approval, Budget, Join, Keep, Retry, Step, Transfer, clashes

State = Mapping[str, Any]
_VALUE = re.compile(
    r"(?:\$exists\((?P<there>[^()]+)\) \? )?(?P<value>[$\w.`]+(?: = 'yes')?)(?: : null)?"
)
_UNASKED = {
    "ErrorEquals": ["DCF.ToolUnavailable", "DCF.ToolTimeout"],
    "IntervalSeconds": 1,
    "MaxAttempts": 2,
}
_RESULT = re.compile(r"\$states\.result(?:\.(?P<path>[\w.]+))?(?: = 'yes')?")
_FROM_LANE = re.compile(r"\$states\.result\[(\d+|\$lane)\]\.`?(\w+)")
_NAME = re.compile(r"[A-Za-z_]\w*")


def reads_of(state: State) -> tuple[Transfer, ...]:
    """What the state passes to its work, as far as it is values as they are."""
    found = []
    given = state.get("Arguments", state.get("Parameters"))
    for key, value in given.items() if isinstance(given, Mapping) else ():
        target = key.removesuffix(".$")
        source = source_of(value)
        if source is not None and _NAME.fullmatch(target):
            found.append(Transfer(source, target))
    return tuple(found)


def source_of(value: Any) -> str | None:
    """The dotted name of an expression that is nothing but a value."""
    if not isinstance(value, str):
        return None
    text = value.strip()
    if text.startswith("{%"):
        match = _VALUE.fullmatch(text.removeprefix("{%").removesuffix("%}").strip())
        text = match["value"].replace("$states.input.", "$") if match else ""
    try:
        return dotted(text)
    except NotPlain:
        return None


def writes_of(state: State, kind: str, known: Step | None) -> tuple[Transfer, ...]:
    """What the state keeps of its result."""
    if kind == "parallel":
        return ()
    if kind == "loop":
        return tuple(_collected(state, known))
    if kind == "manual":
        return tuple(_answered(state))
    if kind != "task":
        return ()
    put_in = _put_in(state)
    if put_in:
        return (Transfer(put_in, put_in),)
    return tuple(
        Transfer(_member(value) or key.removesuffix(".$"), key.removesuffix(".$"))
        for key, value in _kept(state).items()
        if _NAME.fullmatch(key.removesuffix(".$"))
    )


def _kept(state: State) -> Mapping[str, Any]:
    """What is kept of a result by name: as variables, as what a lane puts out, or as the payload
    of what comes next."""
    fields = ["Assign", "Output"] if state.get("End") is True else ["Assign"]
    fields += ["ResultSelector"] if state.get("Type") == "Task" else ["Parameters", "Result"]
    for field in fields:
        found = state.get(field)
        if isinstance(found, Mapping) and found:
            return found
    return {}


def _put_in(state: State) -> str | None:
    """Where a state in JSONPath puts its result into its input."""
    try:
        return dotted(state.get("ResultPath")).replace(".", "_")
    except NotPlain:
        return None


def _collected(state: State, known: Step | None) -> Iterator[Transfer]:
    """The lists of what the turns left, with the names under which they left it."""
    writes = {write.target: write for write in known.writes} if known else {}
    left = _left(state)
    assigned = state.get("Assign")
    for target in assigned if isinstance(assigned, Mapping) else ():
        source = left if isinstance(left, str) else left.get(target)
        if target in writes:
            yield writes[target]
        elif source is not None and _NAME.fullmatch(target):
            yield Transfer(source, target)


def _left(state: State) -> str | Mapping[str, str]:
    """What a turn puts out: one name, or names by the list they go to."""
    inner = state.get("ItemProcessor")
    states = inner.get("States") if isinstance(inner, Mapping) else None
    for end in states.values() if isinstance(states, Mapping) else ():
        if isinstance(end, Mapping) and (end.get("Type") == "Succeed" or end.get("End") is True):
            output = end.get("Output")
            source = source_of(output)
            if source is not None:
                return source
            if isinstance(output, Mapping):
                found = {key: source_of(value) for key, value in output.items()}
                return {key: one for key, one in found.items() if one is not None}
    return {}


def joins_of(state: State, step: Step) -> tuple[Join, ...]:
    """What the Parallel of ``step`` keeps of the names that several lanes write."""
    assigned = state.get("Assign")
    taken: dict[str, list[str]] = {}
    for variable, value in assigned.items() if isinstance(assigned, Mapping) else ():
        for lane, name in _FROM_LANE.findall(str(value)):
            # Lanes that took it over from outside call it as the variable there is called.
            for called in {name, variable}:
                taken.setdefault(called, []).append(lane)
    return tuple(
        Join(name, _keep(taken[name], max(lines)))
        for name, lines in clashes(step).items()
        if name in taken
    )


def _keep(lanes: Sequence[str], last: int) -> Keep:
    """By the lanes that are asked for a value, in order; the last alone is what compilers wrote
    that knew no rule."""
    if lanes == ["$lane"]:
        return "every"
    return "last" if lanes[0] == str(last) else "first"


def _answered(state: State) -> Iterator[Transfer]:
    """What is kept of a person's answer, the choice first; under a name that nobody reads where a
    choice is not kept and something else is."""
    kept = {key: _member(value) for key, value in _kept(state).items() if _NAME.fullmatch(key)}
    answer = next((key for key, member in kept.items() if member == "answer"), None)
    if choices_of(state["AgentBinding"]) and kept:
        yield Transfer("answer", answer or "answer")
    asked = state["AgentBinding"]["manual"].get("result")
    schemas = asked.get("properties", {}) if isinstance(asked, Mapping) else {}
    for key, member in kept.items():
        if key != answer and member is not None:
            yield Transfer(member, key, **_type(schemas.get(member)))


def _type(schema: Any) -> dict[str, Any]:
    """The type that a step can say of what a person reports."""
    found = schema if isinstance(schema, Mapping) else {}
    kind, items = found.get("type"), found.get("items")
    if kind not in VALUE_TYPES:
        return {}
    item = items.get("type") if kind == "array" and isinstance(items, Mapping) else None
    return {"type": kind, "items": item if item in VALUE_TYPES else None}


def asked_beyond(binding: Mapping[str, Any], writes: Sequence[Transfer]) -> list[str]:
    """In words what a person has to report beside the types of ``writes``."""
    wanted = binding.get("manual")
    asked = wanted.get("result") if isinstance(wanted, Mapping) else None
    if not isinstance(asked, Mapping):
        return []
    said = {
        one.source: {"type": one.type} | ({"items": {"type": one.items}} if one.items else {})
        for one in writes
        if one.type is not None
    }
    told = {
        name: {key: part for key, part in schema.items() if key not in ("description", "examples")}
        for name, schema in asked.get("properties", {}).items()
        if isinstance(schema, Mapping)
    }
    beyond = {name: schema for name, schema in told.items() if schema and schema != said.get(name)}
    return [f"What is reported has to fit {json.dumps(beyond)}."] if beyond else []


def choices_of(binding: Mapping[str, Any]) -> tuple[str, ...]:
    """What the person who does a manual task can answer."""
    wanted = binding.get("manual")
    return tuple(map(str, wanted.get("choices", ()))) if isinstance(wanted, Mapping) else ()


def _member(value: Any) -> str | None:
    """The member of the result that is kept."""
    if not isinstance(value, str):
        return None
    match = _VALUE.fullmatch(value.strip().removeprefix("{%").removesuffix("%}").strip())
    result = _RESULT.fullmatch(match["value"]) if match else None
    return result["path"] if result else None


def names_outside(machine: Mapping[str, Any]) -> dict[str, str]:
    """The names of values by the variables that ``machine`` has for them, where they differ: what
    it takes over in its first state, and what it puts out in its last."""
    found: dict[str, str] = {}
    states = machine.get("States")
    for name, state in states.items() if isinstance(states, Mapping) else ():
        if not isinstance(state, Mapping):
            continue
        taken, output = state.get("Assign"), state.get("Output")
        if name == machine.get("StartAt") and state.get("Type") == "Pass":
            pairs = taken.items() if isinstance(taken, Mapping) else ()
            found |= {own: source for own, value in pairs if (source := source_of(value))}
        if state.get("Type") == "Succeed" and isinstance(output, Mapping):
            for outer, value in output.items():
                own = source_of(value)
                if own and own.startswith(f"{outer}_"):
                    found.setdefault(own, outer)
    return {own: name for own, name in found.items() if own != name and own.isidentifier()}


def asked_in_turn(binding: Mapping[str, Any]) -> list[str]:
    """In words that the second is asked where the first did not answer, if it is so."""
    wanted = binding.get("approval")
    by = wanted.get("approvers", ()) if isinstance(wanted, Mapping) else ()
    if len(by) < 2 or wanted.get("any_of"):  # type: ignore[union-attr]  # it has approvers
        return []
    return [f"They are asked one after another, each if the one before is silent: {', '.join(by)}"]


def retries_of(state: State) -> tuple[Retry, ...]:
    """How often it is tried again. What retries nothing, or only lost answers unasked, is left
    out: a compiler adds it by itself."""
    found = []
    for retrier in state.get("Retry", ()) if isinstance(state.get("Retry"), list) else ():
        if not isinstance(retrier, Mapping):
            continue
        errors = tuple(str(one) for one in retrier.get("ErrorEquals", ()))
        times = retrier.get("MaxAttempts", 3)
        if times == 0 or retrier == _UNASKED:
            continue
        found.append(
            Retry(
                times,
                retrier.get("IntervalSeconds", 1),
                float(retrier.get("BackoffRate", 2.0)),
                retrier.get("MaxDelaySeconds"),
                tuple(one for one in errors if one != "States.ALL"),
            )
        )
    return tuple(found)


def approval_of(binding: Mapping[str, Any]) -> Approval | None:
    wanted = binding.get("approval")
    if not isinstance(wanted, Mapping) or not wanted.get("required"):
        return None
    return Approval(tuple(str(one) for one in wanted.get("approvers", ())))


def budget_of(binding: Mapping[str, Any]) -> Budget | None:
    wanted = binding.get("budget")
    if not isinstance(wanted, Mapping):
        return None
    members = ("tool_calls", "model_calls", "tokens", "cost_usd", "wall_time_s")
    return Budget(**{name: wanted[name] for name in members if name in wanted})
