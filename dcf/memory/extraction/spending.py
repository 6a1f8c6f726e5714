"""What the extraction may ask of models within an hour, a day and a minute, and what it has.

Every request is a row from before it is sent: what it can use at most, and what it used once that
is known. All processes count the same rows, and one that died keeps what it had reserved: the
provider may have done the work.

Clocks lie. A request counts around the time at which the clock said that it was sent, for an hour
or a day before it, too: however often a clock goes ahead and back, no hour and no day by it has
more than its budget. What was asked by a clock that was further ahead counts from when that is
found as well; nothing waits until the clock is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from dcf.memory.actor import SYSTEM
from dcf.memory.audit.journal import Journal
from dcf.memory.database import Connection
from dcf.memory.entities import EXTRACTION_REQUEST
from dcf.memory.extraction.errors import BudgetUsedUp, RateReached
from dcf.memory.ledger import Ledger

MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000
_KEPT = 10_000
"""Requests that are kept however old they are: the clock may be ahead."""
_BY = SYSTEM.because("a request of the extraction")


@dataclass(frozen=True, slots=True)
class Limits:
    """Tokens within an hour and within a day, and requests within a minute, at most."""

    hour_tokens: int = 200_000
    day_tokens: int = 1_000_000
    minute_requests: int = 30


@dataclass(frozen=True, slots=True)
class Spent:
    """Of the last hour or day: tokens, requests, and what they cost in US dollars; None where
    the price of one is not known."""

    tokens: int
    requests: int
    cost_usd: float | None


class Spending:
    """The budgets of all extractors of a memory."""

    def __init__(self, ledger: Ledger, limits: Limits) -> None:
        self._ledger = ledger
        self.limits = limits

    async def reserve(self, model: str, tokens: int, nano_usd: int | None) -> int:
        """Take what a request can use at most; the number of the reservation. Raises BudgetUsedUp,
        RateReached."""
        clock = self._ledger.clock()
        if await self._ledger.read(lambda connection: _is_later(connection, clock)):
            # Not in the transaction below: that is undone where there is no room for the request.
            await self._ledger.change(_BY, _count_since)
        work = partial(_reserved, limits=self.limits, model=model, tokens=tokens, nano_usd=nano_usd)
        return await self._ledger.change(_BY, work)

    async def settle(self, number: int, tokens: int, nano_usd: int | None) -> None:
        """Put what was used in the place of what was reserved."""
        work = partial(_settled, number=number, tokens=tokens, nano_usd=nano_usd)
        await self._ledger.change(_BY, work)

    async def within(self, span_ms: int) -> Spent:
        """What was used in the last ``span_ms``, a day at most."""
        clock = self._ledger.clock()
        return await self._ledger.read(lambda connection: _spent(connection, clock, span_ms))

    async def ahead_until(self) -> int | None:
        """When the clock (ms) gets where it wrongly was before, more than a day ahead, and what was
        asked then counts once more; None where it was not."""
        clock = self._ledger.clock()
        return await self._ledger.read(lambda connection: _latest(connection, clock))


def count_from_now(journal: Journal) -> None:
    """Have what was asked while the clock was ahead count from now on, and not once more."""
    journal.connection.execute(
        "UPDATE extraction_requests SET at = min(at, ?1), sent_at = min(sent_at, ?1)"
        " WHERE at > ?1 OR sent_at > ?1",
        (journal.at,),
    )


def _is_later(connection: Connection, now: int) -> bool:
    later = connection.execute("SELECT 1 FROM extraction_requests WHERE at > ? LIMIT 1", (now,))
    return later.fetchone() is not None


def _count_since(journal: Journal) -> None:
    """Have what was asked while the clock was ahead count from now on."""
    journal.connection.execute(
        "UPDATE extraction_requests SET at = ?1 WHERE at > ?1", (journal.at,)
    )


def _latest(connection: Connection, now: int) -> int | None:
    newest = connection.execute(
        "SELECT max(sent_at) FROM extraction_requests WHERE sent_at >= ?", (now + DAY_MS,)
    )
    latest: int | None = newest.fetchone()[0]
    return latest


def _reserved(
    journal: Journal, limits: Limits, model: str, tokens: int, nano_usd: int | None
) -> int:
    connection, now = journal.connection, journal.at
    connection.execute(
        "DELETE FROM extraction_requests WHERE max(at, sent_at) <= ?"
        " AND number <= (SELECT max(number) FROM extraction_requests) - ?",
        (now - DAY_MS, _KEPT),
    )
    _refuse_rate(connection, now, limits.minute_requests)
    for span, span_ms, limit in (
        ("the last hour", HOUR_MS, limits.hour_tokens),
        ("the last day", DAY_MS, limits.day_tokens),
    ):
        used = _spent(connection, now, span_ms).tokens
        if used + tokens > limit:
            again_at = _fits_at(connection, now, used + tokens - limit, span_ms)
            raise BudgetUsedUp(again_at=again_at, tokens=tokens, limit=limit, span=span, used=used)
    used_up = {"tokens": tokens, "nano_usd": nano_usd}
    row = {"model": model, **used_up, "at": now, "sent_at": now}
    EXTRACTION_REQUEST.insert(connection, row)
    return int(connection.execute("SELECT last_insert_rowid()").fetchone()[0])


def _settled(journal: Journal, number: int, tokens: int, nano_usd: int | None) -> None:
    row = EXTRACTION_REQUEST.find(journal.connection, str(number))
    # One that took a day is not counted any more.
    if row is not None:
        used = {"tokens": tokens, "nano_usd": nano_usd}
        EXTRACTION_REQUEST.replace(journal.connection, {**row, **used}, row)


def _refuse_rate(connection: Connection, now: int, limit: int) -> None:
    last = connection.execute(
        "SELECT sent_at FROM extraction_requests WHERE sent_at BETWEEN ?1 + 1 AND ?2"
        " ORDER BY sent_at DESC LIMIT 1 OFFSET ?3",
        (now - MINUTE_MS, now, limit - 1),
    ).fetchone()
    if last is not None:
        raise RateReached(limit=limit, again_at=last["sent_at"] + MINUTE_MS)


_COUNTS = """
    SELECT max(at, iif(sent_at < ?1 + ?2, sent_at, 0)) AS since, tokens, nano_usd
    FROM extraction_requests WHERE at > ?1 - ?2 OR (sent_at > ?1 - ?2 AND sent_at < ?1 + ?2)
"""
"""What counts now (?1) in a span (?2), and from when."""


def _fits_at(connection: Connection, now: int, too_many: int, span_ms: int) -> int | None:
    """When so many tokens will be older than the span; None: more than there are."""
    for row in connection.execute(f"{_COUNTS} ORDER BY since", (now, span_ms)):
        too_many -= row["tokens"]
        if too_many <= 0:
            return int(row["since"]) + span_ms
    return None


def _spent(connection: Connection, now: int, span_ms: int) -> Spent:
    row = connection.execute(
        "SELECT coalesce(sum(tokens), 0) AS tokens, count(*) AS requests,"
        " coalesce(sum(nano_usd), 0) AS nano, count(*) - count(nano_usd) AS unpriced"
        f" FROM ({_COUNTS})",
        (now, span_ms),
    ).fetchone()
    cost = None if row["unpriced"] else row["nano"] / 1e9
    return Spent(row["tokens"], row["requests"], cost)
