"""Answers that come while the work of their Task still goes on."""

from __future__ import annotations

import asyncio
from typing import Any

from unit.workflow.stage import RUN, Stage, flow, retry, staged, task

from dcf.worker import TaskFailure, current_work
from dcf.workflow import succeed_task

ASK = "ask.waitForTaskToken"


class Hanging:
    """A handler that tells its token and never ends; ``stopped`` counts how often it was."""

    def __init__(self) -> None:
        self.tokens: list[str] = []
        self.stopped = 0

    async def __call__(self, _: Any) -> None:
        token = current_work().task_token
        assert token is not None
        self.tokens.append(token)
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped += 1

    async def asked(self) -> bool:
        return bool(self.tokens)


@staged
async def test_work_that_hangs_holds_up_no_answer(stage: Stage) -> None:
    hanging = Hanging()
    stage.worker({ASK: hanging})
    await stage.submit(flow(A=task(ASK, TimeoutSeconds=100)))
    await stage.until(hanging.asked)
    await succeed_task(stage.store, hanging.tokens[0], {"ok": 1})
    assert (await stage.end(within_s=5)).output == {"ok": 1}
    await asyncio.sleep(30)
    assert (len(hanging.tokens), hanging.stopped) == (1, 1)


@staged
async def test_work_that_fails_after_the_answer_changes_nothing(stage: Stage) -> None:
    async def failing(_: Any) -> None:
        token = current_work().task_token
        assert token is not None
        await succeed_task(stage.store, token, 7)
        raise TaskFailure("Boom", "too late")

    stage.worker({ASK: failing})
    await stage.submit(flow(A=task(ASK, **retry("Boom"))))
    assert (await stage.end()).output == 7
    assert [event["type"] for event in await stage.events(RUN)].count("RetryScheduled") == 0


@staged
async def test_an_answer_survives_whoever_died_before_it(stage: Stage) -> None:
    hanging = Hanging()
    await stage.submit(flow(A=task(ASK)))
    for number in range(3):
        worker = stage.worker({ASK: hanging}, name=f"w{number}", ttl_ms=2000)
        await stage.until_status("A", "running")
        await asyncio.sleep(0.2)
        if number == 2:
            await succeed_task(stage.store, hanging.tokens[0], "kept")
        await stage.kill(worker)
        await asyncio.sleep(3)
    stage.worker({ASK: hanging}, name="last")
    assert (await stage.end()).output == "kept"
