"""The lease keeper, against a scripted store and a clock that jumps."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from control_plane import Disconnected, Lease, Refusal, ServerError
from dcf.simulation.virtual_loop import VirtualLoop, run_virtually
from dcf.worker import KeeperThread, LeaseKeeper

# A new lease may wait this long for its first look; see the keeper's longest nap.
NAP_S = 0.25


class ScriptedStore:
    """Answers renewals with what ``answers`` holds (the last one again and again)."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers) or [30_000]
        self.renewals: list[tuple[float, bool]] = []

    async def renew(self, _lease: Lease, *, beat: bool = False) -> int | Refusal:
        self.renewals.append((asyncio.get_running_loop().time(), beat))
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        if answer is None:  # a server that does not answer
            await asyncio.Event().wait()
        return answer  # type: ignore[no-any-return]

    @property
    def times(self) -> list[float]:
        return [at for at, _ in self.renewals]


def a_lease(ttl_ms: int = 30_000) -> Lease:
    return Lease("run", "A", "token", 1, "w1", ttl_ms, "Task", "state", 1, 1, 0, "d")


class Scene:
    """A keeper at work, and what it told."""

    def __init__(self, loop: VirtualLoop, *answers: Any) -> None:
        self.loop = loop
        self.store = ScriptedStore(*answers)
        self.keeper = LeaseKeeper(self.store, now=loop.time)  # type: ignore[arg-type]
        self.lost: list[tuple[float, str]] = []

    def watch(self, ttl_ms: int = 30_000, **limits: float | None) -> Any:
        limits = {"limit_s": None, "heartbeat_s": None} | limits
        watch = self.keeper.watch(
            a_lease(ttl_ms), lambda code: self.lost.append((self.loop.now, code))
        )
        self.keeper.limit(watch, **limits)
        return watch

    async def until(self, seconds: float) -> None:
        """Let the keeper run until ``seconds`` after the start."""
        task = asyncio.ensure_future(self.keeper.run())
        await asyncio.sleep(seconds - self.loop.now)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def scene(*answers: Any) -> Callable[[Callable[[Scene], Awaitable[None]]], Callable[[], None]]:
    """Run a test with a scene whose store gives ``answers``."""

    def decorate(test: Callable[[Scene], Awaitable[None]]) -> Callable[[], None]:
        def run() -> None:
            loop = VirtualLoop()

            async def main() -> None:
                await test(Scene(loop, *answers))

            run_virtually(loop, main())

        functools.update_wrapper(run, test)
        del run.__wrapped__  # type: ignore[attr-defined]
        return run

    return decorate


@scene()
async def test_a_lease_is_renewed_at_each_third_of_its_time_to_live(scene: Scene) -> None:
    scene.watch(30_000)
    await scene.until(45)
    assert scene.store.times == pytest.approx([10, 20, 30, 40], abs=NAP_S)
    assert scene.lost == []


@scene()
async def test_a_short_lease_that_comes_in_a_nap_is_renewed_in_time(scene: Scene) -> None:
    asyncio.get_running_loop().call_later(0.01, lambda: scene.watch(300))
    await scene.until(2)
    ends = 0.01 + 0.3
    for at in scene.store.times:
        assert at < ends
        ends = at + 0.3
    assert len(scene.store.times) >= 10


@scene()
async def test_what_is_no_longer_watched_is_not_renewed(scene: Scene) -> None:
    watch = scene.watch(30_000)
    asyncio.get_running_loop().call_later(15, scene.keeper.unwatch, watch)
    await scene.until(60)
    assert len(scene.store.times) == 1


@pytest.mark.parametrize(
    "code", ["lease_lost", "lease_expired", "timed_out", "cancelled", "closed"]
)
def test_any_refusal_is_told_once_and_ends_the_watch(code: str) -> None:
    @scene(Refusal(code))
    async def told(scene: Scene) -> None:
        scene.watch(30_000)
        await scene.until(100)
        assert [found for _, found in scene.lost] == [code]
        assert len(scene.store.times) == 1

    told()


@scene(Disconnected("away"), ServerError("LOADING"), 30_000)
async def test_a_server_that_is_back_before_the_lease_ends_costs_nothing(scene: Scene) -> None:
    scene.watch(30_000)
    await scene.until(20)
    assert scene.store.times == pytest.approx([10, 11, 12], abs=3 * NAP_S)
    assert scene.lost == []


@scene(Disconnected("away"))
async def test_a_server_that_stays_away_loses_the_lease_when_it_must_have_ended(
    scene: Scene,
) -> None:
    scene.watch(30_000)
    await scene.until(100)
    ((at, code),) = scene.lost
    assert code == "lease_expired"
    assert 30 <= at <= 30 + 2 * NAP_S


@scene(None)
async def test_a_server_that_does_not_answer_is_not_waited_for_beyond_the_lease(
    scene: Scene,
) -> None:
    scene.watch(30_000)
    await scene.until(100)
    ((at, code),) = scene.lost
    assert code == "lease_expired"
    assert 30 <= at <= 30 + 2 * NAP_S


@scene(30_000, Disconnected("away"))
async def test_the_lease_lasts_from_its_last_renewal(scene: Scene) -> None:
    scene.watch(30_000)
    await scene.until(100)
    ((at, _),) = scene.lost
    assert 40 <= at <= 40 + 3 * NAP_S


@scene(30_000, 30_000, Refusal("timed_out"))
async def test_the_control_plane_is_asked_soon_after_a_limit_passes(scene: Scene) -> None:
    scene.watch(30_000, limit_s=25)
    await scene.until(100)
    ((at, code),) = scene.lost
    assert code == "timed_out"
    assert 25 < at <= 25.1 + NAP_S


@scene(Refusal("timed_out"))
async def test_a_limit_shorter_than_a_third_is_asked_about_first(scene: Scene) -> None:
    scene.watch(30_000, limit_s=2)
    await scene.until(100)
    assert 2 < scene.lost[0][0] <= 2.1 + NAP_S


@scene(Refusal("timed_out"))
async def test_a_heartbeat_that_does_not_come_is_asked_about(scene: Scene) -> None:
    scene.watch(30_000, heartbeat_s=3)
    await scene.until(100)
    assert 3 < scene.lost[0][0] <= 3.1 + NAP_S


@scene()
async def test_a_beat_reaches_the_control_plane_before_the_heartbeat_is_due(scene: Scene) -> None:
    watch = scene.watch(30_000, heartbeat_s=3)
    for second in range(0, 20, 2):
        asyncio.get_running_loop().call_later(second, scene.keeper.beat, watch)
    await scene.until(20)
    beats = [at for at, beat in scene.store.renewals if beat]
    gaps = [later - sooner for sooner, later in zip([0.0, *beats], beats, strict=False)]
    assert max(gaps) < 3


@scene()
async def test_a_renewal_without_a_beat_says_so(scene: Scene) -> None:
    watch = scene.watch(30_000)
    scene.keeper.beat(watch)
    await scene.until(25)
    assert [beat for _, beat in scene.store.renewals] == [True, False]


@scene(Disconnected("away"), 30_000)
async def test_a_beat_that_was_not_heard_is_said_again(scene: Scene) -> None:
    watch = scene.watch(30_000)
    scene.keeper.beat(watch)
    await scene.until(15)
    assert [beat for _, beat in scene.store.renewals] == [True, True]


@scene(Refusal("lease_lost"))
async def test_one_lost_lease_leaves_the_others_alone(scene: Scene) -> None:
    scene.watch(30_000)
    second = scene.watch(90_000)
    scene.keeper.unwatch(second)
    await scene.until(100)
    assert len(scene.lost) == 1


def test_a_store_that_cannot_be_opened_is_told_and_does_not_hang() -> None:
    def broken() -> Any:
        raise ValueError("no such address")

    with pytest.raises(ValueError, match="no such address"), KeeperThread(broken):
        pass
