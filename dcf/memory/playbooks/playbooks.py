"""What is known about errors that were seen before."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Any

from dcf.memory.actor import Actor
from dcf.memory.audit.entity import Row
from dcf.memory.audit.journal import Journal
from dcf.memory.checking import json_of, refuse
from dcf.memory.database import Connection
from dcf.memory.entities import PLAYBOOK
from dcf.memory.ledger import Ledger
from dcf.memory.observations.fields import observation_of
from dcf.memory.observations.finding import Filter, newest_rows
from dcf.memory.playbook import (
    STALE_DAYS,
    NewPlaybook,
    Playbook,
    PlaybookMatch,
    PlaybookProposal,
    PlaybookUse,
)
from dcf.memory.playbooks.errors import PlaybookExists, UnknownPlaybook
from dcf.memory.playbooks.fields import playbook_of, problems, source_problems, uses_of
from dcf.memory.playbooks.matching import matches
from dcf.memory.playbooks.proposing import REPEATED, proposal_of

_ADDRESS = "dcf://"
_USES = 20
"""Uses that are kept one by one."""
_LOOKED_AT = 1_000
"""Observations that may be proposed: the newest."""


class Playbooks:
    """Playbooks of projects. A person makes them; ``match`` finds those that fit an error."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def add(self, new: NewPlaybook, *, by: Actor) -> Playbook:
        """Keep a playbook. Raises InvalidEntry with all that is wrong, PlaybookExists where one was
        made from one of its sources."""
        texts = {name: getattr(new, name) for name in ("pattern", "resolution", "owner", "project")}
        refuse("the playbook", chain(problems(texts), source_problems(new.sources)))
        return await self._ledger.change(by, lambda journal: _add(journal, new))

    async def edit(
        self,
        playbook_id: str,
        *,
        by: Actor,
        pattern: str | None = None,
        resolution: str | None = None,
        owner: str | None = None,
    ) -> Playbook:
        """Have a playbook say something else; what is None stays. Whoever does that confirms it, as
        if it had helped now. Raises UnknownPlaybook, InvalidEntry."""
        texts = {"pattern": pattern, "resolution": resolution, "owner": owner}
        given = {name: text for name, text in texts.items() if text is not None}
        refuse("the playbook", problems(given))
        return await self._ledger.change(
            by,
            lambda journal: _changed(journal, playbook_id, {**given, "confirmed_at": journal.at}),
        )

    async def count(self, playbook_id: str, *, helped: bool, used_by: str, by: Actor) -> Playbook:
        """Count that a resolution was tried by ``used_by`` and helped, or did not. What an address
        (``dcf://run/…``) among the last 20 uses has said already is not counted again. Raises
        UnknownPlaybook."""
        return await self._ledger.change(
            by, lambda journal: _count(journal, playbook_id, used_by, helped)
        )

    async def remove(self, playbook_id: str, *, by: Actor) -> Playbook:
        """Give a playbook up; a rollback brings it back. Raises UnknownPlaybook."""

        def work(journal: Journal) -> Playbook:
            row = _row(journal.connection, playbook_id)
            journal.delete(PLAYBOOK, row)
            return playbook_of(row)

        return await self._ledger.change(by, work)

    async def get(self, playbook_id: str) -> Playbook:
        """One playbook. Raises UnknownPlaybook."""
        return await self._ledger.read(
            lambda connection: playbook_of(_row(connection, playbook_id))
        )

    async def list(
        self, project: str | None = None, *, limit: int = 50, offset: int = 0
    ) -> tuple[Playbook, ...]:
        """The playbooks of ``project`` (None: of all), the newest first."""
        rows = await self._ledger.read(
            lambda connection: connection.execute(
                "SELECT * FROM playbooks WHERE ?1 IS NULL OR project = ?1"
                " ORDER BY created_at DESC, id DESC LIMIT ?2 OFFSET ?3",
                (project, max(limit, 0), max(offset, 0)),
            ).fetchall()
        )
        return tuple(playbook_of(dict(row)) for row in rows)

    async def match(
        self, project: str, error: str, *, limit: int = 5, stale_days: int = STALE_DAYS
    ) -> tuple[PlaybookMatch, ...]:
        """At most ``limit`` playbooks of ``project`` that fit the text of an error, the best
        first. One that was not confirmed for ``stale_days`` is stale."""
        known = await self._ledger.read(partial(_of_project, project=project))
        if not known or not error.strip():
            return ()
        now = self._ledger.clock()
        found = await asyncio.to_thread(matches, known, error, now, stale_days)
        return tuple(found[: max(limit, 0)])

    async def proposals(
        self, project: str, *, times: int = REPEATED
    ) -> tuple[PlaybookProposal, ...]:
        """Playbooks that could be made of what was seen at least so many ``times`` in ``project``
        and has none yet, what was seen most often first. Nothing is kept."""
        which = Filter(projects=[project], types=["bugfix"], concepts=["problem-solution"])

        def work(connection: Connection) -> tuple[list[dict[str, Any]], list[Playbook]]:
            rows = newest_rows(connection, which, limit=_LOOKED_AT, before=None)
            return rows, _of_project(connection, project)

        rows, known = await self._ledger.read(work)
        seen = [observation_of(row) for row in rows if row["times"] >= times]
        proposals = [proposal_of(one) for one in seen]
        return await asyncio.to_thread(_unknown, proposals, known)


def _unknown(
    proposals: Sequence[PlaybookProposal], known: Sequence[Playbook]
) -> tuple[PlaybookProposal, ...]:
    """Those that no playbook was made from, and none fits, those seen most often first."""
    made = {source for one in known for source in one.sources}
    fresh = [
        one
        for one in proposals
        if one.observation_id not in made and not matches(known, one.pattern, 0, STALE_DAYS)
    ]
    return tuple(sorted(fresh, key=lambda one: (-one.times, one.observation_id)))


def _of_project(connection: Connection, project: str) -> list[Playbook]:
    rows = connection.execute("SELECT * FROM playbooks WHERE project = ?", (project,))
    return [playbook_of(dict(row)) for row in rows]


def _row(connection: Connection, playbook_id: str) -> dict[str, Any]:
    found = PLAYBOOK.find(connection, playbook_id)
    if found is None:
        raise UnknownPlaybook(playbook_id=playbook_id)
    return found


def _add(journal: Journal, new: NewPlaybook) -> Playbook:
    _refuse_known(journal.connection, new.sources)
    row = {
        "id": journal.new_id("playbook"),
        "project": new.project,
        "pattern": new.pattern,
        "resolution": new.resolution,
        "owner": new.owner,
        "sources": json_of(list(new.sources)),
        "helped": 0,
        "failed": 0,
        "uses": "[]",
        "confirmed_at": journal.at,
        "revision": 1,
        "created_at": journal.at,
        "updated_at": journal.at,
    }
    return playbook_of(journal.create(PLAYBOOK, row))


def _refuse_known(connection: Connection, sources: Sequence[str]) -> None:
    """Raises PlaybookExists where a playbook was made from one of these observations."""
    found = connection.execute(
        "SELECT p.id, s.value FROM playbooks p, json_each(p.sources) s"
        " WHERE s.value IN (SELECT value FROM json_each(?)) LIMIT 1",
        (json.dumps(list(sources)),),
    ).fetchone()
    if found is not None:
        raise PlaybookExists(playbook_id=found[0], observation_id=found[1])


def _changed(journal: Journal, playbook_id: str, changed: Row) -> Playbook:
    row = _row(journal.connection, playbook_id)
    counted = {"revision": row["revision"] + 1, "updated_at": journal.at}
    kept = journal.update(PLAYBOOK, row, {**row, **changed, **counted})
    return playbook_of(kept or row)


def _count(journal: Journal, playbook_id: str, used_by: str, helped: bool) -> Playbook:
    known = playbook_of(_row(journal.connection, playbook_id))
    said = any((use.by, use.helped) == (used_by, helped) for use in known.uses)
    if said and used_by.startswith(_ADDRESS):
        return known
    uses = (*known.uses, PlaybookUse(used_by, journal.at, helped))[-_USES:]
    changed: dict[str, Any] = {"uses": json_of(uses_of(uses))}
    if helped:
        changed |= {"helped": known.helped + 1, "confirmed_at": journal.at}
    else:
        changed |= {"failed": known.failed + 1}
    return _changed(journal, playbook_id, changed)
