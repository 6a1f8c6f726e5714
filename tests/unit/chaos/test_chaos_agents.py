"""Turns of agents are compared with each other, and with states that are done."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from unit.workflow.stage import Calls, Stage, flow, staged, task

from dcf.memory import TurnRecord
from dcf.memory.turn_record import TurnState, Usage
from tests.chaos.agents import judge_agent, judge_state, judge_turns, make_keeper
from tests.chaos.machines import Order
from tests.chaos.verdict import Guarantee, Verdict


def turn(
    state: TurnState, first: int, *, fence: int = 1, holder: str = "r/A/1", error: str | None = None
) -> TurnRecord:
    return TurnRecord(
        id=f"turn-{first}",
        agent_id="agent-1",
        correlation_id="c",
        letter_id=None,
        state=state,
        first=first,
        last=first + 1 if state == "answered" else None,
        model="m",
        usage=Usage(),
        error=error,
        cause=None,
        created_at=first,
        updated_at=first,
        holder=holder,
        fence=fence,
    )


INTERRUPTED = turn("failed", 1, error="DCF.Interrupted")


@pytest.mark.parametrize(
    ("turns", "said"),
    [
        ([], "A of r is done, and no turn of it was answered"),
        ([INTERRUPTED], "A of r is done, and no turn of it was answered"),
        (
            [turn("answered", 1), turn("failed", 3, fence=2, error="DCF.Interrupted")],
            "A of r is done, and its last turn is failed",
        ),
    ],
    ids=["none", "interrupted", "answered before"],
)
def test_a_state_that_is_done_has_the_answer_of_its_last_turn(
    turns: list[TurnRecord], said: str
) -> None:
    verdict = Verdict()
    judge_state(turns, "A of r", done=True, verdict=verdict)
    assert verdict.broken == {Guarantee.MEMORY_AND_STATE_AGREE: [said]}


def test_nothing_is_said_to_be_done_of_a_state_that_is_not() -> None:
    verdict = Verdict()
    judge_state([INTERRUPTED], "A of r", done=False, verdict=verdict)
    assert verdict.broken == {}
    assert verdict.says(Guarantee.MEMORY_AND_STATE_AGREE) == "not tested"


def test_a_turn_that_fails_by_itself_is_a_violation() -> None:
    verdict = Verdict()
    judge_state([turn("failed", 1, error="DCF.Model")], "A of r", done=False, verdict=verdict)
    assert list(verdict.broken) == [Guarantee.NO_TURN_FAILS]


@pytest.mark.parametrize(
    ("second", "broken"),
    [
        (turn("answered", 3, fence=2), []),
        (turn("answered", 2, fence=2), [Guarantee.TURNS_DO_NOT_OVERLAP]),
        (turn("answered", 3, fence=0), [Guarantee.TURNS_ARE_FENCED]),
        (turn("running", 3, fence=2), [Guarantee.NO_TURN_IS_LEFT]),
    ],
    ids=["in order", "inside", "earlier fence", "under way"],
)
def test_two_turns_of_an_agent_are_compared(second: TurnRecord, broken: list[Guarantee]) -> None:
    verdict = Verdict()
    judge_agent([turn("answered", 1), second], defaultdict(list), verdict)
    assert list(verdict.broken) == broken
    assert verdict.says(Guarantee.TURNS_ARE_FENCED) != "not tested"


def test_one_turn_tests_no_order_of_turns() -> None:
    verdict = Verdict()
    judge_agent([turn("answered", 1)], defaultdict(list), verdict)
    assert verdict.says(Guarantee.TURNS_ARE_FENCED) == "not tested"
    assert verdict.says(Guarantee.TURNS_DO_NOT_OVERLAP) == "not tested"
    assert verdict.says(Guarantee.NO_TURN_IS_LEFT) == "held"


def test_turns_that_were_interrupted_are_not_counted_as_failed() -> None:
    verdict = Verdict()
    turns = [INTERRUPTED, turn("failed", 2, error="DCF.Model"), turn("answered", 3)]
    judge_agent(turns, defaultdict(list), verdict)
    assert verdict.to_json()["turns of agents"] == {
        "interrupted because their worker died or lost its lease": 1,
        "failed": 1,
        "answered": 1,
    }


@staged
async def test_a_run_that_is_lost_ends_no_judging_of_turns(stage: Stage, tmp_path: Path) -> None:
    await make_keeper(tmp_path)
    await stage.play(flow(A=task()), {}, {"work": Calls()})
    verdict = Verdict()
    orders = [Order(run, {}, (), turns=("A",)) for run in ("lost", "run-1")]
    await judge_turns(tmp_path, stage.store, orders, verdict)
    assert verdict.broken == {
        Guarantee.MEMORY_AND_STATE_AGREE: ["A of run-1 is done, and no turn of it was answered"]
    }
