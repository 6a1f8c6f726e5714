"""Garbage collection: what would go, and letting it go in bounded transactions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import fields
from functools import partial
from typing import Any

from dcf.memory.actor import Actor
from dcf.memory.checking import refuse
from dcf.memory.database import Connection
from dcf.memory.garbage import Garbage, GarbageReport, Retention
from dcf.memory.ledger import Ledger
from dcf.memory.retention.cut import cut_of, file_bytes, used_bytes
from dcf.memory.retention.rules import (
    DETAILS,
    EVENT_BYTES,
    EVENTS,
    EXPIRED_PADS,
    ORPHAN_BLOCKS,
    measured,
    rules,
    values_of,
)
from dcf.memory.retention.sweeping import (
    sweep_events,
    sweep_forgotten,
    sweep_orphans,
    sweep_pads,
    sweep_rows,
)
from dcf.problem import Problem

BATCH = 500
"""Rows of one transaction: others write between two of them."""


async def collect(
    ledger: Ledger,
    retention: Retention,
    *,
    by: Actor,
    dry_run: bool = False,
    batch: int = BATCH,
) -> GarbageReport:
    """Give up what is kept no longer. Raises InvalidEntry for a retention that says nonsense."""
    refuse("the retention", _problems(retention, batch))
    now = ledger.clock()
    cut = await ledger.read(lambda connection: cut_of(connection, retention, now))
    values = values_of(retention, now, cut)
    planned = await ledger.read(partial(_planned, values=values))
    size, used = await ledger.read(_sizes)
    if dry_run:
        return _report(True, planned, cut, (size, size), retention, used)
    done = await _swept(ledger, values, by, batch)
    if used < size or any(one.count for one in done):
        await ledger.database.shrink()
    after, used = await ledger.read(_sizes)
    return _report(False, done, cut, (size, after), retention, used)


def _sizes(connection: Connection) -> tuple[int, int]:
    return file_bytes(connection), used_bytes(connection)


def _planned(connection: Connection, values: dict[str, Any]) -> list[Garbage]:
    found = [
        EXPIRED_PADS.measure(connection, values),
        measured(connection, "events", "events", EVENTS, EVENT_BYTES, values),
        measured(connection, "event_details", "events", DETAILS, EVENT_BYTES, values),
    ]
    if values["orphans"] is not None:
        found.append(ORPHAN_BLOCKS.measure(connection, values))
    return found + [rule.measure(connection, values) for rule in rules(values)]


async def _swept(ledger: Ledger, values: dict[str, Any], by: Actor, batch: int) -> list[Garbage]:
    done = [await _expired(ledger, values, by, batch), *await _events(ledger, values, batch)]
    if values["orphans"] is not None:
        orphans = partial(sweep_orphans, values=values, batch=batch)
        done.append(await _all(ORPHAN_BLOCKS.kind, batch, lambda: ledger.change(by, orphans)))
    for rule in rules(values):
        rows = partial(sweep_rows, rule=rule, values=values, batch=batch)
        done.append(await _all(rule.kind, batch, partial(ledger.database.write, rows)))
    while await ledger.database.write(partial(sweep_forgotten, batch=batch)) == batch:
        pass
    return done


async def _expired(ledger: Ledger, values: dict[str, Any], by: Actor, batch: int) -> Garbage:
    found = await ledger.read(lambda connection: EXPIRED_PADS.measure(connection, values))
    while await ledger.change(by, lambda journal: sweep_pads(journal, batch)) == batch:
        pass
    return found


async def _events(ledger: Ledger, values: dict[str, Any], batch: int) -> list[Garbage]:
    cut, behind = values["cut"], 0
    done = [Garbage("events", 0, 0), Garbage("event_details", 0, 0)]
    while behind < cut:
        sweep = partial(sweep_events, behind=behind, cut=cut, batch=batch, now=values["now"])
        went, behind = await ledger.database.write(sweep)
        done = [_sum(one, more) for one, more in zip(done, went, strict=True)]
    return done


async def _all(kind: str, batch: int, sweep: Callable[[], Awaitable[Garbage]]) -> Garbage:
    """Sweep until less than a whole batch was left."""
    done = Garbage(kind, 0, 0)
    while True:
        went = await sweep()
        done = _sum(done, went)
        if went.count < batch:
            return done


def _sum(one: Garbage, more: Garbage) -> Garbage:
    return Garbage(one.kind, one.count + more.count, one.bytes + more.bytes)


def _report(
    dry_run: bool,
    garbage: list[Garbage],
    border: int,
    sizes: tuple[int, int],
    retention: Retention,
    used: int,
) -> GarbageReport:
    over = 0 if retention.most_bytes is None else max(used - retention.most_bytes, 0)
    return GarbageReport(dry_run, tuple(garbage), border, sizes, over)


def _problems(retention: Retention, batch: int) -> Iterator[Problem]:
    for field in fields(retention):
        value = getattr(retention, field.name)
        if value is not None and value < 0:
            yield Problem(
                "memory_retention", f"{field.name} is {value}, less than 0", f"/{field.name}"
            )
    if batch < 1:
        yield Problem("memory_retention_batch", f"batch is {batch}, less than 1", "/batch")
