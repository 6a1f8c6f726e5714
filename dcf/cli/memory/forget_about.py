"""``dcf memory forget --about``: all that names a subject, in all stores, for good."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dcf.cli.answer import Answer
from dcf.cli.asking import confirm
from dcf.cli.memory.forget_remains import AWAY, RemainingStore
from dcf.cli.memory.forget_stores import (
    FILES_OF_DOCUMENTS,
    ForgetfulStore,
    OpenStores,
    open_stores,
)
from dcf.cli.memory.opening import opened, person
from dcf.cli.memory.receipts import receipt_lines
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.whole_file import whole_file
from dcf.cli.wording import counted
from dcf.memory import Actor, Memory, Mention, Receipt, Subject, Unreached
from dcf.retrieval import EVERY_PROJECT, AuditLog, Caller

_LISTED = 5
"""Addresses of one kind that people are shown; --json has all."""


@dataclass(frozen=True, slots=True)
class About:
    """The ``text`` that is to be forgotten; where the ``receipt`` is written, too."""

    text: str
    reason: str = ""
    receipt: Path | None = None
    dry_run: bool = False
    sure: bool = False


async def forget_about(settings: Settings, about: About, screen: Screen) -> Answer:
    """Say what would go, have it confirmed, and let it go. Raises SubjectTooShort, NotSo,
    a MemoryProblem."""
    subject = Subject.of(about.text)
    async with opened(settings) as memory, open_stores(settings, screen) as stores:
        if about.dry_run or not about.sure:
            found = await _found(memory, stores.forgetful, subject)
            unreached = [*stores.away, *await _remaining(stores.remaining, subject)]
            unreached += _files_of([one for each in found.values() for one in each])
            loosely = await _found(memory, stores.forgetful, subject.loosely())
            perhaps = {name: _without(some, found.get(name, [])) for name, some in loosely.items()}
            shown = _found_lines(found, perhaps, unreached)
            if about.dry_run:
                return Answer(_found_fields(found, perhaps, unreached), shown, "tried")
            for line in shown:
                screen.say(line)
        confirm("Forget all of it for good?", screen, sure=about.sure)
        with screen.working("forgetting"):
            receipt = await _forget(memory, stores, subject, about)
    if about.receipt is not None:
        await asyncio.to_thread(_write, about.receipt, receipt)
    return Answer({"receipt": receipt.to_dict()}, receipt_lines(receipt), "forgotten")


async def _forget(memory: Memory, stores: OpenStores, subject: Subject, about: About) -> Receipt:
    by = person(about.reason or "told by `dcf memory forget --about`")
    receipt_id = await memory.forgetting.begin(subject, by=by)
    missed = list(stores.away)
    for store in stores.forgetful:
        try:
            await memory.forgetting.note(receipt_id, await store.find(subject))
            missed += await store.forget(subject)
            await memory.forgetting.withdraw(receipt_id, await store.find(subject))
        except AWAY as error:
            missed.append(_silent(store.name, error))
    missed += await _remaining(stores.remaining, subject)
    missed += _files_of(await memory.forgetting.find(subject))
    missed += await memory.forgetting.forget(subject, receipt_id)
    receipt = await memory.forgetting.end(subject, receipt_id, missed)
    await _note(stores.audit, subject, receipt, by)
    return receipt


async def _note(audit: AuditLog, subject: Subject, receipt: Receipt, by: Actor) -> None:
    """Note which rows went or lost their texts, of all projects."""
    gone = dict.fromkeys(
        one.ref for one in receipt.tombstones if one.fate in ("removed", "emptied")
    )
    if gone:
        named = ["[forgotten]" if subject.is_named_in(ref) else ref for ref in gone]
        await audit.keep("delete", Caller(by.name), EVERY_PROJECT, named, len(named))


def _files_of(named: Iterable[Mention]) -> list[Unreached]:
    """The files that documents among what is ``named`` were read from."""
    return [FILES_OF_DOCUMENTS] if any("document" in one.kind for one in named) else []


async def _remaining(stores: Sequence[RemainingStore], subject: Subject) -> list[Unreached]:
    missed: list[Unreached] = []
    for store in stores:
        try:
            missed += await store.naming(subject)
        except AWAY as error:
            missed.append(_silent(store.name, error))
    return missed


def _silent(name: str, error: Exception) -> Unreached:
    return Unreached(name, str(error), "forget it again when it answers")


async def _found(
    memory: Memory, stores: Sequence[ForgetfulStore], subject: Subject
) -> dict[str, list[Mention]]:
    found = {"memory": [*await memory.forgetting.find(subject)]}
    for store in stores:
        try:
            stones = await store.find(subject)
        except AWAY:
            # The receipt says so; what is not reached is no reason to keep the rest.
            continue
        found[store.name] = [Mention(one.kind, one.ref) for one in stones]
    return found


def _without(some: Sequence[Mention], others: Sequence[Mention]) -> list[Mention]:
    known = frozenset(others)
    return [one for one in some if one not in known]


def _found_fields(
    found: Mapping[str, Sequence[Mention]],
    perhaps: Mapping[str, Sequence[Mention]],
    unreached: Sequence[Unreached],
) -> dict[str, Any]:
    return {
        "found": {store: [*map(asdict, some)] for store, some in found.items()},
        "count": sum(map(len, found.values())),
        "perhaps": {store: [*map(asdict, some)] for store, some in perhaps.items()},
        "unreached": [*map(asdict, unreached)],
    }


def _found_lines(
    found: Mapping[str, Sequence[Mention]],
    perhaps: Mapping[str, Sequence[Mention]],
    unreached: Sequence[Unreached],
) -> list[str]:
    lines = [*_listed(found)]
    lines += [f"not reached: {one.where}: {one.why}" for one in unreached]
    total = sum(map(len, found.values()))
    lines.append(f"{counted(total, 'place', 'places')} would go")
    if any(perhaps.values()):
        lines += ["These stay, and may mean it: rows whose cells say its words among others"]
        lines += _listed(perhaps)
    return lines


def _listed(found: Mapping[str, Sequence[Mention]]) -> Iterator[str]:
    for store, some in found.items():
        for kind, number in Counter(one.kind for one in some).items():
            cited = [one.citation or one.ref for one in some if one.kind == kind]
            more = ["…"] if number > _LISTED else []
            yield f"{store}: {kind:<24}{number:>8,}  {' '.join(cited[:_LISTED] + more)}"


def _write(file: Path, receipt: Receipt) -> None:
    with whole_file(file, overwrite=True) as stream:
        stream.write(json.dumps(receipt.to_dict(), ensure_ascii=False, indent=2).encode() + b"\n")
