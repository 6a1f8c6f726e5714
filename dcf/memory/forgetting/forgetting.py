"""Everything about a subject is forgotten, for good, and a receipt says what that was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from dcf.memory.actor import Actor
from dcf.memory.audit.journal import Journal
from dcf.memory.database import Connection
from dcf.memory.forgetting.finding import Named, named
from dcf.memory.forgetting.leaving import STORE, Leaving
from dcf.memory.forgetting.places import PLACE_OF, PLACES
from dcf.memory.forgetting.receipts import (
    add_tombstones,
    end_receipt,
    receipt_begun,
    receipt_of,
    receipts,
    remove_tombstones,
)
from dcf.memory.forgetting.subject import Subject
from dcf.memory.ledger import Ledger
from dcf.memory.receipt import Mention, Receipt, Tombstone, Unreached
from dcf.memory.search.indexing import forget_words
from dcf.problem import Problem

_BATCH = 200
"""Rows of one transaction: others write between two of them."""
_WAL = Unreached(
    "log beside the memory file",
    "another process reads the memory, so the log could not be emptied",
    "end what `dcf memory doctor` names, and forget it again",
)


class Forgetting:
    """What names a subject in the memory, and letting it go so that nothing brings it back: no
    rollback, no search, no snapshot that is restored, and no byte of the file. Entries go as a
    whole; where others refer to a row, its texts and names go, of a block the lines. History says
    who and when, and no longer what."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def find(self, subject: Subject) -> tuple[Mention, ...]:
        """All that would go."""
        return tuple(mention for _, mention in await self._named(subject))

    async def begin(self, subject: Subject, *, by: Actor) -> str:
        """The id of the receipt: of one that was interrupted, or a new one."""
        new, at = self._ledger.new_id("receipt"), self._ledger.clock()
        return await self._ledger.database.write(
            lambda connection: receipt_begun(connection, subject, new, by, at)
        )

    async def forget(self, subject: Subject, receipt_id: str) -> tuple[Unreached, ...]:
        """Let all of it go, in transactions of few rows: one that is interrupted goes on by being
        called again. Returns what stays, which is nothing unless the subject is a word that stands
        for what is gone. Raises UnknownReceipt."""
        by = (await self.receipt(receipt_id)).by
        # Until a look finds nothing: what removes a row names it, and others may write meanwhile.
        left: Sequence[tuple[Named, Mention]] = ()
        while (found := await self._named(subject)) and found != left:
            for at in range(0, len(found), _BATCH):
                some = [one for one, _ in found[at : at + _BATCH]]
                work = partial(_leave, subject=subject, receipt_id=receipt_id, some=some)
                await self._ledger.change(by, work)
            left = found
        await self._ledger.database.write(partial(forget_words, is_gone=subject.is_named_in))
        why = f"{len(found)} rows name it still, as they do what is forgotten"
        return (Unreached("memory", why),) if found else ()

    async def note(self, receipt_id: str, tombstones: Sequence[Tombstone]) -> None:
        """Add what goes in another store, before it does: who dies in between finds it again, and
        then it is noted already."""

        def work(connection: Connection) -> None:
            there = {
                (one.store, one.kind, one.ref)
                for one in receipt_of(connection, receipt_id).tombstones
            }
            new = [one for one in tombstones if (one.store, one.kind, one.ref) not in there]
            add_tombstones(connection, receipt_id, new)

        await self._ledger.database.write(work)

    async def withdraw(self, receipt_id: str, tombstones: Sequence[Tombstone]) -> None:
        """Take back what was noted of a store and did not go after all."""
        await self._ledger.database.write(
            lambda connection: remove_tombstones(connection, receipt_id, tombstones)
        )

    async def end(
        self, subject: Subject, receipt_id: str, unreached: Sequence[Unreached]
    ) -> Receipt:
        """Write the file anew, without a byte of what went, and end the receipt. Raises MemoryBusy,
        MemoryFull."""
        database = self._ledger.database
        await database.rewrite()
        ids = await self._ledger.read(lambda connection: tuple(_ids(connection, subject)))
        log = () if await database.wal_size() == 0 else (_WAL,)
        at = self._ledger.clock()
        everything = (*unreached, *ids, *log)
        await database.write(
            lambda connection: end_receipt(connection, subject, receipt_id, everything, at)
        )
        return await self.receipt(receipt_id)

    async def receipts(self) -> tuple[Receipt, ...]:
        """All receipts, the newest first."""
        return await self._ledger.read(receipts)

    async def receipt(self, receipt_id: str) -> Receipt:
        """Raises UnknownReceipt."""
        return await self._ledger.read(lambda connection: receipt_of(connection, receipt_id))

    async def check(self, receipt: Receipt, subject: Subject | None = None) -> tuple[Problem, ...]:
        """What is not as the receipt says: rows that are there again, and with the ``subject`` all
        that names it now."""
        found = await self._ledger.read(lambda connection: tuple(_faults(connection, receipt)))
        if subject is None:
            return found
        if subject.digest(receipt.id) != receipt.about:
            what = "the receipt is about something else"
            return (*found, Problem("memory_receipt_about", what, hint="write it as then"))
        again = (
            Problem("memory_named_again", f"{one.kind} {one.citation or one.ref} names it")
            for one in await self.find(subject)
        )
        return (*found, *again)

    async def _named(self, subject: Subject) -> list[tuple[Named, Mention]]:
        return await self._ledger.read(lambda connection: [*named(connection, subject)])


def _leave(journal: Journal, *, subject: Subject, receipt_id: str, some: Sequence[Named]) -> None:
    leaving = Leaving(journal, subject, receipt_id)
    for one in some:
        leaving.leave(one)
    add_tombstones(journal.connection, receipt_id, leaving.tombstones)


def _faults(connection: Connection, receipt: Receipt) -> Iterator[Problem]:
    if receipt.ended_at is None:
        hint = "forget it again: it goes on where it was"
        yield Problem("memory_receipt_open", "it was interrupted", hint=hint)
    for one in receipt.tombstones:
        if one.store != STORE or one.fate != "removed":
            continue
        entity = PLACE_OF[one.kind].entity
        if len(entity.key) == 1 and entity.find(connection, one.ref) is not None:
            yield Problem("memory_receipt_back", f"{one.kind} {one.ref} is there again")


def _ids(connection: Connection, subject: Subject) -> Iterator[Unreached]:
    """Ids by which rows refer to each other, where they were given by somebody and name it."""
    for place in PLACES:
        for row in map(dict, connection.execute(f"SELECT * FROM {place.entity.table}")):
            if any(subject.is_named_in(row.get(name) or "") for name in place.ids):
                why = f"the id of a row names it, and others refer to that: {place.entity.name}"
                yield Unreached("memory", why, "remove what has this id")
                break
