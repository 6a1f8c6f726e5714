"""Guarantee 1: hints may be lost, doubled, late or wrong; no outcome changes."""

from __future__ import annotations

from typing import Any

import pytest
from campaigns import CONTRACT, settled
from flows import RUN, Flow, linear, seed
from interleaved import Breaking
from test_join import fanned, open_frames
from workers import TTL_MS, Worker, drive, lease_of, pass_time, put_away
from worlds import World

from control_plane import (
    INDEX,
    Disconnected,
    Hint,
    HintQueue,
    Lease,
    Refusal,
    Store,
    script,
    timers,
)

pytestmark = settled(*CONTRACT)

FLOW: Flow = {
    "start": "A",
    "states": {
        "A": {"task": "A", "next": "W"},
        "W": {"wait": 2_000, "next": "M"},
        "M": {"map": linear("T", "U"), "window": 2, "next": "P"},
        "P": {"parallel": [linear("L"), linear("R")]},
    },
}
EXPECTED = [["a", "b", "c"]] * 2


class Lossy(HintQueue):
    """Drops hints, doubles them, or gives them late, by their number."""

    def __init__(self, inner: HintQueue, way: str) -> None:
        self._inner = inner
        self._way = way
        self._kept: list[Hint] = []
        self._count = 0

    async def open(self) -> None:
        await self._inner.open()

    async def read(self, count: int, *, block_ms: int = 1) -> list[Hint]:
        given: list[Hint] = []
        for hint in await self._inner.read(count, block_ms=block_ms):
            self._count += 1
            if self._way == "doubled":
                given += [hint, hint]
            elif self._way == "late":
                given += self._kept[-1:]
                self._kept.append(hint)
            elif self._way == "some lost" and self._count % 2:
                given.append(hint)
        return given


async def _perform(world: World, way: str, performed: list[str]) -> Any:
    async def work(lease: Lease) -> Any:
        performed.append(lease.path)
        return lease.input

    await seed(world.store(), FLOW, ["a", "b", "c"])
    crew = [
        Worker(
            world.store(),
            Lossy(world.queue(f"c{n}"), way),
            FLOW,
            work,
            name=f"w{n}",
            in_place=False,
        )
        for n in range(2)
    ]
    run = await drive(world, crew)
    assert run.status == "succeeded"
    return (await world.store().outputs(RUN, ["P"]))["P"]["data"]


@pytest.mark.parametrize("way", ["some lost", "doubled", "late"])
async def test_lost_doubled_and_late_hints_change_no_outcome(world: World, way: str) -> None:
    performed: list[str] = []
    assert await _perform(world, way, performed) == EXPECTED
    expected = ["A", "P[0]/L", "P[1]/R"]
    expected += [f"M[{number}]/{name}" for number in range(3) for name in "TU"]
    assert sorted(performed) == sorted(expected)


async def test_a_run_without_any_hint_is_found_by_the_sweep(world: World) -> None:
    """The whole stream is lost, again and again."""
    await seed(world.store(), FLOW, ["a", "b", "c"])
    store = world.store()
    worker = Worker(store, world.queue(), FLOW, in_place=False)
    for _ in range(200):
        await world.backend.command("DEL", "cp:queue:default")
        await pass_time(world, store)
        await worker.queue.open()
        await worker.take()
        if (await store.run(RUN)).is_over:
            break
    assert (await store.run(RUN)).status == "succeeded"
    assert (await store.outputs(RUN, ["P"]))["P"]["data"] == EXPECTED


async def test_a_ready_state_is_hinted_again_after_15_seconds_and_then_less_often(
    world: World,
) -> None:
    store = world.store()
    await seed(store, linear("A"))
    begun, hinted = world.now_ms, []
    for _ in range(6):
        await world.backend.command("DEL", "cp:queue:default")
        while not await world.backend.command("EXISTS", "cp:queue:default"):
            await world.advance(1_000)
            await timers.sweep(store)
        hinted.append((world.now_ms - begun) // 1_000)
    assert hinted == [15, 30, 60, 120, 180, 240]


async def test_a_hint_is_dropped_whatever_the_answer_is(world: World) -> None:
    store, hints = world.store(), world.queue()
    await hints.open()
    await seed(store, linear("A"))
    await lease_of(store, "A")
    (hint,) = await hints.read(10, block_ms=1)
    answer = await store.acquire(RUN, "A", owner="x", hint=hint.key)
    assert isinstance(answer, Refusal)
    assert await world.backend.command("XLEN", "cp:queue:default") == 0
    assert (await world.backend.command("XPENDING", "cp:queue:default", "workers"))[0] == 0


async def test_hints_of_states_that_do_not_exist_are_harmless(world: World) -> None:
    hints, store = world.queue(), world.store()
    await hints.open()
    for run, path in (("nope", "A"), (RUN, "Nope"), (RUN, "A[7]/B")):
        await world.backend.command("XADD", "cp:queue:default", "*", "workflow", run, "path", path)
    await seed(store, linear("A"))
    apart = ("cp:queue:default", "cp:reader:reader")
    before = {k: v for k, v in (await world.dump()).items() if k not in apart}
    for hint in await hints.read(10, block_ms=1):
        if hint.path == "A" and hint.workflow_id == RUN:
            continue
        answer = await store.acquire(hint.workflow_id, hint.path, owner="x", hint=hint.key)
        assert answer == Refusal("unknown_state")
    after = {k: v for k, v in (await world.dump()).items() if k not in apart}
    assert after == before


async def test_a_hint_that_nobody_settled_is_dropped_and_the_sweep_brings_its_state(
    world: World,
) -> None:
    store, dead, living = world.store(), world.queue("dead"), world.queue("living")
    await dead.open()
    await seed(store, linear("A"))
    (hint,) = await dead.read(10, block_ms=1)
    stream = "cp:queue:default"
    # As if it had been read two minutes ago.
    await world.backend.command(
        "XCLAIM", stream, "workers", "dead", 0, hint.entry, "IDLE", 120_000, "JUSTID"
    )
    assert await living.drop_stale() == 1
    assert await living.read(10, block_ms=1) == []
    await world.advance(15_000)
    await timers.sweep(store)
    assert [hint.path for hint in await living.read(10, block_ms=1)] == ["A"]


async def test_a_queue_that_was_removed_is_opened_again(world: World) -> None:
    hints = world.queue()
    await hints.open()
    await world.backend.command("DEL", "cp:queue:default")
    assert await hints.read(10, block_ms=1) == []
    await seed(world.store(), linear("A"))
    assert [hint.path for hint in await hints.read(10, block_ms=1)] == ["A"]


async def test_a_claimed_run_is_left_to_its_claimer_for_15_seconds(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    await world.backend.command("ZADD", INDEX, 0, RUN)
    claim, request = "claim", '{"limit":16}'
    first = await world.backend.run(script.load(claim), [INDEX], [request])
    second = await world.backend.run(script.load(claim), [INDEX], [request])
    assert first == [[RUN], str(world.now_ms + 15_000), str(world.now_ms)]
    assert second[0] == []
    await world.advance(15_000)
    assert (await world.backend.run(script.load(claim), [INDEX], [request]))[0] == [RUN]


async def test_a_sweep_that_dies_keeps_no_more_runs_than_it_ticks_at_once(world: World) -> None:
    store = world.store()
    for number in range(timers.RUNS_AT_ONCE + 4):
        await seed(store, linear("A"), run=f"r{number}")
    await world.advance(15_000)
    with pytest.raises(Disconnected):
        await timers.sweep(world.store(Breaking(world.backend, 2)))
    due = await world.backend.command("ZCOUNT", INDEX, "-inf", world.now_ms)
    assert due == 4


async def test_more_than_a_hundred_due_states_are_moved_by_further_ticks(world: World) -> None:
    flow = fanned({"start": "T", "states": {"T": {"task": "T"}}})
    store = world.store()
    await seed(store, flow, list(range(150)))
    worker = Worker(store, world.queue(), flow)
    parent = await lease_of(store, "M")
    await worker.once(parent)
    for number in range(1, 150):  # the first one was leased in place
        await lease_of(store, f"M[{number}]")
    await world.advance(TTL_MS)
    moved = [(await timers.tick(store, RUN)).moved for _ in range(3)]
    assert moved == [100, 50, 0]


WAITING: Flow = {"start": "W", "states": {"W": {"wait": 1_000}}}


async def waiting_in_a_map(world: World, count: int) -> Store:
    """A run with so many timers that are due now."""
    flow = fanned(WAITING)
    store, leases = await open_frames(world, flow, list(range(count)))
    worker = Worker(store, world.queue(), flow)
    for lease in leases:
        await worker.once(lease)
    await world.advance(1_000)
    return store


async def test_one_sweep_lets_all_fire_that_is_due_in_one_run(world: World) -> None:
    store = await waiting_in_a_map(world, 250)
    swept = await timers.sweep(store)
    assert swept.moved == 250
    waits = [f"M[{number}]/W" for number in range(250)]
    assert {state.event for state in (await store.states(RUN, waits)).values()} == {"timer"}
    # The first of them are hinted anew in 15 s, and nothing is due before.
    assert swept.next_look_ms == world.now_ms + 15_000


async def test_a_run_with_much_that_is_due_keeps_no_other_waiting(world: World) -> None:
    store = await waiting_in_a_map(world, 250)
    await seed(store, WAITING, run="small")
    await Worker(store, world.queue(), WAITING).once(await lease_of(store, "W", run="small"))
    await world.advance(1_000)
    claim_and_two_ticks = Breaking(world.backend, 4)
    with pytest.raises(Disconnected):
        await timers.sweep(world.store(claim_and_two_ticks))
    assert (await store.states("small", ["W"]))["W"].event == "timer"


async def test_a_sweep_of_a_run_with_endlessly_much_that_is_due_ends(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await waiting_in_a_map(world, 250)
    monkeypatch.setattr(timers, "ROUNDS_A_SWEEP", 2)
    swept = await timers.sweep(store)
    assert (swept.moved, swept.next_look_ms) == (200, world.now_ms)
    assert (await timers.sweep(store)).moved == 50


async def test_a_sweep_goes_not_on_for_what_a_redrive_prepares(world: World) -> None:
    store = await waiting_in_a_map(world, 2)
    await world.backend.command("JSON.SET", store.keys(RUN).meta, "$.ctl.preparing", '"an id"')
    counted = Breaking(world.backend, None)
    assert (await timers.sweep(world.store(counted))).moved == 0
    assert counted.names.count("tick") == 1


async def test_one_sweep_lets_all_fire_that_is_due_in_however_many_runs(world: World) -> None:
    store = world.store()
    names = [f"r-{number}" for number in range(3 * timers.RUNS_AT_ONCE + 4)]
    for name in names:
        await seed(store, WAITING, run=name)
        await Worker(store, world.queue(), WAITING).once(await lease_of(store, "W", run=name))
    await world.advance(1_000)
    swept = await timers.sweep(store)
    assert swept.moved == len(names)
    assert [(await store.states(name, ["W"]))["W"].event for name in names] == ["timer"] * len(
        names
    )
    assert (await timers.sweep(store)).moved == 0


async def test_a_run_that_cannot_be_ticked_keeps_none_of_the_others_back(world: World) -> None:
    store = world.store()
    for name in ("r-0", "r-1", "r-2"):
        await seed(store, WAITING, run=name)
        await Worker(store, world.queue(), WAITING).once(await lease_of(store, "W", run=name))
    due = store.keys("r-1").due
    await world.backend.command("DEL", due)
    await world.backend.command("SET", due, "no sorted set")
    await world.advance(1_000)
    assert (await timers.sweep(store)).moved == 2
    await world.backend.command("DEL", due)


async def test_an_index_entry_without_a_run_disappears(world: World) -> None:
    await world.backend.command("ZADD", INDEX, 0, "ghost")
    swept = await timers.sweep(world.store())
    assert (swept.over, swept.unfinished) == ([], [])
    assert await world.backend.command("ZSCORE", INDEX, "ghost") is None


async def test_a_sweep_of_a_run_that_was_removed_meanwhile_finds_nothing(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    await store.cancel(RUN, by="x")
    await put_away(store)
    assert await store.remove(RUN) is None
    ticked = await timers.tick(store, RUN)
    assert (ticked.status, ticked.moved, ticked.next_due_ms) == ("", 0, None)
    assert await world.keys() == ["cp:queue:default"]


async def test_two_pools_do_not_take_each_others_hints(world: World) -> None:
    store: Store = world.store(pool="gpu")
    hints, other = world.queue(pool="gpu"), world.queue()
    await hints.open()
    await other.open()
    await seed(store, linear("A"))
    assert await other.read(10, block_ms=1) == []
    assert [hint.path for hint in await hints.read(10, block_ms=1)] == ["A"]


async def test_a_sweep_from_another_pool_hints_into_the_runs_own(world: World) -> None:
    gpu, default = world.store(pool="gpu"), world.store()
    hints, other = world.queue(pool="gpu"), world.queue()
    await hints.open()
    await other.open()
    await seed(gpu, linear("A"))
    await gpu.acquire(RUN, "A", owner="dies", ttl_ms=TTL_MS)
    await hints.read(10, block_ms=1)
    await world.advance(TTL_MS)
    assert (await timers.sweep(default)).moved == 1
    assert await other.read(10, block_ms=1) == []
    assert [hint.path for hint in await hints.read(10, block_ms=1)] == ["A"]


async def test_a_worker_of_another_pool_gets_no_lease(world: World) -> None:
    await seed(world.store(pool="gpu"), linear("A"))
    refused = await world.store().acquire(RUN, "A", owner="w", ttl_ms=TTL_MS)
    assert refused == Refusal("wrong_pool", ("gpu",))
