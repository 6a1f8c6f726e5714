"""Tasks that wait for their token: who may answer, and what the token never gets into."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from unit.workflow.stage import RUN, Calls, Stage, catch, flow, passing, retry, staged, task

from dcf.worker import TaskFailure, current_work
from dcf.workflow import (
    TaskExpired,
    TaskSettled,
    UnknownTaskToken,
    beat_task,
    explain,
    fail_task,
    succeed_task,
    write_audit_trail,
)

ASK = "ask.waitForTaskToken"


class Asked:
    """A handler that keeps the tokens it is given."""

    def __init__(self) -> None:
        self.tokens: list[str] = []

    async def __call__(self, _: Any) -> str:
        token = current_work().task_token
        assert token is not None
        self.tokens.append(token)
        return "dropped"


async def waiting(stage: Stage, **fields: Any) -> str:
    """The token of a Task that waits."""
    asked = Asked()
    stage.worker({ASK: asked})
    await stage.submit(flow(A=task(ASK, **fields), B=passing()))
    await stage.until_status("A", "waiting")
    return asked.tokens[-1]


@staged
async def test_the_answer_by_token_is_the_result(stage: Stage) -> None:
    token = await waiting(stage)
    assert (await stage.state("A")).wait == "callback"
    claim = await succeed_task(stage.store, token, {"approved": True})
    assert (claim.workflow_id, claim.path) == (RUN, "A")
    assert (await stage.end()).output == {"approved": True}


@staged
async def test_an_error_by_token_is_for_retry_and_catch(stage: Stage) -> None:
    token = await waiting(stage, **catch("B", "Refused", ResultPath="$"))
    await fail_task(stage.store, token, "Refused", "too much")
    assert (await stage.end()).output == {"Error": "Refused", "Cause": "too much"}


@staged
async def test_the_arguments_can_carry_the_token(stage: Stage) -> None:
    seen = Calls()
    stage.worker({"ask": seen})
    await stage.submit(flow(A=task(ASK, Parameters={"token.$": "$$.Task.Token"})))
    await stage.until_status("A", "waiting")
    await succeed_task(stage.store, seen.given[0]["token"], 1)
    assert (await stage.end()).output == 1


@staged
async def test_a_handler_of_the_whole_resource_goes_before_that_of_the_rest(stage: Stage) -> None:
    whole, rest = Calls(), Calls()
    stage.worker({ASK: whole, "ask": rest})
    await stage.submit(flow(A=task(ASK)))
    await stage.until_status("A", "waiting")
    assert (whole.count, rest.count) == (1, 0)


@staged
async def test_work_that_fails_needs_no_answer(stage: Stage) -> None:
    work = Calls(lambda _: TaskFailure("Boom", "no mail today"))
    result = await stage.play(flow(A=task(ASK)), None, {ASK: work})
    assert result.failure is not None
    assert result.failure.error == "Boom"


@staged
async def test_who_takes_the_task_over_presents_the_same_token(stage: Stage) -> None:
    asked, forever = Asked(), asyncio.Event()

    async def dying(given: Any) -> None:
        await asked(given)
        await forever.wait()

    first = stage.worker({ASK: dying}, name="w1", ttl_ms=2000)
    await stage.submit(flow(A=task(ASK)))
    await stage.until_status("A", "running")
    await asyncio.sleep(0.1)
    await stage.kill(first)
    stage.worker({ASK: asked}, name="w2")
    await stage.until_status("A", "waiting")
    assert len(asked.tokens) == 2
    assert len(set(asked.tokens)) == 1
    await succeed_task(stage.store, asked.tokens[0], "ok")
    assert (await stage.end()).output == "ok"


@staged
async def test_each_try_has_a_token_of_its_own(stage: Stage) -> None:
    asked = Asked()
    stage.worker({ASK: asked})
    await stage.submit(flow(A=task(ASK, **retry("Flaky", IntervalSeconds=1))))
    await stage.until_status("A", "waiting")
    first = asked.tokens[0]
    await fail_task(stage.store, first, "Flaky")
    await stage.until(lambda: _count(asked, 2))
    with pytest.raises(TaskSettled):
        await succeed_task(stage.store, first, "late")
    await stage.until_status("A", "waiting")
    await succeed_task(stage.store, asked.tokens[1], "second")
    assert (await stage.end()).output == "second"


@staged
async def test_the_second_answer_is_told_so(stage: Stage) -> None:
    token = await waiting(stage)
    await succeed_task(stage.store, token, 1)
    with pytest.raises(TaskSettled):
        await succeed_task(stage.store, token, 2)
    assert (await stage.end()).output == 1
    with pytest.raises(TaskExpired):
        await succeed_task(stage.store, token, 3)


@staged
async def test_a_timeout_ends_the_waiting(stage: Stage) -> None:
    token = await waiting(stage, TimeoutSeconds=10)
    result = await stage.end()
    assert result.failure is not None
    assert (result.failure.error, result.failure.cause) == ("States.Timeout", None)
    with pytest.raises(TaskExpired, match="too late, a time limit"):
        await succeed_task(stage.store, token, 1)


@staged
async def test_heartbeats_by_token_keep_the_task_waiting(stage: Stage) -> None:
    token = await waiting(stage, HeartbeatSeconds=5)
    for _ in range(5):
        await asyncio.sleep(4)
        await beat_task(stage.store, token)
    assert await stage.status("A") == "waiting"
    result = await stage.end()
    assert result.failure is not None
    assert result.failure.error == "States.Timeout"


@staged
async def test_a_missed_heartbeat_can_be_caught_by_its_name(stage: Stage) -> None:
    caught = catch("B", "States.HeartbeatTimeout", ResultPath="$.why")
    asked = Asked()
    stage.worker({ASK: asked})
    await stage.submit(flow(A=task(ASK, HeartbeatSeconds=5, **caught), B=passing()), {})
    assert (await stage.end()).output["why"]["Error"] == "States.HeartbeatTimeout"


@staged
@pytest.mark.parametrize("token", ["", "nonsense", "W10"])
async def test_what_is_no_token_answers_nothing(token: str, stage: Stage) -> None:
    await waiting(stage)
    with pytest.raises(UnknownTaskToken):
        await succeed_task(stage.store, token, 1)


@staged
async def test_a_token_of_another_run_answers_nothing_here(stage: Stage) -> None:
    token = await waiting(stage)
    await stage.store.remove(RUN)
    await stage.store.cancel(RUN, by="test")
    from dcf.workflow import finalize

    await finalize(stage.store, RUN, by="test")
    await stage.store.remove(RUN)
    with pytest.raises(UnknownTaskToken):
        await succeed_task(stage.store, token, 1)


@staged
async def test_a_task_without_the_suffix_cannot_be_answered(stage: Stage) -> None:
    from dcf.workflow.task_token import make_token

    hold = asyncio.Event()

    async def work(_: Any) -> str:
        await hold.wait()
        return "worked"

    stage.worker({"work": work})
    await stage.submit(flow(A=task(), B=task(ASK)))
    await stage.until_status("A", "running")
    secret = (await stage.store.run(RUN)).callback_secret
    with pytest.raises(TaskSettled):
        await succeed_task(stage.store, make_token(secret, RUN, "A", 1, 1), "forged")
    assert await stage.status("A") == "running"
    hold.set()


@staged
async def test_neither_token_nor_secret_is_stored_or_shown(tmp_path: Path, stage: Stage) -> None:
    seen = Calls()
    stage.worker({"ask": seen})
    await stage.submit(flow(A=task(ASK, Parameters={"hand.$": "$$.Task.Token"}), B=passing()))
    await stage.until_status("A", "waiting")
    token, secret = seen.given[0]["hand"], (await stage.store.run(RUN)).callback_secret
    assert token not in json.dumps(stage.twin.dump())
    assert token not in json.dumps((await explain(stage.store, RUN)).to_json())
    await succeed_task(stage.store, token, 1)
    await stage.end()
    folder = await write_audit_trail(stage.store, RUN, tmp_path, by="test")
    written = "".join(file.read_text() for file in folder.rglob("*.json*"))
    assert token not in written
    assert secret not in written


@staged
async def test_explain_says_what_is_waited_for_and_how_long(stage: Stage) -> None:
    await waiting(stage, TimeoutSeconds=100, HeartbeatSeconds=50)
    reason = (await explain(stage.store, RUN)).reasons[0]
    assert "waits for somebody to answer its task token" in reason.why
    assert "times out in" in reason.why
    assert "next heartbeat is due in" in reason.why


async def _count(asked: Asked, count: int) -> bool:
    return len(asked.tokens) >= count


@staged
async def test_who_comes_after_a_time_limit_is_told_which_one(stage: Stage) -> None:
    asked = Asked()
    stage.worker({ASK: asked})
    again = retry("States.HeartbeatTimeout", IntervalSeconds=1, MaxAttempts=1)
    await stage.submit(flow(A=task(ASK, HeartbeatSeconds=5, **again)))
    await stage.until(lambda: _count(asked, 2))
    await stage.until_status("A", "waiting")
    with pytest.raises(TaskExpired, match=r"too late.*HeartbeatSeconds"):
        await succeed_task(stage.store, asked.tokens[0], "late")
    with pytest.raises(TaskExpired, match=r"too late.*HeartbeatSeconds"):
        await beat_task(stage.store, asked.tokens[0])
    await stage.end()
    with pytest.raises(TaskExpired, match=r"too late, a time limit .*HeartbeatSeconds"):
        await succeed_task(stage.store, asked.tokens[1], "late")
