"""The judge of poison Tasks counts deaths as the rules do, whatever order they come in."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.workflow.stage import RUN, Calls, Stage, document_of, flow, staged, task

from control_plane import Alone, Lease, Refusal, timers
from dcf import workflow
from tests.chaos.poison import LIMIT, problem_of

_TTL_MS = 1_000
_DEATHS = ("vanishes", "vanishes with its watcher", "dies", "dies late", "dies too late")


class Killer:
    """Workers that die over the only Task of a run, by hand."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._store = stage.store

    async def submit(self, limit: int = LIMIT) -> None:
        document = document_of(flow(A=task())).with_worker_deaths(limit)
        await workflow.submit(self._store, document, {}, workflow_id=RUN)

    async def is_stopped(self) -> bool:
        return (await self._stage.state("A")).event == "worker_lost"

    async def happen(self, death: str) -> None:
        """One death; the first one is that of a worker that held more."""
        if (await self._stage.state("A")).deaths == 0:
            await self._expire(await self._lease(None))
            return
        if death == "vanishes":
            await self._expire(await self._lease("here"))
            return
        lease = await self._lease("watched")
        if death != "dies":
            await self._expire(lease)
            if await self.is_stopped():
                return  # by a death that was told too late before, and so nobody hears of this one
        if death == "dies too late":
            other = await self._lease("watched")
            await self._die(lease)
            await self._store.release(other)
        elif death != "vanishes with its watcher":
            await self._die(lease)

    async def stop(self) -> None:
        """A worker ends the run as its event says."""
        self._stage.worker({"work": _never})
        await self._stage.end()

    async def problem(self) -> str:
        return problem_of(await self._store.run(RUN), "A", await self._stage.events())

    async def _lease(self, alone: Alone | None) -> Lease:
        lease = await self._store.acquire(RUN, "A", owner="w", ttl_ms=_TTL_MS, alone=alone)
        assert not isinstance(lease, Refusal)
        return lease

    async def _expire(self, lease: Lease) -> None:
        await asyncio.sleep(lease.ttl_ms / 1000)
        await timers.tick(self._store, RUN)

    async def _die(self, lease: Lease) -> None:
        assert await self._store.release(lease, died="exit by signal 9 (SIGKILL)") is None


async def _never(_given: object) -> None:
    raise AssertionError("what is stopped is not worked on")


@settings(max_examples=40)
@given(st.lists(st.sampled_from(_DEATHS), max_size=12))
@staged
async def test_a_run_that_is_stopped_by_the_rules_has_no_problem(
    deaths: list[str], stage: Stage
) -> None:
    killer = Killer(stage)
    await killer.submit()
    # The last ones stop it in any case.
    for death in [*deaths, *["dies"] * LIMIT]:
        if not await killer.is_stopped():
            await killer.happen(death)
    await killer.stop()
    assert await killer.problem() == ""


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (LIMIT - 1, f"was stopped after {LIMIT - 1} deaths, and the limit is {LIMIT}"),
        (LIMIT + 1, f"was not stopped after {LIMIT} deaths, and the limit is {LIMIT}"),
    ],
    ids=["early", "late"],
)
@staged
async def test_a_run_that_is_stopped_early_or_late_has_a_problem(
    limit: int, said: str, stage: Stage
) -> None:
    killer = Killer(stage)
    await killer.submit(limit)
    while not await killer.is_stopped():
        await killer.happen("dies")
    await killer.stop()
    assert said in await killer.problem()


@staged
async def test_the_first_deaths_of_neighbours_are_charged_once(stage: Stage) -> None:
    """A judge that counted each death with a watcher would see this run stopped late."""
    killer = Killer(stage)
    await killer.submit()
    for death in ["vanishes with its watcher"] * 4 + ["dies"] * (LIMIT - 1):
        assert not await killer.is_stopped()
        await killer.happen(death)
    assert await killer.is_stopped()
    await killer.stop()
    assert await killer.problem() == ""


@staged
async def test_poison_that_succeeds_is_a_problem(stage: Stage) -> None:
    await stage.play(flow(A=task()), {}, {"work": Calls()})
    assert "ended as succeeded, not by its deaths" in await Killer(stage).problem()
