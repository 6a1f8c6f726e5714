"""Tasks that are stopped end, though a cancellation be lost."""

from __future__ import annotations

import asyncio

from dcf.stopping import stop


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
