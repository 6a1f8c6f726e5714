"""Which state of a workflow is which of the one that its new text compiles to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from dcf.planner.drifting.flat_machine import FlatMachine
from dcf.planner.drifting.step_changes import StepChange


def new_names(
    changes: Sequence[StepChange],
    old: Mapping[str, Sequence[str]],
    new: Mapping[str, Sequence[str]],
    base: FlatMachine,
    mine: FlatMachine,
    theirs: FlatMachine,
) -> dict[str, str]:
    """The name in ``theirs`` by the name in ``base`` and ``mine``. ``old`` and ``new`` are the
    states of steps by number. A state that has no counterpart gets a name of its own, where its own
    is taken."""
    names: dict[str, str] = {}
    for change in changes:
        if change.old is not None and change.new is not None:
            names |= zip(old.get(change.old, ()), new.get(change.new, ()), strict=False)
    owned_old = {name for states in old.values() for name in states}
    owned_new = {name for states in new.values() for name in states}
    _match_frames(names, owned_old, owned_new, base, theirs)
    taken = {*theirs.states, *names.values()}
    for name in dict.fromkeys((*base.states, *mine.states)):
        if name not in names and name in taken:
            names[name] = _free(name, taken)
            taken.add(names[name])
    return names


def _match_frames(
    names: dict[str, str],
    owned_old: Collection[str],
    owned_new: Collection[str],
    base: FlatMachine,
    theirs: FlatMachine,
) -> None:
    """States of no step: those of one name, else those that are alike and stand in one machine."""
    left = [name for name in theirs.states if name not in owned_new]
    frames = [name for name in base.states if name not in owned_old]
    for alike in (_is_namesake, _is_kindred):
        for name in frames:
            if name in names:
                continue
            home = base.homes[name]
            here = home._replace(parent=names.get(home.parent, home.parent))
            found = next(
                (
                    one
                    for one in left
                    if theirs.homes[one] == here
                    and alike(name, base.states[name], one, theirs.states[one])
                ),
                None,
            )
            if found is not None:
                names[name] = found
                left.remove(found)


def _is_namesake(name: str, state: Mapping[str, Any], other: str, there: Mapping[str, Any]) -> bool:
    return name == other and state.get("Type") == there.get("Type")


def _is_kindred(name: str, state: Mapping[str, Any], other: str, there: Mapping[str, Any]) -> bool:
    """Whether both begin or both end a list of steps, or are the same failure."""
    kind = state.get("Type")
    return kind == there.get("Type") and (kind != "Fail" or state == there)


def _free(name: str, taken: Collection[str]) -> str:
    count = 2
    while f"{name}{count}" in taken:
        count += 1
    return f"{name}{count}"
