"""Stores from which nothing is removed: what of them names a subject is said as not reached."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from control_plane import (
    AgentStore,
    ConductorStore,
    ControlPlaneError,
    RecordDocument,
    RecordStore,
    SessionStore,
    Store,
)
from dcf.memory import Subject, Unreached
from dcf.problem import ProblemError

AWAY = (ProblemError, ControlPlaneError)
"""What a store raises that cannot be asked."""
_EVENTS = 500
"""Events of a history that are read at once."""


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
        while events := await self.records.events(one.id, after=after, count=_EVENTS):
            if any(subject.is_named_in(event.event) for event in events):
                return True
            after = events[-1].entry
        return False

    def _unreached(self, record_id: str, subject: Subject) -> Unreached:
        noun = self.records.kind.noun
        why = f"the {noun}'s record or its history names it, and DCF removes neither"
        if subject.is_named_in(record_id):
            return Unreached(f"{noun} (its id names it)", why, self.hint)
        keys = self.records.keys(record_id)
        by_hand = f"delete the keys {keys.document} and {keys.history} of Redis"
        return Unreached(f"{noun} {record_id}", why, f"{self.hint}; {by_hand}")


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
    ]
