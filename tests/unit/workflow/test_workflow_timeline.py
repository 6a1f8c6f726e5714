"""Who did what, also where no event of its own says so."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from control_plane.history import HistoryEvent
from dcf.workflow import Timeline


def timeline(*events: dict[str, Any]) -> Timeline:
    """One event every 100 ms."""
    built = Timeline()
    for number, event in enumerate(events):
        built.add(HistoryEvent(f"{number}-0", 1_000 + 100 * number, event, "digest"))
    return built


def acquired(path: str, owner: str) -> dict[str, Any]:
    return {"type": "LeaseAcquired", "path": path, "owner": owner, "fence": 1}


def done(path: str, then: str | None = None) -> dict[str, Any]:
    return {"type": "StateDone", "path": path, "visit": 1} | ({"next": then} if then else {})


def test_offsets_count_from_the_first_event() -> None:
    built = timeline({"type": "RunStarted"}, acquired("A", "w1"))

    assert [moment.offset_s for moment in built.moments] == [0.0, 0.1]


def test_who_finishes_a_state_goes_on_with_the_next_one_in_place() -> None:
    built = timeline(acquired("A", "w1"), done("A", "B"), done("B", "C"), done("C"))

    assert [moment.who for moment in built.moments] == ["w1"] * 4
    assert built.holders == {"A": "w1", "B": "w1", "C": "w1"}


def test_who_takes_a_state_from_the_queue_holds_it() -> None:
    built = timeline(acquired("A", "w1"), done("A", "B"), acquired("B", "w2"), done("B"))

    assert built.holders == {"A": "w1", "B": "w2"}


def test_a_takeover_names_both() -> None:
    built = timeline(
        acquired("A", "w1"),
        {"type": "LeaseExpired", "path": "A", "owner": "w1", "event": None},
        acquired("A", "w2"),
        done("A"),
    )

    assert [moment.who for moment in built.moments] == ["w1", "w1", "w2", "w2"]


def test_a_join_is_finished_by_who_finished_the_last_frame() -> None:
    built = timeline(
        acquired("M", "w1"),
        {"type": "FannedOut", "path": "M", "n": 2},
        acquired("M[1]", "w2"),
        {"type": "FrameOpened", "path": "M[0]", "next": "M[0]/S"},
        {"type": "FrameOpened", "path": "M[1]", "next": "M[1]/S"},
        done("M[0]/S"),
        done("M[1]/S"),
        {"type": "Joined", "path": "M", "by": "M[1]"},
        done("M", "N"),
        done("N"),
    )

    assert built.holders["M[0]/S"] == "w1"
    assert built.holders["M[1]/S"] == "w2"
    assert (built.holders["M"], built.holders["N"]) == ("w2", "w2")


def test_an_owner_in_the_event_needs_no_guess() -> None:
    built = timeline({**done("A", "B"), "owner": "w9"})

    assert built.moments[0].who == "w9"


def test_details_leave_out_what_has_its_own_column() -> None:
    [moment] = timeline({**acquired("A", "w1"), "try": 2, "event": None}).moments

    assert moment.details == {"fence": 1, "try": 2}


def test_where_nobody_is_named_it_is_the_part_of_the_system_that_acted() -> None:
    built = timeline(
        {"type": "RunStarted", "digest": "d"},
        {"type": "StateDone", "path": "A"},
        {"type": "TimerFired", "path": "B", "event": "timer"},
        {"type": "Signalled", "path": "B"},
        {"type": "Joined", "path": "M", "by": "M[0]"},
        {"type": "RunRedriven"},
        {"type": "RunRedriven", "by": "ada"},
        {"type": "ModelCall"},
        {"type": "SkillLoaded"},
        {"type": "ApprovalDecided", "by": "", "decision": "reject"},
    )

    assert [moment.who for moment in built.moments] == [
        "client", "worker", "sweeper", "client", "worker", "client", "ada", "agent", "system",
        "system",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "status", "who"),
    [
        (done("A"), "succeeded", "w1"),
        ({"type": "StateFailed", "path": "A"}, "failed", "w1"),
        ({"type": "RunCancelled", "by": "ada"}, "cancelled", "ada"),
        ({"type": "RunCancelled", "by": None}, "cancelled", "client"),
        (done("A"), "timed_out", "sweeper"),
        ({"type": "LeaseExpired", "path": "A", "owner": "w1"}, "failed", "sweeper"),
    ],
)
def test_a_run_is_ended_by_who_did_what_ended_it(
    before: dict[str, Any], status: str, who: str
) -> None:
    built = timeline(acquired("A", "w1"), before, {"type": "RunEnded", "status": status})

    assert built.moments[-1].who == who


EVENTS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            ["RunStarted", "RunEnded", "RunFinalized", "RunMoved", "LeaseAcquired", "LeaseExpired",
             "StateDone", "TimerFired", "FannedOut", "FrameOpened", "Joined", "ToolDecision",
             "ApprovalDecided", "Later"]
        )
    },
    optional={
        "path": st.sampled_from(["A", "M", "M[0]", "M[0]/S"]) | st.none(),
        "owner": st.sampled_from(["w1", "", None]),
        "by": st.sampled_from(["ada", "M[0]", "", None]),
        "next": st.sampled_from(["A", "M[0]/S"]),
        "status": st.sampled_from(["failed", "timed_out"]),
    },
)  # fmt: skip


@given(events=st.lists(EVENTS, max_size=12))
def test_every_moment_says_who_acted(events: list[dict[str, Any]]) -> None:
    for moment in timeline(*events).moments:
        assert moment.who not in ("", "None")
        assert moment.path != "None"
