"""Who does the work of a Task, and how what breaks in it is told."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from control_plane import Disconnected, Lease, MissingBlob, RefusedForNow
from dcf import asl
from dcf.worker import LeaseLost, Performer, TaskFailure
from dcf.workflow import Failed, Run, Succeeded, Task

DEFINITION = {
    "StartAt": "A",
    "States": {
        "A": {"Type": "Task", "Resource": "work", "Next": "B"},
        "B": {
            "Type": "Task",
            "AgentBinding": {"agent_template_ref": {"name": "any"}, "skills": []},
            "End": True,
        },
    },
}
MACHINE = asl.parse(DEFINITION)


def a_task(name: str = "A", arguments: Any = None) -> Task:
    run = Run("run", "d", "flow", MACHINE, None, 0, {}, False)
    lease = Lease("run", name, "token", 1, "w1", 30_000, "Task", "state", 1, 1, 0, "d")
    return Task(run, lease, MACHINE.states[name], arguments)


def silent() -> None:
    """A beat that nobody hears."""


class Agents:
    """Agents that give or raise ``answer``."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    async def perform(self, _task: Task, _beat: Any) -> Any:
        if isinstance(self._answer, BaseException):
            raise self._answer
        return self._answer


async def raising(error: BaseException) -> Any:
    raise error


async def test_a_handler_is_given_the_arguments_and_gives_the_result() -> None:
    async def work(given: Any) -> Any:
        return [given]

    outcome = await Performer({"work": work}).perform(a_task(arguments=7), silent)
    assert outcome == Succeeded([7])


async def test_a_task_failure_is_a_failure_of_its_name() -> None:
    performer = Performer({"work": lambda _: raising(TaskFailure("Shop.Closed", "night"))})
    assert await performer.perform(a_task(), silent) == Failed("Shop.Closed", "night")


@pytest.mark.parametrize("name", ["A", "B"])
async def test_damaged_data_of_the_run_are_no_failure_of_the_work(name: str) -> None:
    lost = MissingBlob(workflow_id="run", digest="d", key="k")
    performer = Performer({"work": lambda _: raising(lost)}, Agents(lost))
    with pytest.raises(MissingBlob):
        await performer.perform(a_task(name), silent)


async def test_damaged_data_of_another_run_that_the_work_reads_are_its_failure() -> None:
    lost = MissingBlob(workflow_id="other", digest="d", key="k")
    performer = Performer({"work": lambda _: raising(lost)})
    outcome = await performer.perform(a_task(), silent)
    assert isinstance(outcome, Failed) and outcome.error == "States.TaskFailed"


async def test_of_an_endless_message_the_log_has_the_beginning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def work(_: Any) -> Any:
        raise ValueError("m" * 20_000_000)

    outcome = await Performer({"work": work}).perform(a_task(), silent)
    assert isinstance(outcome, Failed)
    assert "in work" in caplog.text and "ValueError: mmm" in caplog.text
    assert "characters cut]" in caplog.text
    assert len(caplog.text) < 20_000


async def test_an_error_of_very_many_causes_is_told_by_both_ends(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def work(_given: Any) -> Any:
        error = ValueError("the first of all")
        for number in range(2_000):
            later = KeyError(number)
            later.__cause__, error = error, later
        raise RuntimeError("the last of all") from error

    outcome = await Performer({"work": work}).perform(a_task(), silent)
    assert outcome == Failed("States.TaskFailed", "RuntimeError: the last of all")
    [told] = [record.getMessage() for record in caplog.records]
    assert "ValueError: the first of all" in told and told.endswith("RuntimeError: the last of all")
    assert re.search(r"\n… \[[0-9,]+ characters cut\] …\n", told)
    assert len(told) < 10_000


async def test_any_other_exception_is_states_task_failed() -> None:
    performer = Performer({"work": lambda _: raising(KeyError("who"))})
    assert await performer.perform(a_task(), silent) == Failed(
        "States.TaskFailed", "KeyError: 'who'"
    )


class Mute(Exception):
    """Its text cannot be had."""

    def __str__(self) -> str:
        raise ZeroDivisionError


ODD: Any = [
    (Mute(), "States.TaskFailed", "Mute: (no text: its __str__ raised ZeroDivisionError)"),
    (ValueError("a\ud800b"), "States.TaskFailed", "ValueError: a?b"),
    (TaskFailure(""), "States.TaskFailed", ""),
    (TaskFailure("Shop\udc00", "\ud800"), "Shop?", "?"),
    (TaskFailure(404, None), "404", ""),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("error", "name", "cause"), ODD)
async def test_what_of_an_error_cannot_be_stored_is_replaced(
    error: Exception, name: str, cause: str, caplog: pytest.LogCaptureFixture
) -> None:
    # A report with half a surrogate pair cannot be sent either.
    caplog.set_level(logging.ERROR, "dcf.worker.performer")
    performer = Performer({"work": lambda _: raising(error)})
    assert await performer.perform(a_task(), silent) == Failed(name, cause)


class Panic(BaseException):
    """As errors of extension modules are that no ``except Exception`` shall catch."""


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (Panic("in Rust"), "Panic: in Rust"),
        (SystemExit(3), "SystemExit: 3"),
        (BaseExceptionGroup("two", [Panic()]), "BaseExceptionGroup: two (1 sub-exception)"),
        (GeneratorExit(), "GeneratorExit: raised by the work itself"),
    ],
)
async def test_what_is_no_exception_but_a_base_exception_fails_its_task_too(
    error: BaseException, cause: str
) -> None:
    for performer in (Performer({"work": lambda _: raising(error)}), Performer({}, Agents(error))):
        task = a_task() if performer._agents is None else a_task("B")
        outcome = await performer.perform(task, silent)
        assert outcome == Failed("States.TaskFailed", cause)


def test_work_that_a_loop_leaves_behind_is_closed_and_does_nothing_more() -> None:
    went_on: list[Any] = []
    left: list[Any] = []
    running: set[asyncio.Task[None]] = set()

    async def goes_on() -> None:
        went_on.append(
            await Performer({"work": lambda _: asyncio.sleep(60)}).perform(a_task(), silent)
        )

    async def leave() -> None:
        work = goes_on()
        running.add(asyncio.create_task(work))
        left.append(work)
        await asyncio.sleep(0)

    loop = asyncio.new_event_loop()
    loop.run_until_complete(leave())
    [work] = left
    work.close()
    assert went_on == []
    for task in asyncio.all_tasks(loop):
        task._log_destroy_pending = False  # it is left behind on purpose
    loop.close()


@pytest.mark.parametrize("error", [RefusedForNow("OOM"), Disconnected("away")])
async def test_a_redis_that_is_away_or_refuses_is_no_outcome(error: Disconnected) -> None:
    """Neither Retry nor Catch may hear of it: the work is done again when Redis can be had."""
    for performer in (Performer({"work": lambda _: raising(error)}), Performer({}, Agents(error))):
        task = a_task() if performer._agents is None else a_task("B")
        with pytest.raises(LeaseLost) as lost:
            await performer.perform(task, silent)
        assert lost.value.code == error.code


async def cancel_itself(_: Any) -> None:
    mine = asyncio.current_task()
    assert mine is not None
    mine.cancel()
    await asyncio.sleep(60)


async def be_cancelled_by_a_callback(_: Any) -> None:
    mine = asyncio.current_task()
    assert mine is not None
    asyncio.get_running_loop().call_soon(mine.cancel)
    await asyncio.sleep(60)


async def take_it_back(_: Any) -> None:
    mine = asyncio.current_task()
    assert mine is not None
    mine.cancel()
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        if mine.uncancel():
            raise
    await asyncio.sleep(60)


@pytest.mark.parametrize(
    "handler",
    [cancel_itself, be_cancelled_by_a_callback, lambda _: raising(asyncio.CancelledError())],
)
async def test_a_cancellation_from_inside_is_a_failure(handler: Any) -> None:
    outcome = await Performer({"work": handler}).perform(a_task(), silent)
    assert outcome == Failed(
        "States.TaskFailed", "CancelledError: the work was cancelled from inside"
    )


@pytest.mark.parametrize("steps", range(5))
@pytest.mark.parametrize("handler", [cancel_itself, take_it_back])
async def test_a_cancellation_from_outside_goes_through_after_one_from_inside(
    handler: Any, steps: int
) -> None:
    task = asyncio.create_task(Performer({"work": handler}).perform(a_task(), silent))
    for _ in range(steps):
        await asyncio.sleep(0)
    if task.done():
        return  # it has failed by itself
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancellation_from_outside_goes_through() -> None:
    performer = Performer({"work": lambda _: asyncio.sleep(60)})
    task = asyncio.create_task(performer.perform(a_task(), silent))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


FORKING = """
import asyncio, os, sys
from test_worker_performer import a_task, silent
from dcf.worker import Performer

async def fork(_):
    child = os.fork()
    if child == 0 and sys.argv[1] == "raises":
        raise ValueError("no")
    return child and os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

print(asyncio.run(Performer({"work": fork}).perform(a_task(), silent)).result, flush=True)
"""


@pytest.mark.parametrize("child", ["returns", "raises"])
def test_a_child_that_a_handler_forked_does_not_go_on_as_the_worker(child: str) -> None:
    here = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", FORKING, child],
        env={**os.environ, "PYTHONPATH": str(here)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{os.EX_SOFTWARE}\n"


async def test_a_resource_without_a_handler_names_those_there_are() -> None:
    outcome = await Performer({"mill": asyncio.sleep}).perform(a_task(), silent)
    assert isinstance(outcome, Failed)
    assert outcome.error == "DCF.NoHandler"
    assert "'work'" in outcome.cause and "mill" in outcome.cause


async def test_a_binding_without_agents_is_no_handler() -> None:
    outcome = await Performer().perform(a_task("B"), silent)
    assert isinstance(outcome, Failed) and outcome.error == "DCF.NoHandler"


async def test_a_binding_is_for_the_agents() -> None:
    done = Succeeded("done", summary="well")
    assert await Performer(agents=Agents(done)).perform(a_task("B"), silent) == done


async def test_a_defect_of_the_agents_fails_the_task() -> None:
    outcome = await Performer(agents=Agents(RuntimeError("oops"))).perform(a_task("B"), silent)
    assert outcome == Failed("States.TaskFailed", "RuntimeError: oops")
