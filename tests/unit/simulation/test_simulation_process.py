"""A simulated process can be killed and stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from dcf.simulation.process import Process
from dcf.simulation.virtual_loop import VirtualLoop, run_virtually


def _run(main: Coroutine[Any, Any, None]) -> float:
    loop = VirtualLoop()
    run_virtually(loop, main)
    return loop.now


def test_a_dead_process_never_goes_on() -> None:
    reached: list[str] = []

    async def work(process: Process) -> None:
        reached.append("before")
        await process.die()
        reached.append("after")

    async def main() -> None:
        process = Process("p")
        process.start(work(process))
        await process.join()
        assert process.dead

    _run(main())
    assert reached == ["before"]


def test_all_tasks_of_a_killed_process_end() -> None:
    async def main() -> None:
        process = Process("p")
        tasks = [process.start(asyncio.sleep(3600)) for _ in range(3)]
        await asyncio.sleep(1)
        process.kill()
        await process.join()
        assert all(task.cancelled() for task in tasks)

    assert _run(main()) == pytest.approx(1)


def test_a_stopped_process_goes_on_later_without_noticing() -> None:
    async def main() -> None:
        process = Process("p")
        process.stop(40)
        await process.sleep(1)

    assert _run(main()) == pytest.approx(40)


def test_the_clock_of_a_process_may_be_wrong_and_runs_on() -> None:
    async def main() -> None:
        process = Process("p", skew_s=-7200)
        before = process.now()
        await process.sleep(5)
        assert before == pytest.approx(-7200)
        assert process.now() - before == pytest.approx(5)

    _run(main())
