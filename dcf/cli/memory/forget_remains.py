"""Stores from which nothing is removed: what of them names a subject is said as not reached."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from control_plane import (
    AgentStore,
    Backend,
    ConductorStore,
    ControlPlaneError,
    RecordDocument,
    RecordStore,
    SessionStore,
    Store,
    keys,
)
from dcf.cli.wording import counted
from dcf.memory import Subject, Unreached
from dcf.problem import ProblemError

AWAY = (ProblemError, ControlPlaneError)
"""What a store raises that cannot be asked."""
_READ = 500
"""Entries of a stream that are read at once."""


class RemainingStore(Protocol):
    """A store, what it is called, and what names a subject in it and stays."""

    @property
    def name(self) -> str: ...

    async def naming(self, subject: Subject) -> Sequence[Unreached]:
        """What has to be removed by hand. Raises one of AWAY."""


@dataclass(frozen=True, slots=True)
class _Records:
    """Records of one kind in the control plane, with their histories."""

    records: RecordStore[Any]
    hint: str

    @property
    def name(self) -> str:
        return f"{self.records.kind.noun}s"

    async def naming(self, subject: Subject) -> Sequence[Unreached]:
        return [
            self._unreached(one.id, subject)
            async for one in self._all()
            if await self._is_named(one, subject)
        ]

    async def _all(self) -> AsyncIterator[RecordDocument]:
        after: int | None = None
        while True:
            page = await self.records.page(after=after)
            for head in page.records:
                whole = await self.records.get(head.id)
                if whole is not None:
                    yield whole
            after = page.after
            if after is None:
                return

    async def _is_named(self, one: RecordDocument, subject: Subject) -> bool:
        if subject.is_named_in([one.id, one.name, *one.tags, dict(one.record)]):
            return True
        after = "-"
        while events := await self.records.events(one.id, after=after, count=_READ):
            if any(subject.is_named_in(event.event) for event in events):
                return True
            after = events[-1].entry
        return False

    def _unreached(self, record_id: str, subject: Subject) -> Unreached:
        noun = self.records.kind.noun
        why = f"the {noun}'s record or its history names it, and DCF removes neither"
        if subject.is_named_in(record_id):
            return Unreached(f"{noun} (its id names it)", why, self.hint)
        place = self.records.keys(record_id)
        by_hand = f"delete the keys {place.document} and {place.history} of Redis"
        return Unreached(f"{noun} {record_id}", why, f"{self.hint}; {by_hand}")


@dataclass(frozen=True, slots=True)
class _Outbox:
    """What waits for the graph, and what could not be written to it."""

    backend: Backend
    name: str = "outbox of the graph"

    async def naming(self, subject: Subject) -> Sequence[Unreached]:
        missed: list[Unreached] = []
        for key in (keys.OUTBOX_RUNS, keys.OUTBOX_RECORDS, keys.OUTBOX_REFUSED):
            entries = [entry async for entry in self._named(key, subject)]
            if entries:
                why = f"named in {counted(len(entries), 'entry', 'entries')} of {key} in Redis"
                hint = f"before a graph takes them: XDEL {key} {' '.join(entries)}"
                missed.append(Unreached(self.name, why, hint))
        return missed

    async def _named(self, key: str, subject: Subject) -> AsyncIterator[str]:
        start = "-"
        while entries := await self.backend.command("XRANGE", key, start, "+", "COUNT", _READ):
            for entry, fields in entries:
                if subject.is_named_in(fields):
                    yield entry
            start = f"({entries[-1][0]}"


def remaining_in(store: Store) -> list[RemainingStore]:
    """Those of a control plane."""
    backend, cluster = store.backend, store.cluster
    nobody = "end what works with it"
    return [
        _Records(
            SessionStore(backend, cluster=cluster),
            "`dcf session list` shows it; `dcf session finalize` ends one that goes on",
        ),
        _Records(AgentStore(backend, cluster=cluster), nobody),
        _Records(ConductorStore(backend, cluster=cluster), nobody),
        _Outbox(backend),
    ]
