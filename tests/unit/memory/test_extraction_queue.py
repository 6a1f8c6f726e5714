"""The queue of the extraction: each event once, one worker at a time, and nobody waits for ever."""

from __future__ import annotations

import pytest
from memory_world import Numbered, Ticking

from dcf.memory import Actor, InvalidEntry, Memory, NewObservation, Origin
from dcf.memory.extraction import (
    Claim,
    ClaimLost,
    ExtractionQueue,
    NewEvent,
    Offered,
)

ONE, TWO = NewEvent("amp", "t-1", "1", "/shop"), NewEvent("amp", "t-1", "2", "/shop")
LEASE_MS = 60_000


def said(claim: Claim, title: str = "Prices are rounded once") -> NewObservation:
    return NewObservation("bugfix", title, claim.origin, project=claim.project)


async def taken(queue: ExtractionQueue, by: Actor) -> Claim:
    claim = await queue.claim(by=by)
    assert claim is not None
    return claim


@pytest.fixture
def queue(memory: Memory) -> ExtractionQueue:
    return ExtractionQueue(memory.ledger, most=3, lease_ms=LEASE_MS)


async def test_an_event_is_queued_once_however_often_it_is_offered(
    queue: ExtractionQueue, by: Actor
) -> None:
    assert await queue.offer(ONE, TWO, by=by) == Offered(queued=2)
    assert await queue.offer(TWO, ONE, by=by) == Offered(known=2)
    first = await taken(queue, by)
    await queue.complete(first, by=by)
    assert await queue.offer(ONE, by=by) == Offered(known=1)


async def test_what_is_done_is_pruned_stays_counted_and_does_not_come_again(
    queue: ExtractionQueue, memory: Memory, by: Actor, clock: Ticking
) -> None:
    run, other = NewEvent("run", "r-1", "1/0"), NewEvent("run", "r-2", "1/0")
    await queue.offer(ONE, run, other, by=by)
    done = [await taken(queue, by) for _ in range(2)]
    for claim in done:
        await queue.complete(claim, said(claim, claim.source_id), by=by)
    before, now = await queue.counts(), clock.now
    assert (before.done, before.found, before.waiting) == (2, 2, 1)
    assert await queue.prune(done[1].number, before=now - 1_000, by=by) == 0, "too young"
    finished = await queue.finished_runs(before=now + 1_000, after=0, limit=9)
    assert finished == [(done[1].number, "r-1")]
    # Of threads all go, of runs those that are named, and nothing that is not done.
    assert await queue.prune(before=now + 1_000, by=by) == 1
    assert await queue.prune(done[1].number, 99, before=now + 1_000, by=by) == 1
    assert await queue.prune(*range(9), before=now + 1_000, by=by) == 0
    assert await queue.counts() == before
    assert await queue.offer(ONE, run, other, by=by) == Offered(known=3)


async def test_a_full_queue_refuses_and_counts(
    queue: ExtractionQueue, memory: Memory, by: Actor
) -> None:
    events = [NewEvent("amp", "t-1", str(number)) for number in range(1, 6)]
    assert await queue.offer(*events, by=by) == Offered(queued=3, refused=2)
    assert await queue.room() == 0
    await queue.complete(await taken(queue, by), by=by)
    assert await queue.room() == 1
    # What was refused is not known, and may come again.
    assert await queue.offer(*events, by=by) == Offered(queued=1, known=3, refused=1)
    # Whoever comes again with it has lost nothing.
    await queue.offer(*events, by=by, comes_again=True)
    assert (await queue.standing()).refused == 3


async def test_an_event_is_of_one_at_a_time_and_its_fence_grows(
    queue: ExtractionQueue, clock: Ticking, by: Actor
) -> None:
    await queue.offer(ONE, by=by)
    first = await taken(queue, by)
    assert await queue.claim(by=by) is None
    clock.now += LEASE_MS
    second = await taken(queue, by)
    assert (second.number, second.fence) == (first.number, first.fence + 1)
    for late in (
        queue.complete(first, said(first), by=by),
        queue.hold(first, by=by),
        queue.fail(first, "late", due=0, by=by),
        queue.give_back(first, by=by),
    ):
        with pytest.raises(ClaimLost):
            await late
    assert len(await queue.complete(second, said(second), by=by)) == 1
    with pytest.raises(ClaimLost):
        await queue.complete(second, said(second), by=by)


async def test_a_claim_that_is_held_does_not_end(
    queue: ExtractionQueue, clock: Ticking, by: Actor
) -> None:
    await queue.offer(ONE, by=by)
    claim = await taken(queue, by)
    clock.now += LEASE_MS - 1_000
    await queue.hold(claim, by=by)
    clock.now += LEASE_MS - 1_000
    assert await queue.claim(by=by) is None


@pytest.mark.parametrize("ahead_ms", [10**11, 10 * LEASE_MS])
async def test_a_claim_of_a_clock_that_was_ahead_is_taken_over(
    queue: ExtractionQueue, clock: Ticking, by: Actor, ahead_ms: int
) -> None:
    await queue.offer(ONE, by=by)
    clock.now += ahead_ms
    await taken(queue, by)
    clock.now -= ahead_ms
    assert (await taken(queue, by)).fence == 2


async def test_a_clock_that_was_a_little_ahead_takes_no_claim_away(
    queue: ExtractionQueue, clock: Ticking, by: Actor
) -> None:
    await queue.offer(ONE, by=by)
    await taken(queue, by)
    clock.now -= 5 * LEASE_MS
    assert await queue.claim(by=by) is None


async def test_observations_and_the_end_of_their_event_are_one_step(
    queue: ExtractionQueue, memory: Memory, by: Actor
) -> None:
    await queue.offer(ONE, by=by)
    claim = await taken(queue, by)
    with pytest.raises(InvalidEntry):
        await queue.complete(claim, said(claim), said(claim, " "), by=by)
    assert await memory.observations.list() == ()
    assert (await queue.counts()).claimed == 1
    await queue.complete(claim, said(claim), by=by)
    (kept,) = await memory.observations.list()
    assert (kept.origin, kept.project) == (Origin("amp", "t-1", 1), "/shop")
    counts = await queue.counts()
    assert (counts.done, counts.found, counts.claimed) == (1, 1, 0)


async def test_answers_that_cannot_be_used_set_an_event_aside(
    queue: ExtractionQueue, clock: Ticking, by: Actor
) -> None:
    await queue.offer(ONE, TWO, by=by)
    for last in (False, False, True):
        claim = await taken(queue, by)
        assert claim.event == "1"
        assert await queue.fail(claim, "it said nothing", due=clock.now + 5_000, by=by) is last
        if claim.failures == 0:
            # Others go first meanwhile.
            await queue.complete(await taken(queue, by), by=by)
        assert await queue.claim(by=by) is None
        clock.now += 5_000
    (aside,) = await queue.set_aside()
    assert (aside.event, aside.reason, aside.failures) == ("1", "it said nothing", 3)
    assert await queue.offer(ONE, by=by) == Offered(known=1)


async def test_an_event_over_which_workers_die_is_set_aside(
    queue: ExtractionQueue, clock: Ticking, by: Actor
) -> None:
    await queue.offer(ONE, by=by)
    for _ in range(10):
        await taken(queue, by)
        clock.now += LEASE_MS
    assert await queue.claim(by=by) is None
    (aside,) = await queue.set_aside()
    assert aside.reason == "it was begun 10 times: whoever worked on it died"


async def test_what_is_given_back_unbegun_does_not_count(queue: ExtractionQueue, by: Actor) -> None:
    await queue.offer(ONE, by=by)
    for _ in range(25):
        await queue.give_back(await taken(queue, by), by=by)
    await queue.complete(await taken(queue, by), by=by)


async def test_what_was_set_aside_can_be_tried_again(queue: ExtractionQueue, by: Actor) -> None:
    await queue.offer(ONE, by=by)
    for _ in range(3):
        await queue.fail(await taken(queue, by), "no answer", due=0, by=by)
    assert await queue.retry(by=by) == 1
    assert await queue.retry(by=by) == 0
    assert (await taken(queue, by)).failures == 0


async def test_a_secret_in_a_reason_is_taken_out(queue: ExtractionQueue, by: Actor) -> None:
    await queue.offer(ONE, by=by)
    for _ in range(3):
        await queue.fail(await taken(queue, by), "the password=hunter22xy was wrong", due=0, by=by)
    (aside,) = await queue.set_aside()
    assert "hunter22xy" not in aside.reason


async def test_the_queue_is_there_for_whoever_opens_the_memory_next(
    queue: ExtractionQueue, memory: Memory, by: Actor
) -> None:
    await queue.offer(ONE, by=by)
    source = memory.ledger.database.source
    async with Memory.open(source, clock=memory.ledger.clock, new_id=Numbered()) as other:
        theirs = ExtractionQueue(other.ledger)
        await theirs.complete(await taken(theirs, by), by=by)
    assert (await queue.counts()).done == 1


async def test_of_one_kind_only(queue: ExtractionQueue, memory: Memory, by: Actor) -> None:
    await queue.offer(NewEvent("run", "r-1", "1/0"), ONE, by=by)
    threads = ExtractionQueue(memory.ledger, of="threads")
    assert (await taken(threads, by)).source_id == "t-1"
    assert await threads.claim(by=by) is None
    runs = ExtractionQueue(memory.ledger, of="runs")
    claim = await taken(runs, by)
    assert claim.origin == Origin("run", "r-1")
