"""``explain`` says why a run does not move, and what would help."""

from __future__ import annotations

import asyncio
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
    retry,
    staged,
    task,
)

from control_plane import (
    Alone,
    Commit,
    HintQueue,
    Lease,
    RefusedForNow,
    UnknownRun,
    Wait,
    run_lists,
    timers,
)
from dcf.worker import TaskFailure
from dcf.workflow import Explanation, Reason, blocked_workers, explain, pools_under_way


async def blocked(store: Any) -> Any:
    return await blocked_workers(store, {"w": 60_000})


async def hang(_given: Any) -> None:
    await asyncio.sleep(100_000)


async def told(stage: Stage, path: str) -> Reason:
    explanation = await explain(stage.store, RUN)
    return next(reason for reason in explanation.reasons if reason.path == path)


def paths(explanation: Explanation) -> list[str]:
    return [reason.path for reason in explanation.reasons]


@staged
async def test_an_unknown_run_is_told_as_unknown(stage: Stage) -> None:
    with pytest.raises(UnknownRun):
        await explain(stage.store, "nobody")


@staged
async def test_without_a_worker_the_command_that_starts_one_is_given(stage: Stage) -> None:
    await stage.submit(flow(A=task(), B=passing()))
    await asyncio.sleep(7)
    explanation = await explain(stage.store, RUN)
    assert explanation.workers == 0
    first = explanation.reasons[0]
    assert (first.path, first.status, first.command) == ("A", "ready", "dcf worker --pool default")
    assert "7.0 s" in first.why and "no worker" in first.why
    assert explanation.summary.startswith("A is ready")


@staged
async def test_a_state_not_entered_names_what_comes_before_it(stage: Stage) -> None:
    await stage.submit(flow(A=task(), B=passing()))
    reason = await told(stage, "B")
    assert (reason.status, reason.why) == ("pending", "not entered yet; after A (ready)")


@staged
async def test_a_state_not_entered_names_what_comes_before_it_whatever_its_name(
    stage: Stage,
) -> None:
    await stage.submit(flow(**{"A/1": task(), "B[2]": passing()}))
    assert (await told(stage, "B%5B2%5D")).why == "not entered yet; after A/1 (ready)"


@staged
async def test_a_running_state_names_its_holder_and_the_age_of_its_lease(stage: Stage) -> None:
    stage.worker({"work": hang}, name="smith")
    await stage.submit(flow(A=task(TimeoutSeconds=500)))
    await asyncio.sleep(15)  # renewed at 10 s
    reason = await told(stage, "A")
    assert reason.status == "running"
    assert "held by smith, try 1, last" in reason.why
    assert "last heartbeat 5.0 s ago" in reason.why
    assert "lease ends in 25.0 s" in reason.why
    assert "times out in 8 min" in reason.why


@staged
async def test_a_lease_that_ended_is_told_as_ended(stage: Stage) -> None:
    worker = stage.worker({"work": hang}, ttl_ms=2000)
    await stage.submit(flow(A=task()))
    await stage.until_status("A", "running")
    await stage.kill(worker)
    await asyncio.sleep(5)
    alone = await told(stage, "A")
    assert "its lease ended 3.0 s ago, and no worker reads pool 'default'" in alone.why
    assert alone.command == "dcf worker --pool default"


@staged
async def test_a_lease_that_ended_is_taken_over_where_there_are_workers(stage: Stage) -> None:
    worker = stage.worker({"work": hang}, name="smith", ttl_ms=2000)
    await stage.submit(flow(A=task()))
    await stage.until_status("A", "running")
    await stage.kill(worker)
    await asyncio.sleep(5)
    await _reads(stage, "jones")
    reason = await told(stage, "A")
    assert "its lease ended 3.0 s ago, the next sweep gives it to another worker" in reason.why
    assert reason.command is None


@pytest.mark.parametrize("renews", [True, False], ids=["blocked", "dead"])
@staged
async def test_a_worker_that_only_renews_is_named_as_blocked(renews: bool, stage: Stage) -> None:
    await stage.submit(flow(A=task()))
    await _reads(stage, "smith")
    lease: Any = await stage.store.acquire(RUN, "A", owner="smith", ttl_ms=30_000)
    await asyncio.sleep(25)
    if renews:
        await stage.store.renew(lease)
    why = (await told(stage, "A")).why
    assert ("smith is blocked since 25.0 s" in why) is renews


async def _reads(stage: Stage, name: str) -> None:
    """A worker of this name reads the queue once."""
    stage.twin.readers = lambda: [name]
    queue = HintQueue(stage.twin, pool="default", consumer=name)
    await queue.open()
    await queue.read(1, block_ms=1)


@staged
async def test_a_retry_names_its_error_and_its_time(stage: Stage) -> None:
    work = Calls(lambda _: TaskFailure("Flaky", "no line"))
    stage.worker({"work": work})
    await stage.submit(flow(A=task(**retry("Flaky", IntervalSeconds=60))))
    await stage.until_status("A", "waiting")
    await asyncio.sleep(20)
    reason = await told(stage, "A")
    assert reason.status == "waiting"
    assert "try 2" in reason.why and "Flaky: no line" in reason.why and "40.0 s" in reason.why


@staged
async def test_a_timer_names_its_time(stage: Stage) -> None:
    stage.worker()
    await stage.submit(flow(W={"Type": "Wait", "Seconds": 100}))
    await asyncio.sleep(30)
    assert "in 70.0 s" in (await told(stage, "W")).why


@staged
async def test_a_callback_is_told(stage: Stage) -> None:
    await stage.submit(flow(A=task()))
    lease: Any = await stage.store.acquire(RUN, "A", owner="w1")
    commit = Commit("wait", {"type": "WaitStarted"}, wait=Wait("callback"))
    await stage.store.commit(lease, commit, commit_id="c1")
    reason = await told(stage, "A")
    assert (reason.status, reason.why) == (
        "waiting",
        "waits for somebody to answer its task token",
    )


@staged
async def test_a_join_tells_how_far_it_is(stage: Stage) -> None:
    async def work(n: int) -> None:
        if n > 1:
            await hang(None)

    stage.worker({"work": work})
    await stage.submit(flow(M=mapping(flow(T=task()), MaxConcurrency=2)), [0, 1, 2, 3, 4])
    await asyncio.sleep(1)
    explanation = await explain(stage.store, RUN)
    reason = next(reason for reason in explanation.reasons if reason.path == "M")
    assert reason.why == "2 of 5 children are done, 4 were started"
    assert {"M[2]/T", "M[3]/T"} <= set(paths(explanation))


@staged
async def test_what_is_left_of_a_closed_join_is_no_reason(stage: Stage) -> None:
    boom = Calls(lambda _: TaskFailure("Boom", ""))
    stage.worker({"boom": boom, "hang": hang})
    branches = flow(L=task("hang")), flow(R=task("boom"))
    await stage.submit(flow(P=parallel(*branches, **catch("After")), After=task("hang")))
    await stage.until_status("After", "running")
    assert paths(await explain(stage.store, RUN)) == ["After"]


@staged
async def test_a_failed_run_names_what_failed_and_the_redrive(stage: Stage) -> None:
    boom = Calls(lambda _: TaskFailure("Boom", "bad luck"))
    await stage.play(flow(A=passing(), B=task("boom")), None, {"boom": boom})
    explanation = await explain(stage.store, RUN)
    assert explanation.status == "failed"
    assert "at B" in explanation.summary and "Boom: bad luck" in explanation.summary
    (reason,) = explanation.reasons
    assert (reason.path, reason.why) == ("B", "Boom: bad luck")
    assert reason.command == f"dcf redrive {RUN}"


@pytest.mark.parametrize("by", ["time", "cancel"])
@staged
async def test_a_run_that_was_cut_off_names_what_was_under_way_and_the_redrive(
    by: str, stage: Stage
) -> None:
    stage.worker({"work": hang})
    await stage.submit(flow(A=task(), B=passing()) | {"TimeoutSeconds": 5})
    if by == "cancel":
        await stage.until_status("A", "running")
        await stage.store.cancel(RUN, by="test")
    await stage.end()
    await asyncio.sleep(1)
    explanation = await explain(stage.store, RUN)
    assert [(reason.path, reason.command) for reason in explanation.reasons] == [
        ("A", f"dcf redrive {RUN}")
    ]


@staged
async def test_a_run_that_succeeded_needs_nothing(stage: Stage) -> None:
    boom = Calls(lambda _: TaskFailure("Boom", ""))
    definition = flow(P=parallel(flow(T=task("boom")), **catch("B")), B=passing())
    await stage.play(definition, None, {"boom": boom})
    explanation = await explain(stage.store, RUN)
    assert (explanation.status, list(explanation.reasons)) == ("succeeded", [])


@staged
async def test_a_submission_that_was_interrupted_says_so(stage: Stage) -> None:
    stage.twin.fail_next("RENAME", "ERR the server went away")
    with pytest.raises(Exception, match="went away"):
        await stage.submit(flow(A=passing()))
    explanation = await explain(stage.store, RUN)
    assert explanation.status == "pending"
    assert "submit it again" in explanation.summary


@staged
@pytest.mark.parametrize("of", [pools_under_way, blocked])
async def test_a_list_of_runs_that_may_lack_some_is_not_taken_for_all(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, of: Any
) -> None:
    async def listed(*_: Any, **__: Any) -> run_lists.RunPage:
        return run_lists.RunPage((), None, refused=RefusedForNow("Redis refuses writes: OOM"))

    monkeypatch.setattr(run_lists, "list_runs", listed)
    with pytest.raises(RefusedForNow, match="OOM"):
        await of(stage.store)


@staged
@pytest.mark.parametrize(
    ("died", "said"),
    [
        ([None], "a worker process died or vanished while it was in work"),
        (["exit with status 1"], "killed a worker process: exit with status 1"),
        (["a", "b"], "killed 2 worker processes, the last one: b"),
    ],
)
async def test_what_died_over_a_state_is_counted_as_processes(
    stage: Stage, died: list[str | None], said: str
) -> None:
    """A worker starts processes for such a state, which are no workers."""
    await stage.submit(flow(A=task()))
    for how in died:
        alone: Alone | None = None if how is None else "watched"
        lease = await stage.store.acquire(RUN, "A", owner="w9", alone=alone, ttl_ms=1000)
        assert isinstance(lease, Lease)
        if how is None:
            await asyncio.sleep(60)
            await timers.tick(stage.store, RUN)
        else:
            await stage.store.release(lease, died=how)
    stage.twin.readers = lambda: ["w9"]
    queue = HintQueue(stage.twin, pool="default", consumer="w9")
    await queue.open()
    await queue.read(1)
    assert said in (await told(stage, "A")).why
