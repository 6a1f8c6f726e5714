"""Tasks that are stopped end, though a cancellation be lost."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from pathlib import Path

import pytest

from dcf.stopping import finish, stop


async def test_a_task_that_loses_a_cancellation_is_stopped_all_the_same() -> None:
    lost = 0

    async def stubborn() -> None:
        nonlocal lost
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                # As wait_for of Python 3.11 does at times.
                if lost == 2:
                    raise
                lost += 1

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    async with asyncio.timeout(30):
        await stop(task)
    assert task.cancelled()
    assert lost == 2


async def test_tasks_that_are_over_and_those_that_fail_are_no_trouble() -> None:
    async def fails() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            raise ValueError

    over = asyncio.create_task(asyncio.sleep(0))
    failing = asyncio.create_task(fails())
    await asyncio.sleep(0.01)
    await stop(over, failing)
    assert over.done() and isinstance(failing.exception(), ValueError)
    await stop()


async def test_what_is_finished_ends_however_often_its_caller_is_stopped() -> None:
    began, go_on, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def clean_up() -> None:
        began.set()
        await go_on.wait()
        ended.set()

    task = asyncio.create_task(finish(clean_up()))
    await began.wait()
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
    assert not task.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_what_is_finished_gives_its_answer_and_its_error() -> None:
    async def answer() -> int:
        return 5

    async def fails() -> None:
        raise KeyError("x")

    assert await finish(answer()) == 5
    with pytest.raises(KeyError):
        await finish(fails())


async def test_work_that_fails_while_its_caller_is_cancelled_is_told_in_the_log_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _loop, context: told.append(context["message"]))
    go_on = asyncio.Event()

    async def fails() -> None:
        await go_on.wait()
        raise KeyError("x")

    task = asyncio.create_task(finish(fails()))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    del task
    gc.collect()
    assert told == []
    assert "KeyError('x')" in caplog.text


STARTER = """
import multiprocessing, os, time
from dcf.stopping import end_with_starter

def work():
    end_with_starter()
    print(os.getpid(), flush=True)
    time.sleep(600)

if __name__ == "__main__":
    multiprocessing.get_context("spawn").Process(target=work).start()
    time.sleep(600)
"""


def test_a_process_whose_starter_was_killed_ends(tmp_path: Path) -> None:
    script = tmp_path / "starter.py"
    script.write_text(STARTER)
    starter = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    with starter:
        assert starter.stdout is not None
        assert int(starter.stdout.readline()) > 0
        starter.kill()
        # The process that it started has the other end of this pipe.
        assert starter.stdout.read() == ""
