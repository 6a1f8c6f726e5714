"""Companions that conduct: nobody waits for himself, however long the way round."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcf.sessions import (
    Broadcast,
    Context,
    DelegationCycle,
    Draft,
    Head,
    NewCompanion,
    Order,
    agent_of,
    why_it_waits,
)
from dcf.sessions.assigning import assign
from dcf.sessions.broadcasting import broadcast
from dcf.sessions.delegating import delegate, redelegate
from dcf.sessions.draft import new_record
from dcf.sessions.staffing import employ, take_seat

ME = "conductor-1"
A, B, C = "companion-a", "companion-b", "companion-c"


def begun(*names: str) -> Draft:
    """Companions that all conduct, too."""
    conductors = (ME, *names, *(agent_of("s1", name) for name in names))
    draft = Draft("s1", new_record(Head("help", conductors, 1_000), Context()), now=1_000)
    for name in names:
        made = employ(draft, NewCompanion(ME, name=name), "0")
        take_seat(draft, made.companion_id)
    return draft


def give(draft: Draft, task_id: str, by: str, to: str | None = None) -> str | None:
    """Who gets a task of ``by``, if anybody."""
    delegate(draft, Order("Do it.", by, companion_id=to), task_id)
    assign(draft)
    return draft.tasks[task_id].companion_id


@pytest.mark.parametrize("name", [A, agent_of("s1", A)])
def test_nobody_is_given_what_he_ordered(name: str) -> None:
    draft = begun(A)
    assert give(draft, "t", name) is None
    why = why_it_waits(draft.session(1), draft.tasks["t"])
    assert why == "no companion is free for it (there is none)"
    with pytest.raises(DelegationCycle, match="companion-a is itself"):
        give(draft, "t2", name, A)


def test_who_waits_for_a_task_does_no_part_of_it() -> None:
    draft = begun(A, B, C)
    assert give(draft, "t1", ME, A) == A
    assert give(draft, "t2", A, B) == B
    with pytest.raises(DelegationCycle, match="companion-a waits for t2, and that for companion-b"):
        give(draft, "t3", B, A)
    assert give(draft, "t3", B) == C
    for waiting in (A, B):
        with pytest.raises(DelegationCycle):
            give(draft, "t4", C, waiting)
    with pytest.raises(DelegationCycle):
        redelegate(draft, "t3", A, by=ME)


def test_by_name_or_by_number_only_others_are_asked() -> None:
    draft = begun(A, B, C)
    give(draft, "t1", A, B)
    group = broadcast(draft, Broadcast(Order("Vote.", B), "all", most=5), "g")
    assert [draft.tasks[child].wanted for child in group.children] == [C]


def test_when_it_is_done_there_is_no_circle_any_more() -> None:
    draft = begun(A, B)
    give(draft, "t1", A, B)
    draft.put(replace(draft.tasks["t1"], status="succeeded"))
    draft.seat(replace(draft.companions[B], status="idle", task_id=None))
    assert give(draft, "t2", B, A) == A
