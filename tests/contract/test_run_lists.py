"""The lists of runs hold what a look at every document finds, whatever happened to the runs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from campaigns import CONTRACT, campaign, settled
from flows import linear, seed
from hypothesis import given, settings
from hypothesis import strategies as st
from interleaved import Breaking
from workers import lease_of, put_away, run_to_end
from worlds import TwinWorld, World

from control_plane import (
    BadName,
    BadPlace,
    BrokenRun,
    ControlPlaneError,
    Disconnected,
    RunDocument,
    Store,
    UnknownRun,
    WrongType,
    keys,
    run_lists,
    timers,
)
from control_plane.run_lists import STATUSES, list_runs
from dcf.workflow import finalize

pytestmark = settled(*CONTRACT)

Lists = dict[str, dict[str, int]]
HOUR_MS = 3_600_000
IDS = ("r-A", "r-a", "r_a", "r-b")


async def listed(world: World) -> Lists:
    """What stands in the lists."""
    found: Lists = {}
    for status in STATUSES:
        reply = await world.backend.command("ZRANGE", keys.runs(status), 0, -1, "WITHSCORES")
        for name, at in zip(reply[::2], reply[1::2], strict=True):
            found.setdefault(status, {})[name] = int(at)
    return found


async def scanned(world: World) -> Lists:
    """What should stand there, by every document there is."""
    found: Lists = {}
    for key in await world.backend.command("KEYS", "cp:wf:*:meta"):
        run = RunDocument.parse(await world.backend.command("JSON.GET", key))
        found.setdefault(run.status, {})[run.workflow_id] = int(run.born)
    return found


async def ids_of(store: Store, limit: int, **options: Any) -> list[str]:
    """The ids on all pages, one page after the other."""
    found: list[str] = []
    after = None
    while True:
        page = await list_runs(store, limit, after=after, **options)
        assert len(page.runs) == limit or page.next_after is None
        found += [run.workflow_id for run in page.runs]
        if page.next_after is None:
            return found
        after = page.next_after


async def act(world: World, store: Store, action: str, run: str) -> None:
    """Something that happens to a run, as far as it can."""
    if action == "seed":
        await seed(store, linear("A", "B"), run=run)
    elif action == "work":
        await run_to_end(world, linear("A", "B"), run=run)
    elif action == "cancel":
        await store.cancel(run, by="x")
    elif action == "redrive":
        await store.redrive(run, again=["A"], resume=[])
    elif action == "put away":
        await put_away(store, run=run)
    elif action == "remove":
        await store.remove(run)
    elif action == "remove half":
        await store.remove(run, abandoned=True)
    elif action == "lease":
        await lease_of(store, "A", run=run)
    elif action == "wait":
        await world.advance(1)
    elif action == "sweep":
        await world.advance(60_000)
        await timers.sweep(store)
    else:
        await run_lists.fill(store)


ACTIONS = (
    "seed", "work", "cancel", "redrive", "put away", "remove", "remove half", "lease", "wait",
    "sweep", "fill",
)  # fmt: skip
Deed = tuple[str, str, int | None, str]
DEEDS = st.lists(
    st.tuples(
        st.sampled_from(ACTIONS),
        st.sampled_from(IDS),
        st.none() | st.integers(1, 12),
        st.sampled_from(("before", "after")),
    ),
    max_size=25,
)


async def do(world: World, deeds: Sequence[Deed], *, cluster: bool) -> None:
    for action, run, fatal, when in deeds:
        mortal = Breaking(world.backend, fatal, when)  # type: ignore[arg-type]
        # Refused, or dead in the middle: both are what happens to runs.
        with suppress(ControlPlaneError, AssertionError):
            await act(world, world.store(mortal, cluster=cluster), action, run)
        if not cluster:
            assert await listed(world) == await scanned(world), (action, run, fatal, when)


@campaign(8)
@settings(max_examples=60)
@given(deeds=DEEDS)
def test_whatever_happened_a_run_stands_in_the_list_of_its_status_and_in_no_other(
    share: int, deeds: list[Deed]
) -> None:
    del share
    asyncio.run(do(TwinWorld(), deeds, cluster=False))


@campaign(8)
@settings(max_examples=40)
@given(deeds=DEEDS)
def test_in_a_cluster_ticks_retirements_and_readers_mend_what_the_dead_left(
    share: int, deeds: list[Deed]
) -> None:
    del share

    async def check() -> None:
        world = TwinWorld()
        await do(world, deeds, cluster=True)
        store = world.store(cluster=True)
        await world.advance(60_000)
        for run in (await timers.sweep(store)).over:
            await put_away(store, run=run)
        await ids_of(store, 3)
        found = {
            key.removeprefix("cp:wf:{").removesuffix("}:meta")
            for key in await world.backend.command("KEYS", "cp:wf:*:meta")
        }
        runs = await store.run_many(sorted(found))
        assert await listed(world) == by_status(runs)

    asyncio.run(check())


def by_status(runs: Sequence[RunDocument]) -> Lists:
    found: Lists = {}
    for run in runs:
        found.setdefault(run.status, {})[run.workflow_id] = int(run.born)
    return found


async def some_runs(world: World) -> Store:
    """Runs of every kind but pending, several of one millisecond."""
    store = world.store()
    for number in range(12):
        name = f"r-{number:02}"
        await seed(store, linear("A", "B"), run=name)
        if number % 4 == 0:
            await run_to_end(world, linear("A", "B"), run=name)
            await put_away(store, run=name)
        elif number % 4 == 1:
            await store.cancel(name, by="x")
        if number % 5 == 4:
            await world.advance(1)
    return store


@pytest.mark.parametrize("size", [1, 2, 5, 12, 40])
async def test_pages_follow_each_other_without_a_gap_and_without_a_double(
    world: World, size: int
) -> None:
    store = await some_runs(world)
    every = [run for runs in (await scanned(world)).values() for run in runs.items()]
    newest = [name for name, _ in sorted(every, key=lambda one: (one[1], one[0]), reverse=True)]
    assert await ids_of(store, size) == newest
    for status in STATUSES:
        expected = [name for name in newest if name in (await scanned(world)).get(status, {})]
        assert await ids_of(store, size, status=status) == expected


async def test_a_page_begins_after_a_run_named_by_its_id_and_goes_on_when_that_was_removed(
    world: World,
) -> None:
    store = await some_runs(world)
    every = await ids_of(store, 100)
    page = await list_runs(store, 3, after=every[4])
    assert [run.workflow_id for run in page.runs] == every[5:8]
    last = page.runs[-1].workflow_id
    await store.cancel(last, by="x")
    await put_away(store, run=last)
    await store.remove(last)
    following = await list_runs(store, 3, after=page.next_after)
    assert [run.workflow_id for run in following.runs] == every[8:11]


@pytest.mark.parametrize(
    ("after", "error"),
    [("nobody", UnknownRun), ("x.r-1", BadPlace), ("١.r-1", BadPlace), ("1.a b", BadName)],
)
async def test_a_place_that_is_none_is_refused(
    world: World, after: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await list_runs(world.store(), 3, after=after)


async def forget(world: World) -> None:
    """As if an older version, which knows no lists, had done all of it."""
    await world.backend.command("DEL", keys.RUNS_FILLED, *map(keys.runs, STATUSES))


async def test_runs_of_an_older_version_are_listed_by_the_first_who_asks(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_lists, "_SLICE", 2)
    store = await some_runs(world)
    every = await ids_of(store, 100)
    await forget(world)
    assert await ids_of(store, 100) == every
    assert await listed(world) == await scanned(world)


async def test_two_may_bring_older_runs_into_the_lists_and_die_over_it_anywhere(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_lists, "_SLICE", 2)
    await some_runs(world)
    whole = Breaking(world.backend, None)
    await forget(world)
    await run_lists.fill(world.store(whole))
    assert whole.calls > 20
    for fatal in range(1, whole.calls + 1):
        await forget(world)
        mortal = world.store(Breaking(world.backend, fatal))
        await asyncio.gather(
            run_lists.fill(mortal), run_lists.fill(world.store()), return_exceptions=True
        )
        assert await listed(world) == await scanned(world), f"died before call {fatal}"
        await forget(world)
        with pytest.raises(Disconnected):
            await run_lists.fill(world.store(Breaking(world.backend, fatal, "after")))
        await run_lists.fill(world.store())
        assert await listed(world) == await scanned(world), f"died after call {fatal}"


async def test_what_an_older_version_ends_beside_us_is_listed_once_it_is_retired(
    world: World,
) -> None:
    store = await some_runs(world)
    await run_lists.fill(store)
    await world.advance(1)
    await seed(store, linear("A"), run="other")
    before = await listed(world)
    await store.cancel("other", by="an older version")
    await put_away(store, run="other")
    for status, runs in (await listed(world)).items():
        if runs != before.get(status):
            await world.backend.command("ZREM", keys.runs(status), "other")
    await world.backend.command("ZADD", keys.runs("running"), before["running"]["other"], "other")
    await run_lists.fill(store)
    assert await listed(world) == await scanned(world)


async def test_entries_that_disagree_with_their_documents_are_mended_by_whoever_reads_them(
    world: World,
) -> None:
    store = await some_runs(world)
    every = await ids_of(store, 100)
    for number, run in enumerate(await store.run_many(every)):
        for status in STATUSES:
            await world.backend.command("ZREM", keys.runs(status), run.workflow_id)
        status = Random(number).choice(STATUSES)
        await world.backend.command("ZADD", keys.runs(status), run.born, run.workflow_id)
    await world.backend.command("ZADD", keys.runs("failed"), world.now_ms, "removed")
    assert await listed(world) != await scanned(world)
    assert await ids_of(store, 3) == every
    assert await listed(world) == await scanned(world)
    assert await ids_of(store, 3) == every


async def test_a_list_that_was_lost_is_there_again_within_an_hour(world: World) -> None:
    store = await some_runs(world)
    every = await ids_of(store, 100)
    await world.backend.command("DEL", keys.runs("succeeded"))
    assert await ids_of(store, 100) != every
    await world.advance(HOUR_MS)
    assert await ids_of(store, 100) == every


async def test_a_listed_run_whose_document_was_overwritten_is_told_and_not_logged(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    store = world.store()
    for name in ("r-1", "r-2"):
        await seed(store, linear("A"), run=name)
    assert await ids_of(store, 10) == ["r-2", "r-1"]
    await world.backend.command("DEL", store.keys("r-2").meta)
    await world.backend.command("SET", store.keys("r-2").meta, "a text")
    page = await run_lists.list_runs(store, 10)
    assert [run.workflow_id for run in page.runs] == ["r-1"]
    assert [str(error) for error in page.broken] == [
        "The document of run r-2 is broken: it is of the type string, and not JSON "
        "(cp:wf:r-2:meta)."
    ]
    assert caplog.text == ""
    await world.backend.command("DEL", store.keys("r-2").meta)


@pytest.mark.parametrize("cluster", [False, True])
async def test_a_run_whose_document_was_overwritten_keeps_no_other_out_of_the_lists(
    world: World, caplog: pytest.LogCaptureFixture, cluster: bool
) -> None:
    store = world.store(cluster=cluster)
    for name in ("r-1", "r-2", "r-3"):
        await seed(store, linear("A"), run=name)
    await forget(world)
    await world.backend.command("DEL", store.keys("r-2").meta)
    await world.backend.command("SET", store.keys("r-2").meta, "a text")
    assert await ids_of(store, 10) == ["r-3", "r-1"]
    assert "run r-2 cannot be listed: The document of run r-2 is broken" in caplog.text
    assert "--broken" in caplog.text
    # Lists that are overwritten are nobody's fault but theirs.
    await forget(world)
    await world.backend.command("SET", keys.runs("running"), "a text")
    with pytest.raises(WrongType):
        await run_lists.fill(store)
    await world.backend.command("DEL", keys.runs("running"), store.keys("r-2").meta)


async def test_any_number_of_runs_is_listed_with_as_many_calls_as_one(world: World) -> None:
    await seed(world.store(), linear("A"), run="r-0")
    await ids_of(world.store(), 50)

    async def calls() -> int:
        counting = Breaking(world.backend, None)
        await ids_of(world.store(counting), 50)
        return counting.calls

    alone = await calls()
    for number in range(1, 30):
        await seed(world.store(), linear("A"), run=f"r-{number}")
    assert await calls() == alone


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("$.error", '{"error":5}'),
        ("$.started_at", '"x"'),
        ("$.finished_at", '"x"'),
        ("$.finished_at", "99999999999999999"),
        ("$.states", "5"),
        ("$.ctl.born", '"x"'),
        ("$.ctl", "7"),
    ],
)
async def test_a_document_that_no_script_wrote_hides_no_other_run(
    world: World, place: str, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = world.store()
    for run in ("good", "bad"):
        await seed(store, linear("A"), run=run)
        await store.cancel(run, by="x")
        await finalize(store, run, by="test")
    await world.backend.command("JSON.SET", store.keys("bad").meta, place, value)
    await world.backend.command("DEL", keys.RUNS_FILLED)
    page = await run_lists.list_runs(store, 10)
    assert [run.workflow_id for run in page.runs] == ["good"]
    assert [error.fields["workflow_id"] for error in page.broken] == ["bad"]
    pages = [one async for one in run_lists.ended_runs(store, 2**53, run_lists.STATUSES)]
    assert [run.workflow_id for page in pages for run in page] == ["good"]
    with pytest.raises(BrokenRun, match="is broken"):
        await store.run("bad")
    # Every other test leaves documents that fit their schemas.
    await world.backend.command("DEL", store.keys("bad").meta)
