"""The memory file goes from every version to every other, and keeps what both know.

A later version joins by itself: by its step, and its rows in migration_rows.py.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from campaigns import REMEMBERED, settled
from commands import python
from memory_world import Numbered, Ticking, started
from migration_rows import ROWS

from dcf.memory import Actor, Memory, MemoryForeign, MemoryTooNew, NewAgent, Source
from dcf.memory.database import Connection, Migration, migrate, migrations, version_of

pytestmark = settled(*REMEMBERED, "tests/commands.py", "tests/integration/memory")

STEPS = migrations()
VERSIONS = [0, *(step.version for step in STEPS)]
TABLE = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    with closing(Source(tmp_path / "m.db").connect()) as opened:
        yield opened


def fill(connection: Connection, version: int) -> None:
    """The rows of all versions up to this one."""
    for step in range(1, version + 1):
        for table, rows in ROWS[step].items():
            for row in rows:
                connection.execute(
                    f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
                    tuple(row.values()),
                )


def schema(connection: Connection) -> dict[str, str]:
    """What the file is made of, by name."""
    rows = connection.execute(
        "SELECT type, name, sql FROM sqlite_master"
        " WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
    )
    return {f"{row['type']} {row['name']}": " ".join(row["sql"].split()) for row in rows}


def content(connection: Connection, known: set[tuple[str, str]]) -> dict[str, Any]:
    """All rows, as far as they are of the columns that are ``known``."""
    found = {}
    for table in sorted({table for table, _ in known}):
        names = sorted(column for where, column in known if where == table)
        rows = connection.execute(f"SELECT {', '.join(names)} FROM {table}")
        found[table] = sorted(map(tuple, rows), key=repr)
    return found


def columns(connection: Connection) -> set[tuple[str, str]]:
    """(table, column) of all tables, but for what FTS keeps to itself."""
    tables = [row["name"] for row in connection.execute(TABLE) if "VIRTUAL" not in row["sql"]]
    virtual = [row["name"] for row in connection.execute(TABLE) if "VIRTUAL" in row["sql"]]
    own = [table for table in tables if not table.startswith(tuple(f"{one}_" for one in virtual))]
    return {
        (table, row["name"])
        for table in own
        for row in connection.execute(f"PRAGMA table_info({table})")
    }


def at_version(connection: Connection, version: int) -> None:
    migrate(connection, Path("m.db"), to=version)
    fill(connection, version)


def test_versions_count_from_one_without_a_gap() -> None:
    assert list(range(len(VERSIONS))) == VERSIONS


def test_every_version_has_rows_for_this_test() -> None:
    """A step that adds no table or column that holds data says so with an empty entry."""
    assert sorted(ROWS) == VERSIONS[1:]


# A way is the steps between two versions: each step, and all of them from and to each version.
WAYS = [
    (start, to)
    for start in VERSIONS
    for to in VERSIONS
    if abs(start - to) <= 1 or {start, to} & {0, VERSIONS[-1]}
]


@pytest.mark.parametrize(("start", "to"), WAYS)
def test_each_step_and_the_way_from_and_to_every_version(
    connection: Connection, tmp_path: Path, start: int, to: int
) -> None:
    with closing(Source(tmp_path / "straight.db").connect()) as straight:
        migrate(straight, Path("straight.db"), to=to)
        wanted, wanted_columns = schema(straight), columns(straight)
    at_version(connection, start)
    both = columns(connection) & wanted_columns
    before = content(connection, both)
    assert migrate(connection, Path("m.db"), to=to) == (start, to)
    assert version_of(connection) == to
    # Exactly the tables of that version, whichever way it was reached, and all that both know.
    assert schema(connection) == wanted
    assert content(connection, both) == before
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    migrate(connection, Path("m.db"), to=start)
    assert content(connection, both) == before


def test_a_step_that_fails_leaves_the_file_as_it_was(connection: Connection) -> None:
    migrate(connection, Path("m.db"), to=1)
    before = schema(connection)

    def explode(_: Connection) -> None:
        raise ValueError("half way")

    bad = Migration(2, "bad", ("CREATE TABLE more (x)", explode), ("DROP TABLE more",))
    with pytest.raises(ValueError, match="half way"):
        migrate(connection, Path("m.db"), steps=(STEPS[0], bad))
    assert (schema(connection), version_of(connection)) == (before, 1)


def test_a_step_may_need_more_than_sql(connection: Connection) -> None:
    def fill_more(on: Connection) -> None:
        on.execute("INSERT INTO more VALUES (?)", (42,))

    step = Migration(2, "more", ("CREATE TABLE more (x)", fill_more), ("DROP TABLE more",))
    assert migrate(connection, Path("m.db"), steps=(STEPS[0], step)) == (0, 2)
    assert connection.execute("SELECT x FROM more").fetchone()[0] == 42
    assert migrate(connection, Path("m.db"), to=1, steps=(STEPS[0], step)) == (2, 1)


async def test_a_file_of_a_newer_dcf_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with closing(Source(path).connect()) as connection:
        migrate(connection, path)
        connection.execute("PRAGMA user_version = 999")
    with pytest.raises(MemoryTooNew, match="999"):
        async with Memory.open(Source(path), clock=Ticking(), new_id=Numbered()):
            pass
    with closing(sqlite3.connect(path)) as plain:
        assert plain.execute("PRAGMA user_version").fetchone() == (999,)


async def test_a_file_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "browser.db"
    with closing(sqlite3.connect(path)) as plain:
        plain.execute("CREATE TABLE bookmarks (url)")
        plain.commit()
    with pytest.raises(MemoryForeign, match="another program"):
        async with Memory.open(Source(path), clock=Ticking(), new_id=Numbered()):
            pass
    with closing(sqlite3.connect(path)) as plain:
        assert plain.execute("SELECT name FROM sqlite_master").fetchall() == [("bookmarks",)]


async def test_a_file_of_an_older_version_is_brought_up_when_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with closing(Source(path).connect()) as connection:
        at_version(connection, 1)
    async with Memory.open(Source(path), clock=Ticking(), new_id=Numbered()) as memory:
        assert (await memory.agents.get("agent-1")).name == "anna"
        assert await memory.ledger.read(version_of) == VERSIONS[-1]


OPENER = """
import asyncio, sys, time
from pathlib import Path
from dcf.memory import Actor, Memory, NewAgent, Source, random_id

async def main() -> None:
    time.sleep(max(0, float(sys.argv[2]) - time.time()))
    clock = lambda: int(time.time() * 1000)
    async with Memory.open(Source(Path(sys.argv[1])), clock=clock, new_id=random_id) as memory:
        await memory.agents.create(NewAgent(sys.argv[3]), by=Actor("user", "ada"))

asyncio.run(main())
"""


async def test_several_processes_may_be_the_first_to_open_the_file(tmp_path: Path) -> None:
    interpreter = python()
    for attempt in range(3):
        path, start = tmp_path / f"{attempt}.db", str(time.time() + 1.5)
        processes = [
            started(OPENER, path, start, f"agent {number}", interpreter=interpreter)
            for number in range(5)
        ]
        assert [process.communicate(timeout=60)[1] for process in processes] == [b""] * 5
        async with Memory.open(Source(path), clock=Ticking(), new_id=Numbered()) as memory:
            assert len(await memory.agents.list()) == 5
            assert await memory.check() == ()


async def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "m.db"
    async with Memory.open(Source(path), clock=Ticking(), new_id=Numbered()) as memory:
        await memory.agents.create(NewAgent("anna"), by=Actor("user", "ada"))
        for file in path.parent.iterdir():
            assert file.stat().st_mode & 0o077 == 0, file
