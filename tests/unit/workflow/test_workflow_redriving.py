"""Redrive: a run goes on from where it broke, and nothing that is done is done again."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from unit.workflow.stage import (
    RUN,
    Calls,
    Stage,
    flow,
    mapping,
    parallel,
    passing,
    retry,
    staged,
    task,
)

from control_plane import UnknownRun
from dcf.worker import TaskFailure
from dcf.workflow import NotRedrivable, Succeeded, finalize, redrive
from dcf.workflow.redriving import plan_redrive

BINDING = {"AgentBinding": {"agent_template_ref": {"name": "any"}, "skills": []}}


class Repairable(Calls):
    """Fails for the ``broken`` arguments until it is repaired."""

    def __init__(self, *broken: Any) -> None:
        self.broken = list(broken)
        super().__init__(
            lambda given: TaskFailure("Boom", "") if given in self.broken else f"did {given}"
        )


async def again(stage: Stage, work: Repairable) -> Any:
    """Repair, redrive, and the result."""
    work.broken.clear()
    work.given.clear()
    await redrive(stage.store, RUN)
    return await stage.end()


@staged
async def test_a_chain_goes_on_from_the_state_that_failed(stage: Stage) -> None:
    first, second = Calls(), Repairable("in")
    definition = flow(A=task("first", ResultPath=None), B=task("second"), C=passing())
    result = await stage.play(definition, "in", {"first": first, "second": second})
    assert result.status == "failed"
    result = await again(stage, second)
    assert (result.status, result.output) == ("succeeded", "did in")
    assert (first.count, second.count) == (1, 1)
    document = await stage.state("B")
    assert (document.visit, document.try_) == (2, 2)
    assert (await stage.state("B@1")).status == "failed"


@staged
async def test_only_the_failed_item_of_a_map_runs_again(stage: Stage) -> None:
    work = Repairable(3)
    definition = flow(M=mapping(flow(T=task()), MaxConcurrency=1))
    assert (await stage.play(definition, [1, 2, 3, 4], {"work": work})).status == "failed"
    assert work.given == [1, 2, 3]
    result = await again(stage, work)
    assert result.output == ["did 1", "did 2", "did 3", "did 4"]
    assert work.given == [3, 4]


@staged
async def test_only_the_failed_item_of_a_nested_map_runs_again(stage: Stage) -> None:
    work = Repairable(5)
    inner = flow(In=mapping(flow(T=task()), MaxConcurrency=1))
    definition = flow(Out=mapping(flow(P=parallel(inner)), MaxConcurrency=1), End=passing())
    result = await stage.play(definition, [[1, 2], [4, 5], [6]], {"work": work})
    assert result.status == "failed"
    result = await again(stage, work)
    assert result.output == [[["did 1", "did 2"]], [["did 4", "did 5"]], [["did 6"]]]
    assert work.given == [5, 6]


@staged
async def test_branches_cut_off_beside_a_failure_run_again(stage: Stage) -> None:
    broken = Repairable("in")
    seconds = [1000]

    async def slow(_given: Any) -> str:
        await asyncio.sleep(seconds[0])
        return "slow"

    definition = flow(P=parallel(flow(L=task("slow")), flow(R=task("broken"))))
    handlers = {"slow": slow, "broken": broken}
    assert (await stage.play(definition, "in", handlers)).status == "failed"
    seconds[0] = 1
    result = await again(stage, broken)
    assert result.output == ["slow", "did in"]


@staged
async def test_a_join_that_failed_after_its_children_does_only_its_own_part(stage: Stage) -> None:
    work = Calls()
    definition = flow(M=mapping(flow(T=task()), ResultSelector={"v.$": "$[7].v"}))
    assert (await stage.play(definition, [1, 2], {"work": work})).status == "failed"
    assert work.count == 2
    await redrive(stage.store, RUN)
    assert (await stage.end()).status == "failed"
    assert work.count == 2


@staged
async def test_a_cancelled_run_goes_on_with_what_was_under_way(stage: Stage) -> None:
    seconds = [1000]

    async def work(given: Any) -> Any:
        await asyncio.sleep(seconds[0])
        return given

    stage.worker({"work": work, "done": Calls()})
    await stage.submit(flow(A=task("done"), B=task(), C=passing()), 7)
    await stage.until_status("B", "running")
    await stage.store.cancel(RUN, by="test")
    await finalize(stage.store, RUN, by="test")
    seconds[0] = 1
    await redrive(stage.store, RUN)
    result = await stage.end()
    assert (result.status, result.output) == ("succeeded", 7)
    assert (await stage.state("A")).visit == 1


@staged
async def test_a_run_that_timed_out_gets_its_time_again(stage: Stage) -> None:
    definition = flow(A={"Type": "Wait", "Seconds": 8}, B={"Type": "Wait", "Seconds": 8})
    result = await stage.play(definition | {"TimeoutSeconds": 10})
    assert result.status == "timed_out"
    await redrive(stage.store, RUN)
    assert (await stage.end()).status == "succeeded"


@staged
async def test_a_redriven_run_can_time_out_again(stage: Stage) -> None:
    result = await stage.play(flow(A={"Type": "Wait", "Seconds": 60}) | {"TimeoutSeconds": 10})
    assert result.status == "timed_out"
    await redrive(stage.store, RUN)
    assert (await stage.end()).status == "timed_out"


@staged
async def test_retries_are_counted_anew(stage: Stage) -> None:
    work = Calls(lambda _: TaskFailure("Boom", ""))
    definition = flow(A=task(**retry("Boom", MaxAttempts=1)))
    assert (await stage.play(definition, None, {"work": work})).status == "failed"
    await redrive(stage.store, RUN)
    assert (await stage.end()).status == "failed"
    assert work.count == 4


@staged
async def test_a_redrive_raises_the_try_of_the_idempotency_key(stage: Stage) -> None:
    keys: list[str] = []

    class Agents:
        async def perform(self, given: Any, _beat: Any) -> Any:
            keys.append(given.lease.idempotency_key)
            if len(keys) == 1:
                raise TaskFailure("Boom")
            return Succeeded(None)

    await stage.play(flow(A=task(**BINDING)), agents=Agents())
    await redrive(stage.store, RUN)
    await stage.end()
    tries = [key.rpartition("/")[2] for key in keys]
    assert tries == ["1", "2"]
    assert len(set(keys)) == 2


@staged
async def test_a_run_can_be_redriven_again_and_again(stage: Stage) -> None:
    work = Repairable("in")
    assert (await stage.play(flow(A=task()), "in", {"work": work})).status == "failed"
    for _ in range(3):
        await redrive(stage.store, RUN)
        assert (await stage.end()).status == "failed"
    assert (await again(stage, work)).status == "succeeded"
    assert (await stage.state("A")).visit == 5


@staged
async def test_a_redriven_run_is_sealed_anew(stage: Stage) -> None:
    work = Repairable("in")
    await stage.play(flow(A=task()), "in", {"work": work})
    before = await finalize(stage.store, RUN, by="test")
    await again(stage, work)
    after = await finalize(stage.store, RUN, by="test")
    assert (before["final_status"], after["final_status"]) == ("failed", "succeeded")


@pytest.mark.parametrize("state", ["running", "succeeded"])
@staged
async def test_a_run_that_did_not_fail_cannot_be_redriven(state: str, stage: Stage) -> None:
    await stage.submit(flow(A=passing()))
    if state == "succeeded":
        stage.worker()
        await stage.end()
    with pytest.raises(NotRedrivable, match=state):
        await redrive(stage.store, RUN)


@staged
async def test_an_unknown_run_cannot_be_redriven(stage: Stage) -> None:
    with pytest.raises(UnknownRun):
        await redrive(stage.store, "nobody")


@staged
async def test_of_two_redrives_at_once_one_wins(stage: Stage) -> None:
    await stage.play(flow(F={"Type": "Fail", "Error": "E"}))
    outcomes = await asyncio.gather(
        redrive(stage.store, RUN), redrive(stage.new_store(), RUN), return_exceptions=True
    )
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["NotRedrivable", "Redrive"]


def test_a_plan_looks_at_each_document_once() -> None:
    """However many frames there are: a Map of thousands must not hold up the redrive."""

    class Counted(dict[str, Any]):
        scans = 0

        def items(self) -> Any:
            self.scans += 1
            return super().items()

    def broken(path: str, kind: str, **more: Any) -> Any:
        found = {"join": None, "round": 1, "status": "failed", "kind": kind, **more}
        return SimpleNamespace(path=path, **found)

    count = 50
    documents = Counted({"M": broken("M", "state", round=0, join=SimpleNamespace(spawned=count))})
    for number in range(count):
        documents[f"M[{number}]"] = broken(f"M[{number}]", "frame")
        documents[f"M[{number}]/T"] = broken(f"M[{number}]/T", "state")
    plan = plan_redrive(documents)
    assert len(plan.again) == count
    assert plan.resume[0] == "M"
    assert documents.scans == 1
