"""``dcf memory receipts``: what was forgotten for good."""

from __future__ import annotations

from dataclasses import asdict

from dcf.cli.answer import Answer
from dcf.cli.exits import FAILED
from dcf.cli.memory.forget_remains import AWAY
from dcf.cli.memory.forget_stores import OpenStores, open_stores
from dcf.cli.memory.opening import opened
from dcf.cli.memory.wording import moment
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.wording import counted
from dcf.memory import Receipt, Subject, Unreached
from dcf.problem import Problem


async def list_receipts(settings: Settings) -> Answer:
    """All receipts, the newest first."""
    async with opened(settings) as memory:
        found = await memory.forgetting.receipts()
    fields = {"receipts": [{**one.to_dict(), "tombstones": len(one.tombstones)} for one in found]}
    return Answer(fields, [_line(one) for one in found] or ["Nothing was forgotten for good."])


async def check_receipt(
    settings: Settings, receipt_id: str, about: str | None, screen: Screen
) -> Answer:
    """One receipt, and whether it still holds: what it names is gone, and with what it is ``about``
    nothing names that in any store. Raises UnknownReceipt."""
    subject = None if about is None else Subject.of(about)
    async with opened(settings) as memory:
        receipt = await memory.forgetting.receipt(receipt_id)
        faults = [*await memory.forgetting.check(receipt, subject)]
    unseen: list[Unreached] = []
    if subject is not None:
        async with open_stores(settings, screen) as stores:
            faults += await _named_beside(stores, subject)
            unseen = [one for one in stores.away if one not in receipt.unreached]
    said = [one.message for one in faults] or ["The receipt holds."]
    skipped = [f"not looked through now: {one.where}: {one.why}" for one in unseen]
    fields = {
        "receipt": receipt.to_dict(),
        "problems": [one.to_dict() for one in faults],
        "unread": [*map(asdict, unseen)],
    }
    status, code = ("broken", FAILED) if faults else ("holds", 0)
    return Answer(fields, [*receipt_lines(receipt), *skipped, *said], status, exit_code=code)


async def _named_beside(stores: OpenStores, subject: Subject) -> list[Problem]:
    """What names the subject in other stores than the memory, and those that do not answer."""
    faults: list[Problem] = []
    for store in stores.forgetful:
        try:
            stones = await store.find(subject)
        except AWAY as error:
            faults.append(_unread(store.name, error))
            continue
        again = (f"{store.name}: {one.kind} {one.ref} names it" for one in stones)
        faults += [Problem("memory_named_again", one) for one in again]
    for remaining in stores.remaining:
        try:
            missed = await remaining.naming(subject)
        except AWAY as error:
            faults.append(_unread(remaining.name, error))
            continue
        faults += [
            Problem("memory_named_again", f"{one.where}: {one.why}", hint=one.hint)
            for one in missed
        ]
    return faults


def _unread(name: str, error: Exception) -> Problem:
    return Problem("CLI_RECEIPTAWAY", f"{name} cannot be looked through: {error}")


def receipt_lines(receipt: Receipt) -> list[str]:
    """A receipt for people."""
    counts = [f"{kind:<34}{number:>8,}" for kind, number in receipt.counts.items()]
    missed = [
        f"not reached: {one.where}: {one.why}{f' ({one.hint})' if one.hint else ''}"
        for one in receipt.unreached
    ]
    return [*counts, *missed, _line(receipt), f"SHA-256 {receipt.digest}"]


def _line(receipt: Receipt) -> str:
    ended = "not ended" if receipt.ended_at is None else moment(receipt.ended_at)
    what = counted(len(receipt.tombstones), "tombstone", "tombstones")
    reason = f"  ({receipt.by.reason})" if receipt.by.reason else ""
    return f"{receipt.id}  {ended}  {what}, by {receipt.by.name}{reason}"
