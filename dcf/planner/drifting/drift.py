"""What a new text changes in a workflow, with what was edited by hand kept."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dcf.planner.drifting.alignment import new_names
from dcf.planner.drifting.base import Base, Compile, base_of
from dcf.planner.drifting.edit import Edit, edits_of
from dcf.planner.drifting.flat_machine import FlatMachine
from dcf.planner.drifting.machine_merge import Conflict, MachineMerge, Takes
from dcf.planner.drifting.step_changes import StepChange, frame_changes, step_changes
from dcf.planner.drifting.three_way import MISSING, UNKNOWN, merged
from dcf.sop import Sop, parse_markdown

_OUTSIDE = ("asl", "plan", "skill_imports")
_STEP = re.compile(r"\(Step [\d.]+")


@dataclass(frozen=True, slots=True)
class Drift:
    """``document`` is the workflow by the new text with the edits of the old one; it is to be
    validated, and as long as a conflict of ``open`` has no answer it is a proposal. ``steps`` are
    the changes of the text, ``frame`` the lines of it that are about the whole procedure."""

    document: dict[str, Any]
    steps: tuple[StepChange, ...]
    frame: tuple[str, ...]
    conflicts: tuple[Conflict, ...]
    kept: tuple[Edit, ...]
    dropped: tuple[str, ...]
    states: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def open(self) -> tuple[Conflict, ...]:
        return tuple(one for one in self.conflicts if one.take is None)

    def to_json(self) -> dict[str, Any]:
        return {
            "steps": [one.to_json() for one in self.steps],
            "frame": list(self.frame),
            "states": {name: list(names) for name, names in self.states.items()},
            "conflicts": [one.to_json() for one in self.conflicts],
            "kept": [one.to_json() for one in self.kept],
            "dropped": list(self.dropped),
        }


def source_of(document: Any) -> Sop | None:
    """The procedure that ``document`` was compiled from; None for one that keeps none."""
    plan = document.get("plan") if isinstance(document, Mapping) else None
    if not isinstance(plan, Mapping) or not isinstance(document.get("asl"), Mapping):
        return None
    text = plan.get("sop")
    entries = plan.get("steps")
    is_whole = isinstance(entries, list) and all(
        isinstance(one, Mapping)
        and isinstance(one.get("step"), str)
        and isinstance(one.get("states"), list)
        and isinstance(one.get("digest"), str)
        for one in entries
    )
    return parse_markdown(text, "plan").sop if is_whole and isinstance(text, str) else None


def drift(mine: dict[str, Any], theirs: dict[str, Any], compile_: Compile, takes: Takes) -> Drift:
    """What compiling the new text, to ``theirs``, changes in ``mine``, a valid document that was
    compiled from an older text. ``compile_`` compiles that one again; ``takes`` answers conflicts.
    Raises ValueError for a document that keeps no procedure."""
    old, new = source_of(mine), source_of(theirs)
    if old is None or new is None:
        raise ValueError("the document keeps no procedure that it was compiled from")
    base = base_of(mine, old, compile_)
    changes = step_changes(old, new)
    flats = FlatMachine.of(mine["asl"]), FlatMachine.of(theirs["asl"])
    before, after = _states_of(mine["plan"]), _states_of(theirs["plan"])
    names = new_names(changes, before, after, base.flat, *flats)
    merge = MachineMerge(
        base=base.flat.renamed(names),
        mine=flats[0].renamed(names),
        theirs=flats[1],
        unknown=frozenset(names.get(name, name) for name in base.unknown),
        steps=_step_keys(changes, before, after, names),
        changed=_both_changed(changes, base),
        takes=takes,
    )
    machine = merge.machine()
    members, conflicts = _members(base, mine, theirs, machine, takes)
    document = {
        name: theirs[name] if name == "plan" else machine if name == "asl" else members[name]
        for name in dict.fromkeys((*theirs, *mine))
        if name in ("plan", "asl") or members.get(name, MISSING) is not MISSING
    }
    document["plan"] = {**mine["plan"], **theirs["plan"]}
    told = {change.new or f"old-{change.old}": change for change in changes}
    return Drift(
        mine if document == mine else document,
        tuple(changes),
        frame_changes(old, new),
        tuple(one.about(told.get(one.key)) for one in (*merge.conflicts.values(), *conflicts)),
        tuple(edits_of(merge, FlatMachine.of(machine), base.members, mine, document)),
        tuple(merge.dropped),
        _changed_states(merge),
    )


def _states_of(plan: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    return {one["step"]: one["states"] for one in plan["steps"]}


def _step_keys(
    changes: Sequence[StepChange],
    before: Mapping[str, Sequence[str]],
    after: Mapping[str, Sequence[str]],
    names: Mapping[str, str],
) -> dict[str, str]:
    """What a conflict about a state is called, by its new name: the number of its step."""
    found: dict[str, str] = {}
    for change in changes:
        key = change.new or f"old-{change.old}"
        for name in before.get(change.old or "", ()):
            found[names.get(name, name)] = key
        found |= dict.fromkeys(after.get(change.new or "", ()), key)
    return found


def _both_changed(changes: Sequence[StepChange], base: Base) -> frozenset[str]:
    """The steps that the new text says otherwise, and whose states were edited."""
    return frozenset(
        one.new
        for one in changes
        if one.new is not None and one.old in base.edited and one.kind == "changed"
    )


def _members(
    base: Base,
    mine: Mapping[str, Any],
    theirs: Mapping[str, Any],
    machine: Mapping[str, Any],
    takes: Takes,
) -> tuple[dict[str, Any], list[Conflict]]:
    """What the document says beside its machine."""
    found: dict[str, Any] = {}
    conflicts = []
    for name in dict.fromkeys((*theirs, *mine)):
        if name in _OUTSIDE:
            continue
        was = UNKNOWN if base.members is UNKNOWN else base.members.get(name, MISSING)
        take = takes.side(name)
        three = (was, mine.get(name, MISSING), theirs.get(name, MISSING))
        part = merged(*three, take or "workflow")
        found[name] = part.value
        if part.conflicts:
            conflicts.append(Conflict(name, take))
    found["skill_imports"] = _imports(base, mine, theirs, machine)
    return found, conflicts


def _imports(
    base: Base, mine: Mapping[str, Any], theirs: Mapping[str, Any], machine: Mapping[str, Any]
) -> list[Any]:
    """Those of the new workflow, those added by hand, and those that kept states need; in the
    order of the old one as far as nothing else is asked."""
    used = {
        f"skill://{ref}"
        for state in FlatMachine.of(machine).states.values()
        for ref in _skills(state.get("AgentBinding"))
    }
    was = [] if base.members is UNKNOWN else base.members["skill_imports"]
    there = list(theirs.get("skill_imports", ()))
    more = [
        one
        for one in mine.get("skill_imports", ())
        if one not in there and (one not in was or one.get("uri") in used)
    ]
    return [*there, *more]


def _skills(binding: Any) -> Sequence[str]:
    skills = binding.get("skills", ()) if isinstance(binding, Mapping) else ()
    return [one for one in skills if isinstance(one, str)]


def _said(state: Mapping[str, Any]) -> dict[str, Any]:
    said = {name: part for name, part in state.items() if name not in ("Next", "Default")}
    return said | {"Comment": _STEP.sub("", str(state.get("Comment", "")))}


def _changed_states(merge: MachineMerge) -> dict[str, Sequence[str]]:
    """The states that come, go and say otherwise with the new text; those that only lead on
    otherwise, or whose step has another number, are not among them."""
    base, theirs = merge.base.states, merge.theirs.states
    return {
        "added": [name for name in theirs if name not in base],
        "removed": [name for name in base if name not in theirs],
        "changed": [
            name
            for name in theirs
            if name in base and name not in merge.unknown
            if _said(base[name]) != _said(theirs[name])
        ],
    }
