"""``dcf memory forget --about``: all that names a subject, in all stores, for good."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from dcf.cli.answer import Answer
from dcf.cli.asking import confirm
from dcf.cli.memory.backups import copies_of
from dcf.cli.memory.opening import now_ms, opened, person
from dcf.cli.memory.receipts import receipt_lines
from dcf.cli.project_folder import project_folder
from dcf.cli.retrieval.setting import RetrievalSetting
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.whole_file import whole_file
from dcf.cli.wording import counted
from dcf.memory import Memory, Mention, Receipt, Subject, Tombstone, Unreached, random_id
from dcf.memory.receipt import digest_of_data
from dcf.retrieval import FileItems, Item, PostgresItems, RetrievalProblem

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


class _Items(Protocol):
    async def named(self, is_named: Callable[[str], bool]) -> tuple[Item, ...]: ...

    async def purge(self, is_named: Callable[[str], bool]) -> None: ...


@dataclass(frozen=True, slots=True)
class _Store:
    """Logged items that are not in the memory: ``name`` says where, ``after`` what may have them
    still."""

    name: str
    items: _Items
    after: tuple[Unreached, ...] = ()


async def forget_about(settings: Settings, about: About, screen: Screen) -> Answer:
    """Say what would go, have it confirmed, and let it go. Raises SubjectTooShort, NotSo,
    a MemoryProblem."""
    subject = Subject.of(about.text)
    async with opened(settings) as memory, _stores(settings) as (stores, away):
        unreached = (*away, *_copies(settings, memory))
        if about.dry_run or not about.sure:
            found = await _found(memory, stores, subject)
            shown = _found_lines(found, unreached)
            if about.dry_run:
                return Answer(_found_fields(found, unreached), shown, "tried")
            for line in shown:
                screen.say(line)
        confirm("Forget all of it for good?", screen, sure=about.sure)
        with screen.working("forgetting"):
            receipt = await _forget(memory, stores, subject, about, unreached)
    if about.receipt is not None:
        await asyncio.to_thread(_write, about.receipt, receipt)
    return Answer({"receipt": receipt.to_dict()}, receipt_lines(receipt), "forgotten")


async def _forget(
    memory: Memory,
    stores: Sequence[_Store],
    subject: Subject,
    about: About,
    unreached: Sequence[Unreached],
) -> Receipt:
    by = person(about.reason or "told by `dcf memory forget --about`")
    receipt_id = await memory.forgetting.begin(subject, by=by)
    missed = list(unreached)
    for store in stores:
        try:
            items = await store.items.named(subject.is_named_in)
            await memory.forgetting.note(receipt_id, [_stone(store, one) for one in items])
            await store.items.purge(subject.is_named_in)
        except RetrievalProblem as error:
            missed.append(Unreached(store.name, str(error), error.hint))
        else:
            missed += store.after
    await memory.forgetting.forget(subject, receipt_id)
    return await memory.forgetting.end(subject, receipt_id, missed)


def _stone(store: _Store, item: Item) -> Tombstone:
    return Tombstone(store.name, "item", item.id, "removed", digest_of_data(asdict(item)), now_ms())


@asynccontextmanager
async def _stores(
    settings: Settings,
) -> AsyncIterator[tuple[Sequence[_Store], Sequence[Unreached]]]:
    """Where else items are logged, and what cannot be asked."""
    setting = RetrievalSetting.from_env(settings.env, [project_folder(Path.cwd())])
    named = setting.path if setting.backend == "file" else None
    # Also where another backend is chosen by now: they are still there.
    folder = named or settings.home / "items"
    stores = [_Store("files of items", FileItems(folder, now_ms, random_id))]
    if setting.backend == "sqlite" and setting.path is not None:
        why = f"logged items are in another memory, {setting.path}"
        hint = f"forget it there too: DCF_MEMORY={setting.path} dcf memory forget --about …"
        yield stores, [Unreached("MEM_PATH", why, hint)]
        return
    if setting.backend != "postgres":
        yield stores, ()
        return
    hint = "they go with the next backups, and when the server writes its log anew"
    after = Unreached("PostgreSQL", "its write-ahead log and its backups are not ours", hint)
    try:
        async with PostgresItems.open(setting.database, now_ms, random_id) as items:
            yield [*stores, _Store("PostgreSQL", items, (after,))], ()
            return
    except RetrievalProblem as error:
        away = Unreached("PostgreSQL", str(error), error.hint)
    yield stores, [away]


def _copies(settings: Settings, memory: Memory) -> list[Unreached]:
    source = memory.ledger.database.source
    hint = "remove it, or restore it and forget again"
    return [
        Unreached(str(file), "a copy of the memory from before", hint)
        for file in copies_of(settings, source)
    ]


async def _found(
    memory: Memory, stores: Sequence[_Store], subject: Subject
) -> dict[str, list[Mention]]:
    found = {"memory": [*await memory.forgetting.find(subject)]}
    for store in stores:
        try:
            items = await store.items.named(subject.is_named_in)
        except RetrievalProblem:
            # The receipt says so; what is not reached is no reason to keep the rest.
            continue
        found[store.name] = [Mention("item", one.id) for one in items]
    return found


def _found_fields(
    found: dict[str, list[Mention]], unreached: Sequence[Unreached]
) -> dict[str, Any]:
    return {
        "found": {store: [*map(asdict, some)] for store, some in found.items()},
        "count": sum(map(len, found.values())),
        "unreached": [*map(asdict, unreached)],
    }


def _found_lines(found: dict[str, list[Mention]], unreached: Sequence[Unreached]) -> list[str]:
    lines = []
    for store, some in found.items():
        for kind, number in Counter(one.kind for one in some).items():
            cited = [one.citation or one.ref for one in some if one.kind == kind]
            more = ["…"] if number > _LISTED else []
            lines.append(f"{store}: {kind:<24}{number:>8,}  {' '.join(cited[:_LISTED] + more)}")
    lines += [f"not reached: {one.where}: {one.why}" for one in unreached]
    total = sum(map(len, found.values()))
    return [*lines, f"{counted(total, 'place', 'places')} would go"]


def _write(file: Path, receipt: Receipt) -> None:
    with whole_file(file, overwrite=True) as stream:
        stream.write(json.dumps(receipt.to_dict(), ensure_ascii=False, indent=2).encode() + b"\n")
