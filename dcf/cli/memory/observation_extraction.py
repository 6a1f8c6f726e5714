"""``dcf memory observations extract``: a model is asked what runs and threads showed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from control_plane import Store
from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import ENVIRONMENT, FAILED, OK
from dcf.cli.memory.extraction_standing import standing_fields, standing_lines
from dcf.cli.memory.opening import opened, person
from dcf.cli.memory.wording import moment
from dcf.cli.model_check import demand_model
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.screen import Progress, Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.cli.wording import counted
from dcf.memory import Actor, Memory, project_of_runs
from dcf.memory.extraction import (
    Asker,
    ExtractionQueue,
    ExtractionSetting,
    Extractor,
    Kind,
    NewEvent,
    Spending,
    ThreadTurns,
    Work,
)
from dcf.problem import Problem

_ROLE = "reflector"
_BATCH = 500


@dataclass(frozen=True, slots=True)
class ExtractionOrder:
    """What a model is asked about (None: runs and threads), and of how many events at most. With
    ``retry`` also what was set aside; with ``resume`` whatever kept it from being asked."""

    of: Kind | None = None
    limit: int | None = None
    retry: bool = False
    resume: bool = False


@dataclass(frozen=True, slots=True)
class _Sources:
    """Where events come from: runs in ``store``, where they are wanted, and turns of threads."""

    store: Store | None
    turns: ThreadTurns | None
    project: str

    async def new(self) -> AsyncIterator[Sequence[NewEvent]]:
        """All that ended, page by page; of turns only those that were never queued."""
        if self.store is not None:
            from dcf.worker import ended_runs
            from dcf.workflow import run_event

            async for runs in ended_runs(self.store):
                sealed = [run for run in runs if run.finalized_at is not None]
                yield [run_event(run, self.project) for run in sealed]
        if self.turns is not None:
            yield await self.turns.new(_BATCH)


async def extract(settings: Settings, order: ExtractionOrder, screen: Screen) -> Answer:
    """Queue what there is and no model was asked about, and work through the queue. Raises
    BadInput where no model can be asked."""
    from dcf.worker import prune_queue

    setting = ExtractionSetting.from_env(settings.env)
    demand_model(settings, _ROLE)
    by = person("asked for by `dcf memory observations extract`")
    async with AsyncExitStack() as stack:
        memory = await stack.enter_async_context(opened(settings))
        asker = _asker(settings, Spending(memory.ledger, setting.limits))
        sources = await _sources(settings, order.of, memory, screen, stack)
        queue = ExtractionQueue(memory.ledger, most=setting.most, of=order.of)
        if order.resume:
            await queue.resume(by=by)
        retried = await queue.retry(by=by) if order.retry else 0
        with screen.working("asking a model") as progress:
            queued, work = await _worked(queue, sources, asker, order.limit, progress, by)
            await prune_queue(queue, sources.store, by=by)
        fields = await standing_fields(memory, setting)
    return _answer(work, queued + retried, fields)


async def try_extraction(settings: Settings, order: ExtractionOrder, screen: Screen) -> Answer:
    """What would be queued. Nothing is, and no model is asked."""
    setting = ExtractionSetting.from_env(settings.env)
    async with AsyncExitStack() as stack:
        memory = await stack.enter_async_context(opened(settings))
        sources = await _sources(settings, order.of, memory, screen, stack)
        runs = turns = 0
        if sources.store is not None:
            queue = ExtractionQueue(memory.ledger)
            async for events in _Sources(sources.store, None, sources.project).new():
                runs += len(await queue.unknown(*events))
        if sources.turns is not None:
            turns = await sources.turns.count()
        fields = await standing_fields(memory, setting)
    new = f"{counted(runs, 'run', 'runs')} and {counted(turns, 'turn', 'turns')} of threads"
    show = [f"{new} would be queued; nothing was", *standing_lines(fields)]
    return Answer({**fields, "new_runs": runs, "new_turns": turns}, show, "tried")


async def show_standing(settings: Settings) -> Answer:
    """What waits, what is done and set aside, and what is left of the budgets."""
    async with opened(settings) as memory:
        fields = await standing_fields(memory, ExtractionSetting.from_env(settings.env))
    return Answer(fields, standing_lines(fields))


async def _sources(
    settings: Settings, of: Kind | None, memory: Memory, screen: Screen, stack: AsyncExitStack
) -> _Sources:
    store = None
    if of != "threads":
        address = await find_redis(settings, screen)
        store = await stack.enter_async_context(open_store(address))
    turns = None if of == "runs" else ThreadTurns(memory.ledger)
    return _Sources(store, turns, project_of_runs(settings.generated))


async def _worked(
    queue: ExtractionQueue,
    sources: _Sources,
    asker: Asker,
    limit: int | None,
    progress: Progress,
    by: Actor,
) -> tuple[int, Work]:
    """Queue as much as there is room for and work through it, until there is no more; how many
    events were queued."""
    from dcf.worker import EventReader

    ledger = queue.ledger
    reader = EventReader(sources.store, sources.turns or ThreadTurns(ledger))
    extractor = Extractor(ledger, queue, asker, reader.read)
    total, queued = Work(), 0

    def tell(work: Work) -> None:
        events = counted(total.events + work.events, "event", "events")
        found = counted(total.observations + work.observations, "observation", "observations")
        progress.tell(f"asking a model: {events}, {found}")

    while True:
        added = await _queue_new(queue, sources, by)
        left = None if limit is None else limit - total.events
        work = await extractor.run(limit=left, tell=tell)
        total.add(work)
        queued += added
        if work.end != "empty" or not added:
            return queued, total


async def _queue_new(queue: ExtractionQueue, sources: _Sources, by: Actor) -> int:
    added = 0
    async for events in sources.new():
        offered = await queue.offer(*events, by=by, comes_again=True)
        added += offered.queued
        if offered.refused:
            break
    return added


def _asker(settings: Settings, spending: Spending) -> Asker:
    """Raises BadInput where none is named that could find anything."""
    from dcf.agents import extraction_asker
    from dcf.agents.models import Models

    asker = extraction_asker(Models(settings.env), settings.env, spending)
    if asker is None:
        message = "no model is named that could find observations"
        hint = "as in DCF_MODEL=openai:gpt-5-mini; a rehearsal or a recording finds none"
        raise BadInput([Problem("CLI_EXTRACT_MODEL", message, hint=hint, file="DCF_MODEL")])
    return asker


def _answer(work: Work, queued: int, standing: dict[str, Any]) -> Answer:
    fields = {
        **standing,
        "queued": queued,
        "events": work.done,
        "observations": work.observations,
        "failed": work.failed,
        "ended": work.end,
        "reason": work.reason,
        "again_at": work.again_at,
    }
    events = counted(work.done, "event", "events")
    found = counted(work.observations, "observation", "observations")
    show: list[Any] = [f"{queued:,} queued; a model found {found} in {events}"]
    show += standing_lines(standing)
    note, code = _note(work)
    return Answer(fields, show, "ok" if note is None else "error", note, code)


def _note(work: Work) -> tuple[ErrorNote | None, int]:
    """What went wrong, and the exit code."""
    again = "" if work.again_at is None else f"; again at {moment(work.again_at)}"
    if work.end == "stopped":
        told = f"the model's provider refuses, nobody asks it again: {work.reason}"
        hint = "correct it: another key or model is tried by itself, anything else with --resume"
        return ErrorNote("extraction_stopped", told, hint), ENVIRONMENT
    if work.end == "budget":
        hint = "DCF_EXTRACT_HOUR and DCF_EXTRACT_DAY set the budgets"
        told = f"a budget is used up: {work.reason}{again}"
        return ErrorNote("extraction_budget", told, hint), FAILED
    if work.end == "paused":
        hint = "call it again then, or say --resume"
        told = f"the model's provider is busy or away: {work.reason}{again}"
        return ErrorNote("extraction_paused", told, hint), FAILED
    if work.failed:
        told = f"{counted(work.failed, 'answer', 'answers')} could not be used{again}"
        hint = "the events come again; after three such answers they are set aside (--retry)"
        details = tuple(f"set aside: {reason}" for reason in work.set_aside)
        return ErrorNote("extraction_failed", told, hint, details), FAILED
    return None, OK
