"""Error names and causes of any length: what is kept of them, wherever they come from."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from unit.workflow.stage import (
    RUN,
    Calls,
    Stage,
    catch,
    flow,
    mapping,
    parallel,
    passing,
    staged,
    task,
)

from dcf.worker import TaskFailure, current_work
from dcf.workflow import fail_task

# Of SendTaskFailure in AWS's API reference.
ERROR, CAUSE = 256, 32_768
NAME, MESSAGE = "E" * 1_000, "\U0001f600" * 500_000
# Four bytes a character; a run that fails keeps what it failed with a few times.
MOST_KEPT = 4 * CAUSE * 6


def is_cut(text: str, most: int) -> bool:
    return most - 10 < len(text) <= most and " characters cut" in text[-60:]


async def kept_characters(stage: Stage) -> int:
    """How much text Redis holds."""
    total = 0
    for key in await stage.twin.command("KEYS", "*"):
        kind = await stage.twin.command("TYPE", key)
        if kind == "ReJSON-RL":
            total += len(await stage.twin.command("JSON.GET", key))
        elif kind == "string":
            total += len(await stage.twin.command("GET", key))
        elif kind == "stream":
            total += len(json.dumps(await stage.twin.command("XRANGE", key, "-", "+")))
    return total


def raised(error: BaseException) -> Callable[[Stage], Awaitable[None]]:
    async def run(stage: Stage) -> None:
        stage.worker({"work": Calls(lambda _: error)})
        await stage.submit(flow(A=task()))

    return run


async def answered(stage: Stage) -> None:
    tokens: list[str | None] = []

    async def ask(_: Any) -> None:
        tokens.append(current_work().task_token)

    stage.worker({"ask": ask})
    await stage.submit(flow(A=task("ask.waitForTaskToken")))
    await stage.until_status("A", "waiting")
    await fail_task(stage.store, tokens[0] or "", NAME, MESSAGE)
    assert await kept_characters(stage) < MOST_KEPT


async def fail_state(stage: Stage) -> None:
    stage.worker()
    state = {"Type": "Fail", "ErrorPath": "$.error", "CausePath": "$.cause"}
    # A value that is passed on has its own limit: a small one is made long here.
    many = {"error": "E" * 300, "cause": "c" * 40_000}
    await stage.submit(flow(A=passing(Result=many), B=state))


async def inside(stage: Stage) -> None:
    stage.worker({"work": Calls(lambda _: TaskFailure(NAME, MESSAGE))})
    await stage.submit(flow(A=parallel(flow(M=mapping(flow(X=task()))))), [1])


async def cancelled(stage: Stage) -> None:
    await stage.submit(flow(A=task()))
    await stage.store.cancel(RUN, by="tests", reason=MESSAGE)


@staged
@pytest.mark.parametrize(
    ("begin", "named"),
    [
        (raised(TaskFailure(NAME, MESSAGE)), True),
        (raised(ValueError(MESSAGE)), False),
        (answered, True),
        (fail_state, True),
        (inside, True),
        (cancelled, False),
    ],
    ids=["raised", "any", "answered", "fail-state", "inside", "cancelled"],
)
async def test_what_is_kept_of_an_endless_error(
    stage: Stage, begin: Callable[[Stage], Awaitable[None]], named: bool
) -> None:
    await begin(stage)
    result = await stage.end()
    assert result.failure is not None
    error, cause = result.failure.error or "", result.failure.cause or ""
    if named:
        assert is_cut(error, ERROR)
    assert is_cut(cause, CAUSE)
    assert await kept_characters(stage) < MOST_KEPT


@staged
async def test_an_endless_error_is_caught_by_its_whole_name(stage: Stage) -> None:
    work = Calls(lambda _: TaskFailure(NAME, MESSAGE))
    branches = flow(X=task())
    definition = flow(P=parallel(branches, **catch("B", NAME)), B=passing())
    result = await stage.play(definition, None, {"work": work})
    assert result.status == "succeeded"
    assert is_cut(result.output["Error"], ERROR) and is_cut(result.output["Cause"], CAUSE)
