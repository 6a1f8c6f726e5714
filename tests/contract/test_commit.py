"""Guarantee 3: one commit per step, all or nothing, and terminal is final."""

from __future__ import annotations

import pytest
from flows import RUN, Flow, end, enter, linear, seed
from workers import lease_of
from worlds import World

from control_plane import (
    Commit,
    Committed,
    Failure,
    Lease,
    Output,
    Refusal,
    Wait,
    encode_name,
    history,
    payload,
    timers,
)


async def test_a_commit_writes_output_status_history_successor_and_hint_at_once(
    world: World,
) -> None:
    flow, store = linear("A", "B"), world.store()
    await seed(store, flow)
    lease = await lease_of(store, "A")
    committed = await store.commit(lease, end(flow, lease, 7), commit_id="c1")
    assert committed == Committed(None, None)
    states = await store.states(RUN, ["A", "B"])
    assert (states["A"].status, states["A"].holder) == ("done", None)
    assert states["A"].times["finished"] == world.now_ms
    assert (states["B"].status, states["B"].visit, states["B"].input) == ("ready", 1, 7)
    assert (await store.outputs(RUN, ["A"]))["A"]["data"] == 7
    events = [event.event["type"] async for event in history.read(store, RUN)]
    assert events == ["RunStarted", "LeaseAcquired", "StateDone"]
    due = await world.backend.command("ZRANGE", store.keys(RUN).due, 0, -1)
    assert due == ["B"]
    queue = await world.backend.command("XRANGE", "cp:queue:default", "-", "+")
    assert [fields[3] for _, fields in queue] == ["A", "B"]


async def test_in_place_leases_the_successor_to_the_caller_without_a_hint(world: World) -> None:
    flow, store = linear("A", "B"), world.store()
    await seed(store, flow)
    lease = await lease_of(store, "A")
    committed = await store.commit(lease, end(flow, lease, 7), commit_id="c1", in_place=True)
    assert isinstance(committed, Committed)
    following = committed.lease
    assert following is not None
    assert (following.path, following.input, following.visit, following.try_) == ("B", 7, 1, 1)
    assert following.token != lease.token
    assert following.owner == lease.owner
    stored = (await store.states(RUN, ["B"]))["B"]
    assert (stored.status, stored.fence, stored.attempts) == ("running", following.fence, 1)
    queue = await world.backend.command("XRANGE", "cp:queue:default", "-", "+")
    assert [fields[3] for _, fields in queue] == ["A"]
    last = await store.commit(following, end(flow, following, 8), commit_id="c2", in_place=True)
    assert last == Committed(None, "succeeded")


async def test_the_run_ends_with_the_state_that_ends_the_root_frame(world: World) -> None:
    flow, store = linear("A"), world.store()
    await seed(store, flow)
    lease = await lease_of(store, "A")
    commit = end(flow, lease, None, Failure("Boom", "because"))
    assert await store.commit(lease, commit, commit_id="c1") == Committed(None, "failed")
    run = await store.run(RUN)
    assert (run.status, run.exit, run.error) == ("failed", "A", Failure("Boom", "because"))
    assert run.finished_at == world.now_ms
    state = (await store.states(RUN, ["A"]))["A"]
    assert (state.status, state.error) == ("failed", Failure("Boom", "because"))


@pytest.mark.parametrize("failure", [None, Failure("Boom")])
async def test_a_finished_state_and_a_finished_run_never_change(
    world: World, failure: Failure | None
) -> None:
    flow, store = linear("A"), world.store()
    await seed(store, flow)
    lease = await lease_of(store, "A")
    await store.commit(lease, end(flow, lease, 1, failure), commit_id="c1")
    before = await world.dump()
    assert isinstance(await store.commit(lease, end(flow, lease, 2), commit_id="c2"), Refusal)
    assert isinstance(await store.renew(lease), Refusal)
    assert isinstance(await store.release(lease), Refusal)
    answer = await store.signal(RUN, "A", visit=1, try_=1, event="callback", value=3)
    assert isinstance(answer, Refusal)
    assert isinstance(await store.acquire(RUN, "A", owner="x"), Refusal)
    status = "failed" if failure else "succeeded"
    assert await store.cancel(RUN, by="x") == Refusal("not_running", (status,))
    await world.advance(3_600_000)
    after = await world.dump()
    assert after == before
    await timers.tick(store, RUN)
    state_keys = [key for key in before if ":state:" in key or ":output:" in key]
    after = await world.dump()
    assert {key: after[key] for key in state_keys} == {key: before[key] for key in state_keys}


async def test_a_cancelled_run_never_counts_as_success(world: World) -> None:
    flow, store = linear("A"), world.store()
    await seed(store, flow)
    lease = await lease_of(store, "A")
    await store.cancel(RUN, by="ann", reason="enough")
    answer = await store.commit(lease, end(flow, lease, 1), commit_id="c1")
    assert answer == Refusal("cancelled")
    run = await store.run(RUN)
    assert run.status == "cancelled"
    assert run.error == Failure("DCF.Cancelled", "enough")
    assert await store.close(RUN) == 1
    assert (await store.states(RUN, ["A"]))["A"].status == "cancelled"


async def test_a_timer_wakes_its_state_at_its_moment(world: World) -> None:
    flow: Flow = {"start": "W", "states": {"W": {"wait": 1_000}}}
    store = world.store()
    await seed(store, flow)
    lease = await lease_of(store, "W")
    wait = Commit("wait", {"type": "WaitStarted"}, wait=Wait("timer", delay_ms=1_000))
    answer = await store.commit(lease, wait, commit_id="c1", in_place=True)
    assert answer == Committed(None, None, due_in_ms=1_000)
    await world.advance(999)
    assert (await timers.tick(store, RUN)).moved == 0
    await world.advance(1)
    assert (await timers.tick(store, RUN)).moved == 1
    assert (await lease_of(store, "W")).event == "timer"


async def test_a_moment_long_past_and_one_in_the_far_future_are_moments(world: World) -> None:
    store = world.store()
    year_9999_ms = 253_370_764_800_000
    for run, until_ms, moved in (("r1", 0, 1), ("r2", year_9999_ms, 0)):
        await seed(store, linear("W"), run=run)
        lease = await lease_of(store, "W", run=run)
        commit = Commit("wait", {"type": "WaitStarted"}, wait=Wait("timer", until_ms=until_ms))
        await store.commit(lease, commit, commit_id=f"c-{run}")
        assert (await timers.tick(store, run)).moved == moved
    assert (await store.states("r2", ["W"]))["W"].wait_until == year_9999_ms


async def test_a_step_over_the_limit_is_refused_and_may_still_fail_the_run(world: World) -> None:
    flow: Flow = {"start": "A", "states": {"A": {"task": "A", "next": "A"}}}
    store = world.store(steps_limit=3)
    await seed(store, flow)
    for number in range(3):
        lease = await lease_of(store, "A")
        await store.commit(lease, end(flow, lease, number), commit_id=f"c{number}")
    lease = await lease_of(store, "A")
    before = await world.dump()
    answer = await store.commit(lease, end(flow, lease, 3), commit_id="c3")
    assert answer == Refusal("limit_exceeded", ("steps",))
    assert await world.dump() == before
    failure = Failure("DCF.LimitExceeded")
    fail = Commit("failed", {"type": "StateFailed"}, ends="failed", failure=failure)
    assert await store.commit(lease, fail, commit_id="c4") == Committed(None, "failed")


async def test_a_history_over_the_limit_is_refused_and_may_still_fail_the_run(
    world: World,
) -> None:
    flow = linear("A", "B")
    store = world.store(events_limit=2)
    await seed(store, flow)
    lease = await lease_of(store, "A")
    answer = await store.commit(lease, end(flow, lease, 3), commit_id="c3")
    assert answer == Refusal("limit_exceeded", ("events",))
    fail = end(flow, lease, None, Failure("DCF.LimitExceeded"))
    assert await store.commit(lease, fail, commit_id="c4") == Committed(None, "failed")


async def test_large_outputs_are_stored_before_the_commit_that_refers_to_them(
    world: World,
) -> None:
    flow, store = linear("A", "B"), world.store()
    await seed(store, flow)
    lease = await lease_of(store, "A")
    value = "x" * 300_000
    commit = end(flow, lease, value)
    assert commit.output is not None
    committed = await store.commit(lease, commit, commit_id="c1", in_place=True)
    assert isinstance(committed, Committed)
    assert committed.lease is not None
    assert committed.lease.input == value
    stored = (await store.states(RUN, ["B"]))["B"].input
    assert stored == {"$blob": commit.output.data.digest, "size": 300_002}
    assert await store.value(RUN, stored) == value
    blobs = [key for key in await world.keys() if ":blob:" in key]
    assert blobs == [f"dp:wf:{RUN}:blob:{commit.output.data.digest}"]


async def test_user_text_in_names_reaches_no_path_of_json(world: World) -> None:
    """A state named like a JSONPath, like a frame, like an earlier visit."""
    names = ["$.ctl", "Fan[0]/Fetch", "A@1", "a:b", "{tag}", "ctl.status", "*", "名前", "x y"]
    flow, store = linear(*names), world.store()
    await seed(store, flow)
    reached = []
    for _ in names:
        ready = [s for s in (await _states(world)).values() if s["status"] == "ready"]
        assert len(ready) == 1
        lease = await lease_of(store, ready[0]["path"])
        reached.append(lease.path)
        commit = end(flow, lease, lease.path)
        answer = await store.commit(lease, commit, commit_id=store.new_id())
        assert isinstance(answer, Committed)
    assert reached == [encode_name(name) for name in names]
    assert (await store.run(RUN)).status == "succeeded"


async def _states(world: World) -> dict[str, dict[str, object]]:
    return {key: doc for key, doc in (await world.dump()).items() if ":state:" in key}


async def test_metrics_and_failure_are_kept_with_the_state(world: World) -> None:
    flow, store = linear("A", "B"), world.store()
    await seed(store, flow)
    lease = await lease_of(store, "A")
    commit = Commit(
        "done",
        {"type": "StateDone"},
        output=Output(True, payload.encode(1), "fine", [{"path": "a.txt"}], {"calls": 2}),
        enter=enter(flow, "A", "B", 1),
        metrics={"total_tokens": 5},
    )
    await store.commit(lease, commit, commit_id="c1")
    assert (await store.states(RUN, ["A"]))["A"].metrics == {"total_tokens": 5}
    assert (await store.outputs(RUN, ["A"]))["A"] == {
        "ok": True,
        "data": 1,
        "summary": "fine",
        "artifacts": [{"path": "a.txt"}],
        "metrics": {"calls": 2},
        "error": None,
    }


def test_a_lease_does_not_print_its_token() -> None:
    lease = Lease(RUN, "A", "secret", 1, "w", 1, "Task", "state", 1, 1, 0, "d")
    assert "secret" not in repr(lease)
