"""Consolidating the memory of one agent."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from dcf.memory.actor import Actor
from dcf.memory.audit.event import Event
from dcf.memory.audit.journal import Journal
from dcf.memory.checking import refuse
from dcf.memory.consolidation.analysis import Analysis
from dcf.memory.consolidation.analyzer import active_at, analysis, growth
from dcf.memory.consolidation.applying import apply
from dcf.memory.consolidation.claims import claim, hold, release
from dcf.memory.consolidation.likeness import Likeness
from dcf.memory.consolidation.log import keep_session, session_at, sessions
from dcf.memory.consolidation.measuring import Measure
from dcf.memory.consolidation.plan import Plan, planned
from dcf.memory.consolidation.session import Session
from dcf.memory.consolidation.settings import ConsolidationSettings
from dcf.memory.consolidation.snapshot import Snapshot, snapshot
from dcf.memory.consolidation.strategy import STRATEGIES, Strategy
from dcf.memory.consolidation.writing import Write, Writer
from dcf.memory.memory import Memory
from dcf.problem import Problem

CONSOLIDATOR = Actor("consolidator", "dcf")


@dataclass(frozen=True, slots=True)
class _Order:
    """What was asked for."""

    session_id: str
    agent_id: str
    strategies: tuple[Strategy, ...]
    by: Actor
    started_at: int
    is_dry: bool


class Consolidator:
    """Consolidates agents of ``memory``. ``write`` lets a model write summaries (None: rules do).

    Blocks that are read-only, of type ``shared`` or held by other agents too are left alone: not
    changed, and not compared with.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        write: Write | None = None,
        settings: ConsolidationSettings | None = None,
    ) -> None:
        self.memory = memory
        self._ledger = memory.ledger
        self._write = write
        self._settings = settings or ConsolidationSettings()

    async def analyse(self, agent_id: str) -> Analysis:
        """What the agent's memory takes now, and what rules would do about it. Raises
        UnknownAgent."""
        now = await self._now(agent_id)
        likeness = await self._likeness()
        plan = await self._plan(now, STRATEGIES, likeness, Writer(None, None))
        grown = await self._ledger.read(lambda connection: growth(connection, now))
        active = await self._ledger.read(lambda connection: active_at(connection, agent_id))
        measure = Measure(likeness)
        return await asyncio.to_thread(analysis, now, measure, grown, active, plan)

    async def run(
        self,
        agent_id: str,
        *,
        strategies: Sequence[Strategy] = STRATEGIES,
        dry_run: bool = False,
        by: Actor = CONSOLIDATOR,
    ) -> Session:
        """Consolidate the agent. With ``dry_run`` nothing is changed and no model is asked: the
        session says what rules would do.

        All changes and the log of them are one transaction, after all requests to models. A second
        run right after it changes nothing, and one that changes nothing is logged only if it used
        tokens. Raises UnknownAgent, InvalidEntry, ConsolidationRunning, ConsolidationLost.
        """
        refuse("the consolidation", _strategy_problems(strategies))
        chosen = tuple(one for one in STRATEGIES if one in strategies)
        session_id, at = self._ledger.new_id("consolidation"), self._ledger.clock()
        order = _Order(session_id, agent_id, chosen, by, at, dry_run)
        if dry_run:
            return await self._done(order)
        database = self._ledger.database
        until = at + self._settings.claim_ms
        await database.write(lambda connection: claim(connection, agent_id, session_id, at, until))
        try:
            return await self._done(order)
        finally:
            # A process that dies before this leaves its claim, which ends by itself.
            await database.write(lambda connection: release(connection, session_id))

    async def history(self, agent_id: str | None = None, *, limit: int = 20) -> tuple[Session, ...]:
        """The newest sessions of the agent, or of all agents, the newest first; also of agents that
        are no longer there."""
        return await self._ledger.read(lambda connection: sessions(connection, agent_id, limit))

    async def get(self, session_id: str) -> Session:
        """One session. Raises UnknownConsolidation."""
        return await self._ledger.read(lambda connection: session_at(connection, session_id))

    async def rollback(
        self, session_id: str, *, by: Actor, dry_run: bool = False
    ) -> tuple[Event, ...]:
        """Undo all that a session did; the events that record it, none if it was undone before.
        What it compressed stays so: it reads as before. Raises UnknownConsolidation, and
        RollbackRefused with everything that stands in the way."""
        session = await self.get(session_id)
        if session.status == "rolled_back":
            return ()
        events = self.memory.events
        return await events.roll_back_consolidation(session_id, by=by, dry_run=dry_run)

    async def _done(self, order: _Order) -> Session:
        """Plan, then do it. An order that is only tried ends its transaction with nothing kept."""
        now = await self._now(order.agent_id)
        likeness = await self._likeness()
        measure = Measure(likeness)
        before = await asyncio.to_thread(measure.metrics, now)
        writer = Writer(None if order.is_dry else self._write, self._settings.token_budget)
        plan = await self._plan(now, order.strategies, likeness, writer)
        await asyncio.to_thread(measure.expect, plan.drafts)

        def work(journal: Journal) -> Session:
            done, left_out = apply(journal, order.agent_id, plan)
            then = snapshot(journal.connection, order.agent_id, self._settings, journal.at)
            session = Session(
                id=order.session_id,
                agent_id=order.agent_id,
                status="completed" if done else "unchanged",
                actor=order.by.name,
                strategies=order.strategies,
                level=self._settings.level,
                before=before,
                after=measure.metrics(then),
                changes=tuple(done),
                left_out=(*plan.left_out, *left_out),
                tokens=writer.spent,
                started_at=order.started_at,
                completed_at=journal.at,
            )
            if order.is_dry:
                raise _Tried(replace(session, status="planned"))
            hold(journal.connection, order.agent_id, order.session_id)
            if done or writer.spent:
                keep_session(journal.connection, session)
            return session

        try:
            return await self._ledger.change(order.by, work, consolidation_id=order.session_id)
        except _Tried as tried:
            return tried.session

    async def _now(self, agent_id: str) -> Snapshot:
        at = self._ledger.clock()
        return await self._ledger.read(
            lambda connection: snapshot(connection, agent_id, self._settings, at)
        )

    async def _likeness(self) -> Likeness:
        embedder = await self.memory.search.embedder()
        return Likeness(self._settings.likeness, self._settings.spare, embedder)

    async def _plan(
        self, now: Snapshot, strategies: Collection[Strategy], likeness: Likeness, writer: Writer
    ) -> Plan:
        return await planned(now, strategies, self._settings, likeness, writer, self._ledger)


class _Tried(Exception):
    """Ends the transaction of a dry run, with what it would have done."""

    def __init__(self, session: Session) -> None:
        self.session = session
        super().__init__()


def _strategy_problems(strategies: Sequence[str]) -> Iterator[Problem]:
    known = ", ".join(STRATEGIES)
    for name in strategies:
        if name not in STRATEGIES:
            yield Problem(
                "memory_consolidation_strategy",
                f"there is no strategy {name!r}",
                "/strategies",
                f"there are: {known}",
            )
    if not strategies:
        yield Problem(
            "memory_consolidation_strategy",
            "there is no strategy to follow",
            "/strategies",
            f"name one or more of: {known}",
        )
