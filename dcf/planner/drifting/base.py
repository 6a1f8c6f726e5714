"""What a workflow was when it was compiled, before somebody edited it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dcf.digest import canonical_json, digest
from dcf.planner.compiling.people import with_people
from dcf.planner.compiling.plan import Plan
from dcf.planner.drifting.flat_machine import FlatMachine
from dcf.planner.drifting.three_way import UNKNOWN
from dcf.planner.states_digest import all_states, states_digest
from dcf.sop import Sop, Step

Compile = Callable[[Sop], Plan]


@dataclass(frozen=True, slots=True)
class Base:
    """``flat`` is the machine as it was compiled; ``unknown`` are the states that nobody can tell
    any more, since they were edited and their skills are others today. ``edited`` are the numbers
    of the steps whose states were edited; ``members`` what the document said beside its machine,
    ``UNKNOWN`` where the procedure does not compile any more."""

    flat: FlatMachine
    members: Any
    edited: frozenset[str]
    unknown: frozenset[str] = field(default=frozenset())


def base_of(document: Mapping[str, Any], sop: Sop, compile_: Compile) -> Base:
    """What ``document`` was when it was compiled from ``sop``, which its plan has."""
    plan, definition = document["plan"], document["asl"]
    states = all_states(definition)
    edited = frozenset(
        one["step"]
        for one in plan["steps"]
        if one["digest"] != states_digest(one["states"], states)
    )
    first = compile_(sop)
    if first.document is not None and plan.get("asl") == digest(canonical_json(definition)):
        return Base(FlatMachine.of(definition), _members(first.document, plan), edited)
    made = [one for one in _compiled(first, sop, plan, compile_) if one is not None]
    members = _members(made[0], plan) if made else UNKNOWN
    flat = FlatMachine.of(made[0]["asl"]) if made else FlatMachine()
    mine = FlatMachine.of(definition)
    unknown = set[str]()
    for entry in plan["steps"]:
        names = entry["states"]
        found = mine if entry["step"] not in edited else _proven(entry, mine, made)
        for name in names:
            if found is None or name not in found.states:
                unknown.add(name)
                flat.states.setdefault(name, {})
            else:
                flat.states[name] = found.states[name]
            flat.homes.setdefault(name, mine.homes.get(name, next(iter(mine.homes.values()))))
    return Base(flat, members, edited, frozenset(unknown))


def _proven(
    entry: Mapping[str, Any], mine: FlatMachine, made: list[Mapping[str, Any]]
) -> FlatMachine | None:
    """The version that has the states of a step with the digest that they were compiled with."""
    names = entry["states"]
    for document in made:
        flat = FlatMachine.of(document["asl"])
        if states_digest(names, flat.states) == entry["digest"]:
            return flat
        for name in names:
            # A comment tells why a skill was chosen, which measures and advice change.
            if name in flat.states and "Comment" in mine.states.get(name, {}):
                flat.states[name] |= {"Comment": mine.states[name]["Comment"]}
        if states_digest(names, flat.states) == entry["digest"]:
            return flat
    return None


def _compiled(
    first: Plan, sop: Sop, plan: Mapping[str, Any], compile_: Compile
) -> list[Mapping[str, Any] | None]:
    """``sop`` compiled as it is (``first``), and with the very skills that were chosen for it;
    where one is not there any more, with persons in their place."""
    chosen = {one["step"]: tuple(one.get("skills", ())) for one in plan["steps"]}
    pinned = replace(sop, steps=_pinned(sop.steps, chosen))
    second = compile_(pinned)
    gaps = {gap.step.number for gap in first.gaps}
    rest = [compile_(with_people(sop, gaps)).document] if gaps and first.document is None else []
    return [first.document, second.document, *rest]


def _pinned(steps: tuple[Step, ...], chosen: Mapping[str, tuple[str, ...]]) -> tuple[Step, ...]:
    return tuple(
        replace(
            step,
            skills=chosen.get(step.number) or step.skills if step.kind == "task" else step.skills,
            steps=_pinned(step.steps, chosen),
            lanes=tuple(replace(lane, steps=_pinned(lane.steps, chosen)) for lane in step.lanes),
        )
        for step in steps
    )


def _members(document: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, Any]:
    """What the document said beside its machine; imports by the skills that were chosen then."""
    used = dict.fromkeys(ref for one in plan["steps"] for ref in one.get("skills", ()))
    members = {name: part for name, part in document.items() if name not in ("asl", "plan")}
    return members | {"skill_imports": [{"uri": f"skill://{ref}"} for ref in used]}
