"""The database by itself: transactions, waiting, copies, and what may go wrong with each."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dcf.memory.database import (
    BackupExists,
    Connection,
    Database,
    MemoryBusy,
    MemoryCorrupt,
    MemoryInUse,
    MemoryUnusable,
    Source,
    migrate,
    rekey,
    restore,
    users_of,
)
from dcf.memory.database import backup as backups
from dcf.memory.database.migration import Migration
from dcf.memory.database.opening import opened


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path / "m.db", busy_s=0.1)


async def test_a_reader_sees_the_last_commit_and_cannot_write(source: Source) -> None:
    async with await Database.open(source) as database:

        def write(connection: Connection) -> None:
            connection.execute("DELETE FROM events")

        with pytest.raises(MemoryUnusable, match="readonly"):
            await database.read(write)
        await database.write(write)


async def test_readers_do_not_wait_for_the_writer(source: Source) -> None:
    async with await Database.open(source) as database:
        inside, leave = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()

        def slow(connection: Connection) -> str:
            connection.execute("UPDATE block_labels SET description = 'new'")
            loop.call_soon_threadsafe(inside.set)
            asyncio.run_coroutine_threadsafe(leave.wait(), loop).result()
            return "written"

        def look(connection: Connection) -> int:
            query = "SELECT count(*) FROM block_labels WHERE description = 'new'"
            return int(connection.execute(query).fetchone()[0])

        writing = asyncio.create_task(database.write(slow))
        await inside.wait()
        assert await asyncio.gather(*(database.read(look) for _ in range(8))) == [0] * 8
        leave.set()
        assert await writing == "written"
        assert await database.read(look) == 6


async def test_every_commit_waits_for_the_disk_only_if_asked(source: Source) -> None:
    for power_safe, said in ((False, 1), (True, 2)):
        with closing(Source(source.path, power_safe=power_safe).connect()) as connection:
            assert connection.execute("PRAGMA synchronous").fetchone()[0] == said


class Racing(sqlite3.Connection):
    """Of two who switch a new file to write-ahead at the same moment, the one whom SQLite tells at
    once that the file is busy: measured, 6 of 900 times."""

    refused = 0

    def execute(self, statement: str, *parameters: object) -> sqlite3.Cursor:  # type: ignore[override]
        if "journal_mode" in statement and self.refused < 2:
            self.refused += 1
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorname = "SQLITE_BUSY"
            raise error
        return super().execute(statement, *parameters)


def test_who_is_second_in_making_the_file_tries_again(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: real(*a, **k, factory=Racing))
    with closing(opened(source)) as connection:
        assert isinstance(connection, Racing)
        assert connection.refused == 2
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


async def test_the_first_opening_waits_for_an_old_reader(source: Source) -> None:
    with closing(sqlite3.connect(source.path, isolation_level=None)) as other:
        other.execute("PRAGMA user_version = 0")
        other.execute("BEGIN")
        other.execute("SELECT * FROM sqlite_master").fetchall()
        opening = asyncio.create_task(Database.open(Source(source.path, busy_s=10)))
        await asyncio.sleep(0.2)
        assert not opening.done()
        other.execute("ROLLBACK")
        await (await opening).close()


async def test_an_old_reader_holds_the_first_opening_up_for_a_while_only(source: Source) -> None:
    with closing(sqlite3.connect(source.path, isolation_level=None)) as other:
        other.execute("CREATE TABLE t (x)")
        other.execute("DROP TABLE t")
        other.execute("BEGIN")
        other.execute("SELECT * FROM sqlite_master").fetchall()
        with pytest.raises(MemoryBusy):
            await Database.open(source)
    async with await Database.open(source):
        pass


async def test_a_database_that_could_not_be_opened_is_not_in_use(source: Source) -> None:
    source.path.write_text("no database" * 1000)
    with pytest.raises(MemoryCorrupt):
        await Database.open(source)
    assert users_of(source.path) == ()


async def test_nobody_uses_a_file_that_is_not_there(source: Source) -> None:
    assert users_of(source.path) == ()


async def test_a_mistake_in_a_statement_is_no_problem_of_the_file(source: Source) -> None:
    async with await Database.open(source) as database:

        def wrong(connection: Connection) -> None:
            connection.execute("SELECT * FROM nowhere")

        with pytest.raises(sqlite3.OperationalError, match="nowhere"):
            await database.read(wrong)


def test_a_file_that_cannot_be_written_is_unusable(tmp_path: Path) -> None:
    with pytest.raises(MemoryUnusable) as unusable:
        Source(tmp_path / "no" / "folder" / "m.db").connect()
    assert "folder exists" in unusable.value.hint


async def test_a_backup_that_another_made_meanwhile_is_not_overwritten(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "b.db"
    real = backups.copy

    def slow(connection: Connection, to: Source) -> None:
        real(connection, to)
        there.write_text("theirs")

    monkeypatch.setattr(backups, "copy", slow)
    async with await Database.open(source) as database:
        with pytest.raises(BackupExists):
            await database.back_up(there)
    assert there.read_text() == "theirs"


async def test_a_memory_is_not_its_own_backup(source: Source) -> None:
    async with await Database.open(source) as database:
        with pytest.raises(MemoryUnusable, match="itself"):
            await database.back_up(source.path, overwrite=True)
    with pytest.raises(MemoryUnusable, match="itself"):
        restore(source.path, source, aside="old")


def test_a_file_that_is_not_there_gets_no_key(source: Source) -> None:
    with pytest.raises(MemoryUnusable, match="no such file"):
        rekey(source, "key", aside="old")
    assert not source.path.exists()


async def test_a_damaged_file_gets_no_key(source: Source) -> None:
    pytest.importorskip("sqlcipher3")
    async with await Database.open(source):
        pass
    with closing(sqlite3.connect(source.path)) as other:
        other.execute("INSERT INTO block_holders VALUES ('nobody', 'nothing', 'x', 1)")
        other.commit()
    before = source.path.read_bytes()
    with pytest.raises(MemoryCorrupt, match="refers to"):
        rekey(source, "key", aside="old")
    assert source.path.read_bytes() == before


async def test_rows_without_what_they_refer_to_make_no_backup_to_restore(
    source: Source, tmp_path: Path
) -> None:
    async with await Database.open(source):
        pass
    with closing(sqlite3.connect(source.path)) as other:
        other.execute("INSERT INTO block_holders VALUES ('nobody', 'nothing', 'x', 1)")
        other.commit()
    with pytest.raises(MemoryCorrupt, match="refers to"):
        restore(source.path, Source(tmp_path / "new.db"), aside="old")
    assert not (tmp_path / "new.db").exists()


async def test_a_damaged_memory_with_commits_beside_it_is_kept_with_them(
    source: Source, tmp_path: Path
) -> None:
    async with await Database.open(Source(tmp_path / "b.db")):
        pass
    source.path.write_text("no database" * 1000)
    beside = source.path.with_name("m.db-wal")
    beside.write_text("what a process left")
    kept = restore(tmp_path / "b.db", source, aside="old")
    assert kept is not None
    assert kept.read_text() == "no database" * 1000
    assert kept.with_name("m.db.old-wal").read_text() == "what a process left"
    assert not beside.exists()
    async with await Database.open(source):
        pass


async def test_one_who_replaces_the_file_is_alone_with_it(source: Source) -> None:
    from dcf.memory.database.users import Use

    with Use(source.path, alone=True):
        with pytest.raises(MemoryInUse):
            await Database.open(source)
        with pytest.raises(MemoryInUse):
            Use(source.path, alone=True)
    async with await Database.open(source):
        pass


def test_a_step_in_which_sqlite_itself_gave_up_raises_what_it_said(source: Source) -> None:
    def give_up(connection: Connection) -> None:
        connection.execute("ROLLBACK")
        raise sqlite3.OperationalError("it gave up")

    with closing(source.connect()) as connection:
        step = Migration(1, "bad", (give_up,), ())
        with pytest.raises(sqlite3.OperationalError, match="it gave up"):
            migrate(connection, source.path, steps=(step,))
        assert not connection.in_transaction


async def test_a_transaction_in_which_sqlite_itself_gave_up_raises_what_it_said(
    source: Source,
) -> None:
    async with await Database.open(source) as database:

        def give_up(connection: Connection) -> None:
            connection.execute("ROLLBACK")
            raise LookupError("it gave up")

        with pytest.raises(LookupError, match="it gave up"):
            await database.write(give_up)
        assert await database.write(lambda connection: connection.in_transaction)


async def test_a_file_that_gives_no_single_pages_back_is_written_anew_when_much_is_empty(
    source: Source,
) -> None:
    async with await Database.open(source):
        pass
    with closing(sqlite3.connect(source.path)) as plain:
        plain.execute("PRAGMA auto_vacuum = NONE")
        plain.execute("VACUUM")
        plain.execute("CREATE TABLE filler (text TEXT)")
        plain.execute("INSERT INTO filler VALUES (?)", ("x" * 4_000_000,))
        plain.execute("DELETE FROM filler")
        plain.commit()
    async with await Database.open(source) as database:
        await database.shrink()
        free = await database.read(lambda one: one.execute("PRAGMA freelist_count").fetchone()[0])
    assert free == 0
    assert source.path.stat().st_size < 1_000_000
