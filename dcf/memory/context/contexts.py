"""The contexts of agents."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from dcf.memory.access import AccessLog
from dcf.memory.actor import Actor
from dcf.memory.context.assembly import Context, assemble
from dcf.memory.context.offers import EntryOffer, PlaybookOffer, branch_offers, read_offers
from dcf.memory.context.packing import Budget, Offer, Pack, beside, pack
from dcf.memory.database import Connection
from dcf.memory.ledger import Ledger
from dcf.memory.observation import Observation
from dcf.memory.observations.fields import observation_of
from dcf.memory.observations.finding import Filter, told_rows
from dcf.memory.observations.rendering import details_of, rows_of, short_id
from dcf.memory.observations.section import Section, section_of
from dcf.memory.playbook import PlaybookMatch
from dcf.memory.scratch_pads import open_row

if TYPE_CHECKING:
    from dcf.memory.setting import ContextSetting

_DAY_MS = 86_400_000
_INDEX = re.compile(r"\[[0-9]+\]")


class Contexts:
    """What stands before an agent when its turn comes. Entries of nodes that are told are noted in
    ``access``."""

    def __init__(self, ledger: Ledger, access: AccessLog) -> None:
        self._ledger = ledger
        self._access = access

    async def assemble(
        self,
        agent_id: str,
        *,
        budget: int | None = None,
        system: str | None = None,
        task: str | None = None,
    ) -> Context:
        """An agent's context, of one moment, in at most ``budget`` tokens (None: its window), with
        the scratch pad of ``task``, if it has one.

        What does not fit is told, never dropped. Raises UnknownAgent, ContextTooSmall.
        """
        now = self._ledger.clock()

        def work(connection: Connection) -> Context:
            pad = None if task is None else open_row(connection, agent_id, task, now)
            return assemble(connection, agent_id, budget=budget, system=system, pad=pad)

        return await self._ledger.read(work)

    async def observed(
        self, which: Filter, budget: Budget | None = None, *, state: str | None = None
    ) -> Pack:
        """The observations that ``which`` leaves, as a context of at most ``budget``: first what is
        pinned, also if it is older than that, then what was seen in ``state``, a path, then the
        newest, where each use makes one a day newer, up to seven."""
        budget = budget or Budget()
        return await _packed(await self._offers(which, budget.rows, state), budget)

    async def of_work(
        self,
        project: str,
        workflow: str,
        setting: ContextSetting,
        *,
        state: str | None = None,
        begins: bool = False,
        node: str | None = None,
        branches: Sequence[str] = (),
        playbooks: Sequence[PlaybookMatch] = (),
        by: Actor | None = None,
        without: Collection[str] = (),
    ) -> Pack:
        """What whoever works in ``project`` on ``workflow``, in ``state`` of it, is told first: the
        observations of both, of the days and in the tokens of ``setting``, and no others. Where
        ``begins``, of all workflows whose names begin with ``workflow``. Before them stands what
        the ``node`` reads, and before that, with a budget of its own in full, what was written into
        the nodes ``branches``; what is told of these is read by ``by`` (None: nobody said). In full
        and before all of it stand the ``playbooks`` that fit an error of the work. The observations
        with the ids in ``without`` are told elsewhere. Raises UnknownNode."""
        if setting.mode == "off":
            return Pack("", 0, (), 0)
        since = self._ledger.clock() - setting.days * _DAY_MS
        which = Filter(projects=[project], workflows=[workflow], since=since)
        if begins:
            which = replace(which, workflows=(), workflow_prefix=workflow)
        rows = setting.budget.rows
        offers = await self._offers(which, rows, state, without)
        if node is not None:
            read = partial(read_offers, node_id=node, most=rows)
            offers = [*await self._ledger.read(read), *offers]
        told = await _packed(offers, setting.budget)
        if branches:
            wrote = await self._ledger.read(partial(branch_offers, node_ids=branches))
            told = beside(await _packed(wrote, setting.full_budget), told)
        if playbooks:
            known = list(map(PlaybookOffer.of, playbooks))
            told = beside(await _packed(known, setting.full_budget), told)
        if node is not None or branches:
            self._access.note(by, "context", node, _entries_in(told))
        return told

    async def _offers(
        self, which: Filter, rows: int, state: str | None, without: Collection[str] = ()
    ) -> list[Offer]:
        now = self._ledger.clock()
        found = await self._ledger.read(lambda connection: told_rows(connection, which, rows))
        seen = [one for one in map(observation_of, found) if one.id not in without]
        here = None if state is None else _names(state)
        seen.sort(key=lambda one: (not one.pinned, not _is_in(one, here)))
        return await asyncio.to_thread(_offers, seen, here, now)

    async def section(
        self, which: Filter, *, tokens: int = 800, rows: int = 50, full: bool = False
    ) -> Section:
        """The observations that ``which`` leaves, for a file: first what is pinned, also if it is
        older than that, then the newest; of at most ``rows`` as many as ``tokens`` have room for.
        A line for each, or with ``full`` all that they say."""
        found = await self._ledger.read(lambda connection: told_rows(connection, which, rows))
        seen = [observation_of(row) for row in found]
        return await asyncio.to_thread(lambda: section_of(seen, tokens, full=full))


def _entries_in(told: Pack) -> list[tuple[str, str]]:
    """Node and id of each entry that is told."""
    offers = (one.offer for one in told.items)
    return [(one.node_id, one.entry_id) for one in offers if isinstance(one, EntryOffer)]


async def _packed(offers: Sequence[Offer], budget: Budget) -> Pack:
    if not offers:
        return Pack("", 0, (), 0)
    return await asyncio.to_thread(pack, offers, budget)


def _offers(seen: Sequence[Observation], here: str | None, now: int) -> list[Offer]:
    return [
        Offer(
            uri=f"dcf://observation/{short_id(one.id)}",
            row=row,
            details=details_of(one),
            why=_why(one, here),
        )
        for one, row in zip(seen, rows_of(seen, now), strict=True)
    ]


def _why(one: Observation, here: str | None) -> str:
    times = "once" if one.times == 1 else f"{one.times} times"
    pinned = "pinned, " if one.pinned else ""
    used = f", used {one.used} times" if one.used > 1 else ", used once" if one.used else ""
    return f"{pinned}seen {times}{used}{', in this state' if _is_in(one, here) else ''}"


def _is_in(one: Observation, here: str | None) -> bool:
    return one.origin.state is not None and _names(one.origin.state) == here


def _names(state: str) -> str:
    """The path of a state, the same for all instances of it."""
    return _INDEX.sub("", state)
