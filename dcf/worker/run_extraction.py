"""When a model is asked what runs, conversations and threads showed: from time to time, beside the
work."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace

from control_plane import (
    DONE,
    ControlPlaneError,
    Disconnected,
    RefusedForGood,
    RunDocument,
    Store,
    run_lists,
)
from dcf.agents import extraction_asker
from dcf.agents.models import Models
from dcf.memory import SYSTEM, Actor, Memory, MemoryProblem
from dcf.memory.extraction import (
    AGENT,
    CONVERSATION,
    RUN,
    AgentTurns,
    AskFailed,
    Claim,
    ExtractionQueue,
    ExtractionSetting,
    Extractor,
    SourceEvent,
    Spending,
    ThreadTurns,
    Work,
    as_text,
)
from dcf.worker.conversations import SessionTurns
from dcf.worker.run_observer import MARGIN_MS
from dcf.workflow import read_run, run_event

log = logging.getLogger(__name__)

_BY = SYSTEM.because("events of which a model is asked")
_EVERY_S = 60.0
_PRUNE_EVERY_S = 86_400.0
_KEPT_MS = 90 * 86_400_000
"""How long what is done stays in the queue at least."""
_PAGE = 500
_SOURCE = "run, by a model"
_SESSIONS = "session, by a model"


class RunExtraction:
    """Queues what is over since it last looked, as of ``project``, and works through the queue."""

    def __init__(
        self,
        store: Store,
        memory: Memory,
        queue: ExtractionQueue,
        extractor: Extractor,
        project: str,
    ) -> None:
        self._store = store
        self._memory = memory
        self._queue = queue
        self._extractor = extractor
        self._project = project
        self._said = ""

    async def run(self) -> None:
        """Do so for ever."""
        now = asyncio.get_running_loop().time
        pruned_at = -math.inf
        while True:
            try:
                await self.sweep()
                if now() - pruned_at >= _PRUNE_EVERY_S:
                    await prune_queue(self._queue, self._store, by=_BY)
                    pruned_at = now()
                self._tell(await self._extractor.run())
            except (ControlPlaneError, MemoryProblem, TimeoutError) as error:
                log.warning("no model is asked for observations for now: %s", error)
            await asyncio.sleep(_EVERY_S)

    async def sweep(self) -> None:
        """Queue the runs that ended and the turns of sessions that are over since the last sweep,
        of whichever process, and turns of agents and threads as far as there is room. What finds no
        room is counted; `dcf memory observations extract` finds it later. Raises ControlPlaneError,
        MemoryProblem."""
        await self._sweep_runs()
        await self._sweep_sessions()
        ledger = self._memory.ledger
        for turns in (AgentTurns(ledger), ThreadTurns(ledger)):
            await self._queue.offer(*await turns.new(await self._queue.room()), by=_BY)

    async def _sweep_runs(self) -> None:
        now_ms = await self._store.now_ms()
        since = await self._memory.observations.observed_until(_SOURCE, now_ms)
        reached = now_ms - MARGIN_MS
        async for runs in ended_runs(self._store, str(since)):
            for run in runs:
                if run.finalized_at is None:
                    # It is queued when it is sealed; until then no sweep goes past it.
                    reached = min(reached, (run.finished_at or since) - 1)
            sealed = [run_event(one, self._project) for one in runs if one.finalized_at is not None]
            await self._queue.offer(*sealed, by=_BY)
        until = max(reached, since)
        await self._memory.observations.observe_until(_SOURCE, until, now_ms, by=_BY)

    async def _sweep_sessions(self) -> None:
        now_ms = await self._store.now_ms()
        since = await self._memory.observations.observed_until(_SESSIONS, now_ms)
        async for turns in SessionTurns(self._store, self._project).changed(since):
            await self._queue.offer(*turns, by=_BY)
        until = now_ms - MARGIN_MS
        await self._memory.observations.observe_until(_SESSIONS, until, now_ms, by=_BY)

    def _tell(self, work: Work) -> None:
        if work.done:
            log.info("a model found %d observations in %d events", work.observations, work.done)
        for reason in work.set_aside:
            log.warning("set aside: %s", reason)
        if work.reason and work.reason != self._said:
            log.warning("no model is asked for observations for now: %s", work.reason)
        self._said = work.reason


def extraction_of(
    environment: Mapping[str, str], store: Store, memory: Memory, project: str
) -> RunExtraction | None:
    """What does so in a worker; None unless it is turned on, and there is a model."""
    setting = ExtractionSetting.from_env(environment)
    if not setting.is_on:
        return None
    ledger = memory.ledger
    asker = extraction_asker(Models(environment), environment, Spending(ledger, setting.limits))
    if asker is None:
        log.warning("DCF_EXTRACT is on, but no model is named that could find observations")
        return None
    queue = ExtractionQueue(ledger, most=setting.most)
    extractor = Extractor(ledger, queue, asker, EventReader(memory, store).read)
    return RunExtraction(store, memory, queue, extractor, project)


async def prune_queue(queue: ExtractionQueue, store: Store | None, *, by: Actor) -> None:
    """Forget events that were done long ago: of threads all, of runs those whose run is no longer
    there (``store`` is None: none), since the others are found again."""
    before, after, gone = queue.ledger.clock() - _KEPT_MS, 0, list[int]()
    while store is not None:
        page = await queue.finished_runs(before=before, after=after, limit=_PAGE)
        if not page:
            break
        runs, broken = await store.runs_and_broken(list(dict.fromkeys(run for _, run in page)))
        there = {run.workflow_id for run in runs} | {one.fields["workflow_id"] for one in broken}
        gone += [number for number, run in page if run not in there]
        after = page[-1][0]
    await queue.prune(*gone, before=before, by=by)


async def ended_runs(store: Store, since: str = "-inf") -> AsyncIterator[Sequence[RunDocument]]:
    """The runs that ended since then (ms), page by page. Tasks of sessions are among them."""
    async for page, _ in run_lists.pages_by_score(store.backend, DONE, since):
        yield await store.run_many(page)


class EventReader:
    """Reads claimed events: runs and what was said in sessions from ``store`` (None: they are not
    claimed), turns of agents and threads from ``memory``."""

    def __init__(self, memory: Memory, store: Store | None) -> None:
        self._memory = memory
        self._store = store

    async def read(self, claim: Claim) -> SourceEvent | None:
        """What happened; None where there is nothing to ask about. Raises AskFailed for a run or
        conversation that cannot be read, and Disconnected and RefusedForGood where none can."""
        ledger = self._memory.ledger
        if claim.source_type == AGENT:
            return await AgentTurns(ledger).read(claim)
        if claim.source_type not in (RUN, CONVERSATION):
            return await ThreadTurns(ledger).read(claim)
        assert self._store is not None
        try:
            if claim.source_type == CONVERSATION:
                return await SessionTurns(self._store, claim.project).read(claim)
            event = await read_run(self._store, claim)
            return None if event is None else await self._with_calls(event, claim)
        except (Disconnected, RefusedForGood):
            raise
        except ControlPlaneError as error:
            # The others behind it can be read.
            raise AskFailed(f"the {claim.source_type} cannot be read: {error}") from error

    async def _with_calls(self, event: SourceEvent, claim: Claim) -> SourceEvent:
        """The event with what the agents called that worked for the run."""
        born, _, redrives = claim.event.partition("/")
        end = born if redrives == "0" else claim.event
        calls = await self._memory.turns.calls_for_run(claim.source_id, end)
        if not calls:
            return event
        told = [f"{one.tool} {as_text(one.arguments)}: {as_text(one.content)}" for one in calls]
        tools = ", ".join(dict.fromkeys(one.tool for one in calls))
        return replace(event, tool=tools, output="\n".join(filter(None, [event.output, *told])))
