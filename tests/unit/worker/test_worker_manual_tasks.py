"""Tasks that a person does: they wait for anybody who may, and for nobody else's answer."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, Literal

import pytest
from contract.interleaved import Breaking
from unit.worker.approval_samples import waits
from unit.workflow.stage import RUN, Stage, flow, staged

from control_plane import Disconnected, history
from dcf.workflow import (
    ApprovalSettled,
    ManualAnswer,
    NoApprovalPending,
    NoManualTask,
    NotAnApprover,
    UnfitAnswer,
    WaitingTask,
    answer_task,
    decide_approval,
    find_task,
    pending_approvals,
    redrive,
    waiting_tasks,
)
from dcf.workflow.errors import QuestionChanged

VALUE = {"node": "n-17"}
MANUAL = {
    "by": ["dba", "sre"],
    "choices": ["yes", "no"],
    "result": {"type": "object", "properties": {"ticket": {"type": "string"}}},
}


def manual(binding: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A Task that a person does."""
    said = {"task_type": "manual", "manual": MANUAL if binding is None else binding}
    return {"Type": "Task", "Comment": "Restart it.", "AgentBinding": said, **more}


async def task(stage: Stage, path: str = "A") -> WaitingTask:
    """The manual task at ``path``, once it waits."""
    await waits(stage, path)
    return await find_task(stage.store, RUN, path)


async def done(stage: Stage, waiting: WaitingTask, **more: Any) -> None:
    said = {"by": "dba", "answer": "yes", **more}
    await answer_task(stage.store, waiting, ManualAnswer("done", **said))


async def failed(stage: Stage, waiting: WaitingTask, note: str = "it burnt") -> None:
    await answer_task(stage.store, waiting, ManualAnswer("failed", "dba", note=note))


async def events(stage: Stage, *types: str) -> list[dict[str, Any]]:
    told = [event.event async for event in history.read(stage.store, RUN)]
    return [event for event in told if event["type"] in types]


@staged
async def test_it_waits_without_a_worker_and_goes_on_with_the_answer(stage: Stage) -> None:
    worker = stage.worker()
    await stage.submit(flow(A=manual()), VALUE)
    waiting = await task(stage)
    await stage.leave(worker)  # nobody is needed to wait

    assert waiting.to_json()["input"] == VALUE
    assert (waiting.instruction, waiting.manual.choices) == ("Restart it.", ("yes", "no"))
    assert waiting.asked.until_ms is None  # as long as it takes
    assert await waiting_tasks(stage.store) == [waiting]
    assert await pending_approvals(stage.store) == []

    await done(stage, waiting, result={"ticket": "OPS-1"}, note="twice", via="cli")
    assert await waiting_tasks(stage.store) == []
    stage.worker(name="w2")
    ended = await stage.end()
    assert ended.status == "succeeded"
    at = ended.output.pop("at")
    assert ended.output == {"ticket": "OPS-1", "answer": "yes", "by": "dba", "note": "twice"}
    assert at >= waiting.asked.asked_at_ms

    asked, answered = await events(stage, "ManualTaskRequested", "ManualTaskDone")
    assert (asked["kind"], asked["people"]) == ("manual", ["dba", "sre"])
    place = {"path": "A", "visit": 1, "try": 1}
    told = {"by": "dba", "answer": "yes", "reason": "twice", "via": "cli", "ask": 1}
    assert answered.items() >= {**place, **told}.items()
    assert answered["digest"] == waiting.asked.request.digest
    assert "result" not in answered  # data stands in the output of the state


@staged
async def test_what_could_not_be_done_is_caught_with_its_reason(stage: Stage) -> None:
    stage.worker()
    catch = [{"ErrorEquals": ["DCF.ManualTaskFailed"], "ResultPath": "$.why", "Next": "B"}]
    await stage.submit(flow(A=manual(Catch=catch), B={"Type": "Succeed"}), VALUE)
    await failed(stage, await task(stage))

    ended = await stage.end()
    assert ended.output == {
        **VALUE,
        "why": {"Error": "DCF.ManualTaskFailed", "Cause": "dba: it burnt"},
    }
    (answered,) = await events(stage, "ManualTaskFailed")
    assert answered["reason"] == "it burnt"


@staged
async def test_a_note_is_kept_without_its_secrets(stage: Stage) -> None:
    stage.worker()
    await stage.submit(flow(A=manual()), VALUE)
    note = "reset it, password=Tr0ub4dor99, and told Ann"
    await done(stage, await task(stage), result={}, note=note)
    ended = await stage.end()
    kept = "reset it, password=[redacted: password], and told Ann"
    assert ended.output["note"] == kept
    (answered,) = await events(stage, "ManualTaskDone")
    assert answered["reason"] == kept


@staged
async def test_an_answer_that_is_none_changes_nothing(stage: Stage) -> None:
    stage.worker()
    await stage.submit(flow(A=manual()), VALUE)
    waiting = await task(stage)

    for wrong in ({"answer": "maybe"}, {"answer": None}, {"result": {"ticket": 1}}):
        with pytest.raises(UnfitAnswer):
            await done(stage, waiting, **wrong)
    with pytest.raises(UnfitAnswer, match="reason"):
        await failed(stage, waiting, note=" ")
    with pytest.raises(NotAnApprover):
        await done(stage, waiting, by="mallory")
    for seen in ({"digest": "sha256:0"}, {"question": "1.2.1"}):
        with pytest.raises(QuestionChanged):
            await answer_task(stage.store, waiting, ManualAnswer("done", "dba", "yes"), **seen)
    with pytest.raises(NoApprovalPending):
        await decide_approval(stage.store, RUN, "A", decision="approve", by="dba")
    with pytest.raises(NoManualTask):
        await find_task(stage.store, RUN, "B")
    assert await events(stage, "ManualTaskDone", "ManualTaskFailed") == []
    assert await task(stage) == waiting


@staged
async def test_of_two_answers_the_first_counts(stage: Stage) -> None:
    stage.worker()
    await stage.submit(flow(A=manual()), VALUE)
    waiting = await task(stage)
    await done(stage, waiting, by="sre")
    for late in (done(stage, waiting), failed(stage, waiting)):
        with pytest.raises(ApprovalSettled):
            await late

    assert (await stage.end()).output["by"] == "sre"
    assert len(await events(stage, "ManualTaskDone", "ManualTaskFailed")) == 1


@staged
async def test_after_its_time_it_times_out_and_an_answer_comes_too_late(stage: Stage) -> None:
    worker = stage.worker()
    catch = [{"ErrorEquals": ["States.Timeout"], "ResultPath": "$.why", "Next": "B"}]
    definition = flow(A=manual(TimeoutSeconds=600, Catch=catch), B={"Type": "Succeed"})
    await stage.submit(definition, VALUE)
    waiting = await task(stage)
    assert waiting.asked.until_ms == waiting.asked.asked_at_ms + 600_000
    await stage.leave(worker)
    await asyncio.sleep(601)
    with pytest.raises(ApprovalSettled, match="has passed"):
        await done(stage, waiting)

    stage.worker(name="w2")
    why = (await stage.end()).output["why"]
    assert why == {
        "Error": "States.Timeout",
        "Cause": "nobody did it in time (asked: dba or sre)",
    }


@staged
async def test_a_later_try_is_another_task(stage: Stage) -> None:
    stage.worker()
    retry = [{"ErrorEquals": ["DCF.ManualTaskFailed"], "IntervalSeconds": 1, "MaxAttempts": 1}]
    await stage.submit(flow(A=manual(Retry=retry)), VALUE)
    first = await task(stage)
    await failed(stage, first)
    async with asyncio.timeout(60):
        while (second := await task(stage)).asked.try_ == 1:
            await asyncio.sleep(0.1)

    assert second.asked.request.digest == first.asked.request.digest
    with pytest.raises(QuestionChanged):
        seen = {"digest": first.asked.request.digest, "question": first.asked.question}
        await answer_task(stage.store, second, ManualAnswer("done", "dba", "yes"), **seen)
    with pytest.raises(ApprovalSettled):
        await done(stage, first)
    await done(stage, second)
    assert (await stage.end()).status == "succeeded"


@staged
async def test_a_run_that_was_cancelled_takes_no_answer_until_it_is_redriven(stage: Stage) -> None:
    stage.worker()
    await stage.submit(flow(A=manual()), VALUE)
    first = await task(stage)
    await stage.store.cancel(RUN, by="test", reason="later")
    with pytest.raises(ApprovalSettled, match="waits for nobody"):
        await done(stage, first)
    assert await waiting_tasks(stage.store) == []

    await stage.end()
    await redrive(stage.store, RUN)
    second = await task(stage)
    with pytest.raises(ApprovalSettled):
        await done(stage, first)
    await done(stage, second)
    assert (await stage.end()).status == "succeeded"


async def with_a_death(
    stage: Stage, mortal: Literal["worker", "person"], fatal: int | None, when: Any
) -> tuple[list[str], Breaking]:
    """What a run comes to in which one of the two dies at its call number ``fatal``; there is
    another worker, and another person."""
    breaking = Breaking(stage.twin, fatal, when)
    mortals = stage.new_store(backend=breaking)
    stage.worker(name="mortal", store=mortals if mortal == "worker" else None)
    stage.worker(name="other")
    await stage.submit(flow(A=manual(), B={"Type": "Succeed"}), VALUE)
    waiting = await task(stage)
    for store in (mortals if mortal == "person" else stage.store, stage.store):
        with suppress(Disconnected, ApprovalSettled):
            await answer_task(store, waiting, ManualAnswer("done", "dba", "yes"))
    assert (await stage.end()).output["answer"] == "yes"
    told = await events(stage, "ManualTaskRequested", "ManualTaskDone", "StateDone", "RunEnded")
    return [f"{event['type']} {event.get('path', '')}" for event in told], breaking


@pytest.mark.parametrize("mortal", ["worker", "person"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_it_is_asked_once_and_done_once_wherever_somebody_dies(
    mortal: Literal["worker", "person"], when: Any
) -> None:
    fatal, calls = 0, 1
    while fatal < calls:
        found: list[Any] = []

        @staged
        async def run(stage: Stage, fatal: int = fatal, found: list[Any] = found) -> None:
            found += await with_a_death(stage, mortal, fatal or None, when)

        run()
        told, breaking = found
        assert told == ["ManualTaskRequested A", "ManualTaskDone A", "StateDone A", "StateDone B",
                        "RunEnded "], (fatal, breaking.names[-1:])  # fmt: skip
        calls = breaking.calls if fatal == 0 else calls
        # A worker makes many calls that have nothing to do with it.
        fatal += 3 if mortal == "worker" else 1


@staged
async def test_each_item_of_a_map_is_a_task_of_its_own(stage: Stage) -> None:
    stage.worker()
    inner = {"StartAt": "A", "States": {"A": manual({}, End=True)}}
    await stage.submit(flow(M={"Type": "Map", "ItemProcessor": inner}), [1, 2])
    await waits(stage, "M[1]/A")
    await waits(stage, "M[0]/A")
    found = {one.asked.path: one for one in await waiting_tasks(stage.store, RUN)}
    assert {path: one.input for path, one in found.items()} == {"M[0]/A": 1, "M[1]/A": 2}
    for number, path in enumerate(sorted(found)):
        said = ManualAnswer("done", "operator", result={"n": number})
        await answer_task(stage.store, found[path], said)

    assert [one["n"] for one in (await stage.end()).output] == [0, 1]


@staged
async def test_placeholders_are_filled_in_with_what_can_be_pasted(stage: Stage) -> None:
    stage.worker()
    said = "{{ node }} <node-id> $NODE ${NODE_ID} `node` $OTHER $5 <b> `kubectl` $EVIL $LIST <dash>"
    given = {
        "node": "n-17",
        "node_id": 4,
        "evil": "x; rm -rf /",
        "list": [1],
        "5": "five",
        "dash": "--all",
    }
    await stage.submit(flow(A=manual({}, Comment=said)), given)

    found = (await task(stage)).instruction
    # Neither what is no input nor what a shell would take for more, or for an option.
    rest = "$OTHER five <b> `kubectl` $EVIL $LIST <dash>"
    assert found == f"n-17 4 n-17 4 `node` (n-17) {rest}"
