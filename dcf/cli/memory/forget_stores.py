"""Stores beside the memory in which a subject is forgotten: logged items, and finished runs."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from control_plane import (
    BrokenRun,
    ControlPlaneError,
    NotExportable,
    RunStatus,
    Store,
    export_run,
    run_lists,
)
from control_plane.embedded import Embedded, ServerUnusable, Status
from dcf.cli.age import OVER
from dcf.cli.memory.backups import copies_of
from dcf.cli.memory.forget_remains import RemainingStore, remaining_in
from dcf.cli.memory.opening import now_ms, source_in
from dcf.cli.project_folder import project_folder
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.retrieval.migrating import copied_places
from dcf.cli.retrieval.opening import open_audit
from dcf.cli.retrieval.setting import RetrievalSetting
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.code import remove_index, texts_in
from dcf.knowledge import GraphSetting
from dcf.memory import (
    SYSTEM,
    Document,
    Subject,
    Tombstone,
    Unreached,
    digest_of_data,
    random_id,
)
from dcf.retrieval import (
    Access,
    AuditLog,
    FileDocuments,
    FileItems,
    Item,
    PostgresDocuments,
    PostgresItems,
    PostgresStore,
    ProjectDocuments,
    StoreEmpty,
    StoreProblem,
    StoreUnreachable,
    fault_of_url,
    where_of_url,
)
from dcf.worker import remove_run

_COPIES_OF_RUNS = (
    Unreached(
        "files of Redis",
        "they have what was removed until Redis writes them anew, and so have its backups",
        "redis-cli -u URL BGREWRITEAOF; `dcf up` says the URL",
    ),
    Unreached(
        "audit trails of runs",
        "`dcf run` wrote them beside workflows, in runs/ID, and they are the project's",
        "delete those that name it: grep -rl TEXT workflows/runs",
    ),
)
FILES_OF_DOCUMENTS = Unreached(
    "files that documents were read from",
    "documents named it; the files that they were read from are yours",
    "change them, or `dcf documents add` and questions about code read it again",
)
_GOING: tuple[RunStatus, ...] = ("pending", "running")

_SWITCHES = {
    "sqlite": "DCF_MEMORY={}",
    "file": "MEM_BACKEND=file MEM_PATH={}",
    "postgres": "DATABASE_URL of {}",
}
"""What makes this command look through a place of each backend."""


class ForgetfulStore(Protocol):
    """A store, what it is called, and what names a subject in it."""

    @property
    def name(self) -> str: ...

    async def find(self, subject: Subject) -> Sequence[Tombstone]:
        """What names the subject, as its tombstone will be. Raises one of AWAY."""

    async def forget(self, subject: Subject) -> Sequence[Unreached]:
        """Let that go; what stays all the same. Raises one of AWAY."""


class _Items(Protocol):
    async def named(self, is_named: Callable[[str], bool]) -> tuple[Item, ...]: ...

    async def purge(self, is_named: Callable[[str], bool]) -> None: ...


@dataclass(frozen=True, slots=True)
class _ItemStore:
    """Logged items that are not in the memory; ``after`` may have them still."""

    name: str
    items: _Items
    after: tuple[Unreached, ...] = ()

    async def find(self, subject: Subject) -> Sequence[Tombstone]:
        return [
            Tombstone(self.name, "item", one.id, "removed", digest_of_data(asdict(one)), now_ms())
            for one in await self.items.named(subject.is_named_in)
        ]

    async def forget(self, subject: Subject) -> Sequence[Unreached]:
        await self.items.purge(subject.is_named_in)
        return self.after


@dataclass(frozen=True, slots=True)
class _DocumentStore:
    """Documents that are not in the memory."""

    name: str
    documents: ProjectDocuments

    async def find(self, subject: Subject) -> Sequence[Tombstone]:
        return [
            Tombstone(self.name, "document", one.id, "removed", digest, now_ms())
            async for one, digest in self._named(subject)
        ]

    async def forget(self, subject: Subject) -> Sequence[Unreached]:
        gone = 0
        async for one, _ in self._named(subject):
            await self.documents.remove(one.id, by=SYSTEM)
            gone += 1
        return (FILES_OF_DOCUMENTS,) if gone else ()

    async def _named(self, subject: Subject) -> AsyncIterator[tuple[Document, str]]:
        for one in await self.documents.list(limit=sys.maxsize):
            pieces = await self.documents.pieces(one)
            said = [asdict(one), *([piece.text, *piece.headings] for piece in pieces)]
            if subject.is_named_in(said):
                yield one, digest_of_data(said)


@dataclass(frozen=True, slots=True)
class _AuditStore:
    """Who read and deleted what: entries stay, with another name."""

    audit: AuditLog
    name: str = "audit log"

    async def find(self, subject: Subject) -> Sequence[Tombstone]:
        def is_named(one: Access) -> bool:
            return subject.is_named_in(asdict(one))

        return [
            Tombstone(self.name, one.operation, str(one.at), "renamed", digest, now_ms())
            for one in await self.audit.entries(is_named, limit=sys.maxsize)
            for digest in [digest_of_data(asdict(one))]
        ]

    async def forget(self, subject: Subject) -> Sequence[Unreached]:
        await self.audit.rename(subject.is_named_in)
        return ()


@dataclass(frozen=True, slots=True)
class _CodeStore:
    """Indexes of code in ``folder``: one that names it is made anew by the next question."""

    folder: Path
    name: str = "indexes of code"

    async def find(self, subject: Subject) -> Sequence[Tombstone]:
        named = await asyncio.to_thread(self._named, subject)
        return [
            Tombstone(self.name, "index", file.name, "removed", digest, now_ms())
            for file, digest in named
        ]

    async def forget(self, subject: Subject) -> Sequence[Unreached]:
        named = await self.find(subject)
        for one in named:
            await asyncio.to_thread(remove_index, self.folder / one.ref)
        why = "an index of code named it; the files that it was made from are yours"
        hint = "change them, or it names it again with the next question"
        return [Unreached("files of projects", why, hint)] if named else []

    def _named(self, subject: Subject) -> list[tuple[Path, str]]:
        indexes = ((file, [*texts_in(file)]) for file in sorted(self.folder.glob("*.db")))
        return [
            (file, digest_of_data(texts))
            for file, texts in indexes
            if any(map(subject.is_named_in, texts))
        ]


@dataclass(slots=True)
class _RunStore:
    """Runs that are over; others are named as not reached."""

    store: Store
    name: str = "runs"

    async def find(self, subject: Subject) -> Sequence[Tombstone]:
        return [
            Tombstone(self.name, "run", self._called(one, subject), "removed", digest, now_ms())
            async for one, digest in self._named(subject)
        ]

    async def forget(self, subject: Subject) -> Sequence[Unreached]:
        missed: list[Unreached] = []
        gone = 0
        async for workflow_id, _ in self._named(subject):
            called = self._called(workflow_id, subject)
            kept = await remove_run(self.store, await self.store.run(workflow_id))
            gone += kept is None
            if kept is not None:
                missed.append(Unreached(f"run {called}", f"it {kept.why}", kept.hint))
        missed += _COPIES_OF_RUNS if gone else ()
        pages = [await run_lists.list_runs(self.store, 1, status=one) for one in _GOING]
        if any(page.runs for page in pages):
            why = "runs that are not over are not looked through"
            missed.append(Unreached("runs", why, "forget it again when they are over"))
        return missed

    async def _named(self, subject: Subject) -> AsyncIterator[tuple[str, str]]:
        async for page in run_lists.ended_runs(self.store, await self.store.now_ms(), OVER):
            for run in page:
                try:
                    export = await export_run(self.store, run.workflow_id)
                except (NotExportable, BrokenRun):
                    # It is being removed, or moves on; one that is broken is for `dcf doctor`.
                    continue
                texts = [run.workflow_id, export.meta, *(one.text for one in export.parts)]
                if any(map(subject.is_named_in, texts)):
                    yield run.workflow_id, digest_of_data(texts)

    def _called(self, workflow_id: str, subject: Subject) -> str:
        return "(its id names it)" if subject.is_named_in(workflow_id) else workflow_id


@dataclass(frozen=True, slots=True)
class OpenStores:
    """Stores beside the memory: those that forget, those in which all stays, and what cannot be
    asked."""

    forgetful: Sequence[ForgetfulStore]
    remaining: Sequence[RemainingStore]
    away: Sequence[Unreached]
    audit: AuditLog


@asynccontextmanager
async def open_stores(settings: Settings, screen: Screen) -> AsyncIterator[OpenStores]:
    """The stores that this home and this environment have."""
    setting = RetrievalSetting.from_env(settings.env, [project_folder(Path.cwd())])
    stores = [*_folders(settings, setting), _CodeStore(settings.home / "code")]
    remaining: list[RemainingStore] = []
    away = [*_copies(settings), *await _graph(settings)]
    away += await asyncio.to_thread(_copied_by_migration, settings, setting)
    path = setting.store.path
    if path is not None and (setting.backend == "sqlite" or path.is_file()):
        why = f"logged items are in another memory, {path}"
        away.append(Unreached("MEM_PATH", why, f"forget it there too, with DCF_MEMORY={path}"))
    async with AsyncExitStack() as stack:
        audit = await stack.enter_async_context(open_audit(settings))
        stores.append(_AuditStore(audit))
        try:
            stores += await stack.enter_async_context(_in_postgres(setting))
        except StoreProblem as error:
            away.append(Unreached("PostgreSQL", str(error), error.hint))
        try:
            if await _has_redis(settings):
                address = await find_redis(settings, screen)
                store = await stack.enter_async_context(open_store(address))
                stores.append(_RunStore(store))
                remaining += remaining_in(store)
        except (ServerUnusable, ControlPlaneError) as error:
            hint = "forget it again when Redis is there"
            away.append(Unreached("runs and sessions", str(error), hint))
        yield OpenStores(stores, remaining, away, audit)


def _folders(settings: Settings, setting: RetrievalSetting) -> list[ForgetfulStore]:
    """Those of files, also where another backend or folder is chosen by now: they are still
    there."""
    folders = {"": settings.home / "items"}
    path = setting.store.path
    if path is not None and path.is_dir() and path.resolve() != folders[""].resolve():
        folders[" in MEM_PATH"] = path
    stores: list[ForgetfulStore] = []
    for where, folder in folders.items():
        documents = FileDocuments(folder, now_ms, random_id)
        stores += [
            _DocumentStore(f"files of documents{where}", documents),
            _ItemStore(f"files of items{where}", FileItems(folder, now_ms, random_id)),
        ]
    return stores


@asynccontextmanager
async def _in_postgres(setting: RetrievalSetting) -> AsyncIterator[list[ForgetfulStore]]:
    """Those of the database that is named, also where another backend is chosen by now. Raises a
    StoreProblem."""
    url, make = setting.store.database, setting.backend == "postgres"
    fault = fault_of_url(url) if url else None
    if fault is not None:
        raise StoreUnreachable(where="of DATABASE_URL", reason=fault)
    hint = "they go with the next backups, and when the server writes its log anew"
    log = Unreached("PostgreSQL", "its write-ahead log and its backups are not ours", hint)
    async with AsyncExitStack() as stack:
        stores: list[ForgetfulStore] = []
        try:
            if url:
                store = PostgresStore.open(url, vectors=False, make=make)
                database = await stack.enter_async_context(store)
                # Behind the items all tables are written anew.
                documents = PostgresDocuments(database, now_ms, random_id)
                items = PostgresItems(database, now_ms, random_id)
                stores = [
                    _DocumentStore("documents in PostgreSQL", documents),
                    _ItemStore("PostgreSQL", items, (log,)),
                ]
        except StoreEmpty:
            # It is a database of something else: nothing of ours was ever in it.
            stores = []
        yield stores


async def _has_redis(settings: Settings) -> bool:
    """Whether there is a Redis, or the data of one that can be started."""
    if settings.redis_url is not None:
        return True
    return _has_data(await Embedded.from_env(settings.env).status())


def _has_data(status: Status) -> bool:
    return status.running or (status.data_dir.is_dir() and any(status.data_dir.iterdir()))


async def _graph(settings: Settings) -> list[Unreached]:
    setting = GraphSetting.from_env(settings.env)
    graph = Embedded.from_env(settings.env).graph
    if setting.url is None and not _has_data(await graph.status()):
        return []
    hint = "`dcf graph ask` shows what it knows; without its data it is told anew of runs to come"
    return [Unreached("graph", "what it was told of runs and sessions is not looked through", hint)]


def _copied_by_migration(settings: Settings, setting: RetrievalSetting) -> list[Unreached]:
    """Places of `dcf retrieval migrate` that are not looked through here and are still there."""
    database, path = setting.store.database, setting.store.path
    looked = {
        f"sqlite:{source_in(settings).path.resolve()}",
        f"file:{(settings.home / 'items').resolve()}",
        *([f"{kind}:{path.resolve()}" for kind in ("file", "sqlite")] if path is not None else []),
        *([f"postgres:{where_of_url(database)}"] if database else []),
    }
    why = "`dcf retrieval migrate` copied logged items and documents from it or to it"
    return [
        Unreached(name, why, f"forget it there too, with {_SWITCHES[backend].format(where)}")
        for name in copied_places(settings)
        if name not in looked
        for backend, _, where in [name.partition(":")]
        if backend == "postgres" or Path(where).exists()
    ]


def _copies(settings: Settings) -> list[Unreached]:
    hint = "remove it, or restore it and forget again"
    return [
        Unreached(str(file), "a copy of the memory from before", hint)
        for file in copies_of(settings, source_in(settings))
    ]
