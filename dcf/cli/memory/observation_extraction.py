"""``dcf memory observations extract``: a model is asked what runs, sessions, agents and threads
showed."""

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
    KINDS,
    AgentTurns,
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
    """What a model is asked about (None: everything), and of how many events at most. With
    ``retry`` also what was set aside; with ``resume`` whatever kept it from being asked."""

    of: Kind | None = None
    limit: int | None = None
    retry: bool = False
    resume: bool = False


@dataclass(frozen=True, slots=True)
class _Sources:
    """Where events of these kinds come from: runs and what was said in sessions from ``store``,
    where one of both is wanted, turns of agents and threads from ``memory``."""

    of: Sequence[Kind]
    memory: Memory
    store: Store | None
    project: str

    async def new(self) -> AsyncIterator[Sequence[NewEvent]]:
        """All that is over, page by page; of turns in the memory those that were never queued."""
        for kind in self.of:
            if kind == "runs" or kind == "sessions":
                async for events in self._in_store(kind):
                    yield events
            else:
                yield await self._turns(kind).new(_BATCH)

    async def counts(self) -> dict[Kind, int]:
        """How many events were never queued."""
        queue, found = ExtractionQueue(self.memory.ledger), dict[Kind, int]()
        for kind in self.of:
            if kind == "runs" or kind == "sessions":
                known = [len(await queue.unknown(*some)) async for some in self._in_store(kind)]
                found[kind] = sum(known)
            else:
                found[kind] = await self._turns(kind).count()
        return found

    def _turns(self, kind: Kind) -> AgentTurns | ThreadTurns:
        ledger = self.memory.ledger
        return AgentTurns(ledger) if kind == "agents" else ThreadTurns(ledger)

    async def _in_store(self, kind: Kind) -> AsyncIterator[Sequence[NewEvent]]:
        from dcf.worker import SessionTurns, ended_runs
        from dcf.workflow import run_event

        assert self.store is not None
        if kind == "sessions":
            async for turns in SessionTurns(self.store, self.project).changed():
                yield turns
            return
        async for runs in ended_runs(self.store):
            sealed = [run for run in runs if run.finalized_at is not None]
            yield [run_event(run, self.project) for run in sealed]


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
        found = await sources.counts()
        fields = await standing_fields(memory, setting)
    runs, turns = found.get("runs", 0), found.get("threads", 0)
    new = [counted(runs, "run", "runs")] if "runs" in found else []
    new += [
        f"{counted(found[kind], 'turn', 'turns')} of {kind}" for kind in KINDS[1:] if kind in found
    ]
    show = [f"{', '.join(new)} would be queued; nothing was", *standing_lines(fields)]
    more = {"new_runs": runs, "new_turns": turns, "new": found}
    return Answer({**fields, **more}, show, "tried")


async def show_standing(settings: Settings) -> Answer:
    """What waits, what is done and set aside, and what is left of the budgets."""
    async with opened(settings) as memory:
        fields = await standing_fields(memory, ExtractionSetting.from_env(settings.env))
    return Answer(fields, standing_lines(fields))


async def _sources(
    settings: Settings, of: Kind | None, memory: Memory, screen: Screen, stack: AsyncExitStack
) -> _Sources:
    store = None
    if of not in ("threads", "agents"):
        address = await find_redis(settings, screen)
        store = await stack.enter_async_context(open_store(address))
    kinds = KINDS if of is None else (of,)
    return _Sources(kinds, memory, store, project_of_runs(settings.generated))


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

    reader = EventReader(sources.memory, sources.store)
    extractor = Extractor(queue.ledger, queue, asker, reader.read)
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
