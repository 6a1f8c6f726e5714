"""Edits by hand that a workflow keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dcf.planner.drifting.flat_machine import FlatMachine
from dcf.planner.drifting.machine_merge import MachineMerge
from dcf.planner.drifting.three_way import MISSING, UNKNOWN

_OUTSIDE = ("asl", "plan", "skill_imports")


@dataclass(frozen=True, slots=True)
class Edit:
    """``members`` are those of the state (or of the document, with ``state`` None) that were
    edited; none for a state that was added or taken out."""

    kind: Literal["edited", "added", "removed"]
    state: str | None
    members: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "state": self.state, "members": list(self.members)}


def edits_of(
    merge: MachineMerge,
    result: FlatMachine,
    members: Any,
    mine: Mapping[str, Any],
    document: Mapping[str, Any],
) -> Iterator[Edit]:
    """The edits that are in ``result``, and those of ``members`` of the document."""
    for name, state in merge.mine.states.items():
        if name not in result.states:
            continue
        if name not in merge.base.states:
            yield Edit("added", name)
            continue
        was = {} if name in merge.unknown else merge.base.states[name]
        edited = _edited(was, state, result.states[name])
        if edited:
            yield Edit("edited", name, edited)
    for name in merge.base.states:
        if name in merge.theirs.states and not {name} & (
            result.states.keys() | merge.mine.states.keys()
        ):
            yield Edit("removed", name)
    if members is not UNKNOWN:
        outside = [{name: part for name, part in one.items() if name not in _OUTSIDE}
                   for one in (members, mine, document)]  # fmt: skip
        edited = _edited(*outside)
        if edited:
            yield Edit("edited", None, edited)


def _edited(
    was: Mapping[str, Any], mine: Mapping[str, Any], result: Mapping[str, Any]
) -> tuple[str, ...]:
    """The members that ``mine`` says otherwise, as far as ``result`` still does."""
    return tuple(
        name
        for name in dict.fromkeys((*mine, *was))
        if mine.get(name, MISSING) != was.get(name, MISSING)
        and result.get(name, MISSING) == mine.get(name, MISSING)
    )
