"""Approvals: what waits, in all runs and branches, and what does not wait any more."""

from __future__ import annotations

import asyncio

import pytest
from unit.worker.approval_samples import RUN, begin, bound, decide, waits
from unit.workflow.stage import Stage, flow, staged

from control_plane import APPROVALS
from dcf.workflow import (
    NoApprovalPending,
    SeveralPending,
    pending_approvals,
    redrive,
)


@staged
async def test_a_run_that_is_cancelled_waits_for_nobody(stage: Stage) -> None:
    await begin(stage)
    await waits(stage)
    await stage.store.cancel(RUN, by="x")
    assert await pending_approvals(stage.store, RUN) == []
    with pytest.raises(NoApprovalPending):
        await decide(stage)
    await stage.end()
    await redrive(stage.store, RUN)
    assert (await waits(stage)).visit == 2
    await decide(stage)
    assert (await stage.end()).status == "succeeded"


@staged
async def test_the_index_lists_all_runs_and_forgets_what_does_not_wait(stage: Stage) -> None:
    await begin(stage)
    await waits(stage)
    await stage.store.backend.command("ZADD", APPROVALS, 1, "agent\tscout\tq1")
    await stage.store.backend.command("ZADD", APPROVALS, 1, "gone\tA")
    (asked,) = await pending_approvals(stage.store)
    assert asked.workflow_id == RUN
    assert await stage.store.backend.command("ZRANGE", APPROVALS, 0, -1) == [
        "agent\tscout\tq1", f"{RUN}\tA",
    ]  # fmt: skip
    await decide(stage)
    assert await pending_approvals(stage.store) == []
    assert await stage.store.backend.command("ZRANGE", APPROVALS, 0, -1) == ["agent\tscout\tq1"]


@staged
async def test_branches_ask_independently_and_one_has_to_be_named(stage: Stage) -> None:
    branch, other = flow(A=bound()), flow(B=bound())
    definition = flow(P={"Type": "Parallel", "Branches": [branch, other]})
    tools = await begin(stage, definition)
    await waits(stage, "P[0]/A")
    await waits(stage, "P[1]/B")
    with pytest.raises(SeveralPending) as several:
        await decide(stage)
    assert several.value.paths == ["P[0]/A", "P[1]/B"]
    await decide(stage, path="P[1]/B")
    await decide(stage, path="P[0]/A")
    assert (await stage.end()).status == "succeeded"
    assert [call["tool"] for call in tools.calls].count("bank.pay") == 2


@staged
async def test_a_branch_that_was_given_up_waits_for_nobody(stage: Stage) -> None:
    definition = flow(
        P={"Type": "Parallel", "Branches": [flow(A=bound()), flow(F={"Type": "Fail"})],
           "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "W"}]},
        W={"Type": "Wait", "Seconds": 100},
    )  # fmt: skip
    await begin(stage, definition)
    await asyncio.sleep(20)
    assert await pending_approvals(stage.store, RUN) == []
