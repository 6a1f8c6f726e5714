"""Observations out of the databases of the program claude-mem."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from claude_mem_database import AT, VERSIONS, add_row, columns_of, make_database
from memory_world import Ticking

from dcf.memory import (
    Actor,
    ArrivingObservation,
    Artifact,
    DamagedDatabase,
    InvalidEntry,
    LockedDatabase,
    Memory,
    NoClaudeMem,
    Occurrence,
    Origin,
    Source,
    TakenIn,
    Texts,
    is_database,
    open_claude_mem,
    random_id,
)

BY = Actor("user", "ada")
WHOLE = {
    "type": "bugfix",
    "title": "The gateway answers twice",
    "subtitle": "A retry was taken for an order.",
    "facts": ["ids are checked now", "orders of May are right"],
    "narrative": "The gateway repeats a call\nwithout saying so.",
    "concepts": ["problem-solution", "gotcha"],
    "files_read": ["/work/shop/pay.py"],
    "files_modified": ["/work/shop/pay.py", "/work/shop/ids.py"],
    "prompt_number": 3,
}


def read(file: Path, projects: dict[str, str] | None = None) -> list[ArrivingObservation]:
    with open_claude_mem(file) as database:
        return [one for row in database.rows(projects) if (one := row.read()[0]) is not None]


def one_of(folder: Path, row: dict[str, Any], version: int = 35) -> ArrivingObservation:
    (one,) = read(make_database(folder / "c.db", [row], version))
    return one


@pytest.mark.parametrize("version", [one for one in VERSIONS if one >= 8])
def test_a_row_is_read_in_every_version(version: int, tmp_path: Path) -> None:
    one = one_of(tmp_path, WHOLE, version)
    origin = Origin("claude_mem", "content-1", 3, "observation 1")
    assert one.seen == (Occurrence(origin, "project: shop", AT),)
    new = one.new
    assert (new.type, new.title, new.subtitle) == ("bugfix", WHOLE["title"], WHOLE["subtitle"])
    assert list(new.facts) == WHOLE["facts"] and list(new.concepts) == WHOLE["concepts"]
    assert (new.narrative, new.origin, new.at) == (WHOLE["narrative"], origin, AT)
    assert (new.project, new.workflow) == ("shop", "")
    assert new.artifacts == (
        Artifact("file", "/work/shop/pay.py", "read"),
        Artifact("file", "/work/shop/pay.py", "modified"),
        Artifact("file", "/work/shop/ids.py", "modified"),
    )


def test_before_version_8_a_row_is_a_text(tmp_path: Path) -> None:
    said = "The cache is cold at noon.\nIt is filled by the first call."
    new = one_of(tmp_path, {"type": "discovery", "text": said}, 4).new
    assert (new.title, new.narrative) == ("The cache is cold at noon.", said)
    assert (new.origin.turn, new.facts, new.artifacts) == (None, (), ())


@pytest.mark.parametrize(
    ("row", "title", "subtitle", "narrative"),
    [
        ({"title": "a", "text": "b"}, "a", "", "b"),
        ({"title": "a", "narrative": "b", "text": "c"}, "a", "", "b\n\nc"),
        ({"subtitle": "a"}, "a", "", ""),
        ({"title": " ", "facts": ["a", "b"]}, "a", "", ""),
        ({"narrative": "\n a\nb"}, "a", "", "\n a\nb"),
        ({"title": "a\n\tb\x1b[31m"}, "a b", "", ""),
        ({"text": "a"}, "a", "", ""),
    ],
)
def test_a_row_without_a_title_is_called_by_what_it_says_first(
    row: dict[str, Any], title: str, subtitle: str, narrative: str, tmp_path: Path
) -> None:
    new = one_of(tmp_path, row).new
    assert (new.title, new.subtitle, new.narrative) == (title, subtitle, narrative)


def test_a_long_title_is_cut_and_kept_whole_in_the_note(tmp_path: Path) -> None:
    title = "word " * 30
    one = one_of(tmp_path, {"title": title})
    assert len(one.new.title) <= 120 and one.new.title.endswith("word…")
    assert title.strip() in one.seen[0].note


def test_what_has_no_place_stands_in_the_note_and_is_counted(tmp_path: Path) -> None:
    row = {
        "type": "security_alert",
        "title": "a",
        "concepts": ["gotcha", "risk", "risk"],
        "agent_type": "Explore",
        "metadata": json.dumps({"a": 1}),
        "prompt_number": -1,
        "discovery_tokens": 400,
    }
    with open_claude_mem(make_database(tmp_path / "c.db", [row])) as database:
        (found,) = database.rows()
        one, unknown = found.read()
    assert one is not None and (one.new.type, one.new.concepts) == ("change", ("gotcha",))
    assert set(one.seen[0].note.splitlines()) == {
        "project: shop",
        "type: security_alert",
        "concepts: risk",
        "agent_type: Explore",
        'metadata: {"a": 1}',
        "prompt_number: -1",
    }
    assert sorted(unknown) == ["concept risk", "type security_alert"]


@pytest.mark.parametrize(
    ("given", "facts"),
    [
        (None, ()),
        ("", ()),
        ("null", ()),
        ("[]", ()),
        ("no JSON", ("no JSON",)),
        ('["a", "", 1, {"b": 2}]', ("a", "1", '{"b": 2}')),
        ('"a"', ("a",)),
        ("{}", ("{}",)),
    ],
)
def test_lists_that_are_none_are_not_lost(
    given: str, facts: tuple[str, ...], tmp_path: Path
) -> None:
    assert one_of(tmp_path, {"title": "a", "facts": given}).new.facts == facts


def test_a_row_without_words_is_left_there(tmp_path: Path) -> None:
    file = make_database(tmp_path / "c.db", [{"facts": []}, {"title": "a"}])
    with open_claude_mem(file) as database:
        assert [row.read()[0] is None for row in database.rows()] == [True, False]


@pytest.mark.parametrize("at", [None, "yesterday", -1, 10**18])
def test_a_time_that_is_none_is_told(at: object, tmp_path: Path) -> None:
    file = make_database(tmp_path / "c.db", [{"title": "a", "created_at_epoch": at}])
    with open_claude_mem(file) as database:
        (row,) = database.rows()
        with pytest.raises(InvalidEntry, match="created_at_epoch is") as refused:
            row.read()
    assert row.number == 1 and refused.value.problems[0].code == "memory_claude_mem_time"


def test_a_session_that_is_unknown_is_called_by_its_own_id(tmp_path: Path) -> None:
    one = one_of(tmp_path, {"title": "a", "memory_session_id": "memory-2"})
    assert one.new.origin == Origin("claude_mem", "memory-2", None, "observation 1")


def test_projects_are_taken_by_name(tmp_path: Path) -> None:
    rows = [{"title": name, "project": name} for name in ("shop", "bank", "shop")]
    rows[2]["title"] = "again"
    file = make_database(tmp_path / "c.db", rows)
    (one, two) = read(file, {"shop": "/work/shop"})
    assert [one.new.title, two.new.title] == ["shop", "again"]
    assert {one.new.project, two.new.project} == {"/work/shop"}
    with open_claude_mem(file) as database:
        assert database.projects == {"shop": 2, "bank": 1}


def test_rows_of_other_tables_are_counted(tmp_path: Path) -> None:
    file = make_database(tmp_path / "c.db")
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("INSERT INTO session_summaries (request) VALUES ('a'), ('b')")
    with open_claude_mem(file) as database:
        assert database.others == {"session_summaries": 2}


async def test_what_comes_again_is_known(tmp_path: Path) -> None:
    rows = [WHOLE, {**WHOLE, "title": "b"}]
    file = make_database(tmp_path / "c.db", rows)
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=Ticking(), new_id=random_id) as memory:
        assert await memory.observations.take_in(*read(file), by=BY) == TakenIn(new=2)
        assert await memory.observations.take_in(*read(file), by=BY) == TakenIn(known=2)
        assert await memory.check() == ()


@asynccontextmanager
async def importing(tmp_path: Path, *rows: dict[str, Any]) -> AsyncIterator[Importing]:
    file = make_database(tmp_path / "c.db", rows)
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=Ticking(), new_id=random_id, embedder="none") as memory:
        yield Importing(file, memory)
        assert await memory.check() == ()


@dataclass
class Importing:
    """A database of claude-mem and a memory into which it is brought, again and again."""

    file: Path
    memory: Memory

    async def take(self, projects: dict[str, str] | None = None) -> TakenIn:
        return await self.memory.observations.take_in(*read(self.file, projects), by=BY)

    def change(self, number: int, **columns: Any) -> None:
        """What claude-mem does to the row with this id."""
        sets = ", ".join(f"{name} = ?" for name in columns)
        with closing(sqlite3.connect(self.file)) as connection, connection:
            connection.execute(
                f"UPDATE observations SET {sets} WHERE id = ?", (*columns.values(), number)
            )

    async def titles(self) -> list[str]:
        return sorted(one.title for one in await self.memory.observations.list())


async def test_a_row_that_was_changed_is_a_new_version_of_the_same(tmp_path: Path) -> None:
    async with importing(tmp_path, WHOLE, {**WHOLE, "title": "b"}) as world:
        await world.take()
        before = {one.title: one for one in await world.memory.observations.list()}
        world.change(2, title="c", facts='["d"]', concepts='["gotcha"]')
        assert await world.take() == TakenIn(known=1, changed=1)
        now = await world.memory.observations.get(before["b"].id)
        assert (now.title, now.facts, now.concepts) == ("c", ("d",), ("gotcha",))
        assert (now.revision, now.times, now.at) == (2, 1, AT)
        assert await world.take() == TakenIn(known=2)
        # It is an event with its way back; the next import has the row as it is there.
        event = (await world.memory.events.list(limit=1))[0]
        assert (event.entity_id, event.by.name) == (now.id, "ada")
        await world.memory.events.undo(event.seq, by=BY)
        assert await world.titles() == sorted([str(WHOLE["title"]), "b"])
        assert await world.take() == TakenIn(known=1, changed=1)
        world.change(2, title="b", facts=json.dumps(WHOLE["facts"]))
        assert await world.take() == TakenIn(known=1, changed=1)
        assert await world.titles() == sorted([str(WHOLE["title"]), "b"])


async def test_what_a_person_made_of_it_stays(tmp_path: Path) -> None:
    async with importing(tmp_path, {"title": "a"}) as world:
        await world.take()
        (one,) = await world.memory.observations.list()
        await world.memory.observations.edit(one.id, Texts(title="mine"), by=BY)
        world.change(1, title="b")
        assert await world.take() == TakenIn(changed=1)
        assert await world.take() == TakenIn(known=1)
        assert await world.titles() == ["mine"]


async def test_what_others_said_too_stays_as_they_said_it(tmp_path: Path) -> None:
    rows = [{"title": "a"}, {"title": "a", "memory_session_id": "memory-2"}, {"title": "b"}]
    async with importing(tmp_path, *rows) as world:
        assert await world.take() == TakenIn(new=2, seen_again=1)
        world.change(1, title="c")
        assert await world.take() == TakenIn(new=1, known=2)
        assert await world.titles() == ["a", "b", "c"]
        # Its next version is one of what it became; where another row says that, there is one.
        world.change(1, title="d")
        assert await world.take() == TakenIn(changed=1, known=2)
        world.change(1, title="b")
        assert await world.take() == TakenIn(known=3)
        assert await world.titles() == ["a", "b", "d"]


async def test_without_a_project_what_is_here_stays_in_its_project(tmp_path: Path) -> None:
    async with importing(tmp_path, {"title": "a"}) as world:

        async def there() -> list[tuple[str, str]]:
            found = await world.memory.observations.list()
            return sorted((one.project, one.title) for one in found)

        await world.take()
        assert await world.take({"shop": "/work/shop"}) == TakenIn(new=1)
        assert await there() == [("/work/shop", "a"), ("shop", "a")]
        # From now on it is that of the folder, with its project or without.
        world.change(1, title="b")
        assert await world.take() == TakenIn(changed=1)
        assert await world.take({"shop": "/work/shop"}) == TakenIn(known=1)
        assert await there() == [("/work/shop", "b"), ("shop", "a")]


async def test_what_was_brought_in_before_rows_were_kept_is_followed_from_then_on(
    tmp_path: Path,
) -> None:
    async with importing(tmp_path, {"title": "a"}) as world:
        (one,) = read(world.file)
        origin = Origin("claude_mem", "content-1")
        seen = (Occurrence(origin, "", AT),)
        earlier = replace(one, new=replace(one.new, origin=origin), seen=seen, follows=False)
        await world.memory.observations.take_in(earlier, by=BY)
        assert await world.take() == TakenIn(known=1)
        world.change(1, title="b")
        assert await world.take() == TakenIn(changed=1)
        assert await world.titles() == ["b"]


def listing(folder: Path) -> dict[str, bytes]:
    return {
        one.name: b"" if one.name.endswith("-shm") else one.read_bytes() for one in folder.iterdir()
    }


@pytest.mark.parametrize("left", ["nothing", "wal", "shm", "both", "in use"])
def test_nothing_is_written_beside_it(left: str, tmp_path: Path) -> None:
    """A database in WAL mode: closed, copied with some of its files, and open in its program."""
    made, folder = tmp_path / "made", tmp_path / "there"
    made.mkdir()
    folder.mkdir()
    file = make_database(made / "c.db", [{"title": "a"}])
    suffixes = {"nothing": [""], "wal": ["", "-wal"], "shm": ["", "-shm"]}
    with closing(sqlite3.connect(file)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        if left in ("nothing", "shm"):
            add_row(writer, {"title": "b"})
            writer.commit()
            writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        else:
            add_row(writer, {"title": "b"})
            writer.commit()
        for suffix in suffixes.get(left, ["", "-wal", "-shm"]):
            shutil.copy(f"{file}{suffix}", folder)
        where = made if left == "in use" else folder
        before = listing(where)
        assert [one.new.title for one in read(where / "c.db")] == ["a", "b"]
        assert listing(where) == before


def test_a_program_goes_on_writing_while_it_is_read(tmp_path: Path) -> None:
    file = make_database(tmp_path / "c.db", [{"title": "a"}])
    with closing(sqlite3.connect(file)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        add_row(writer, {"title": "b"})
        writer.commit()
        with open_claude_mem(file) as database:
            rows = database.rows()
            next(rows)
            add_row(writer, {"title": "c"})
            writer.commit()
            assert len(list(rows)) == 1, "what is read is of one moment"
        assert len(read(file)) == 3


def test_a_locked_database_is_told(tmp_path: Path) -> None:
    file = make_database(tmp_path / "c.db", [{"title": "a"}])
    with closing(sqlite3.connect(file, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with (
            pytest.raises(LockedDatabase, match=r"c\.db is locked"),
            open_claude_mem(file, busy_s=0),
        ):
            pytest.fail("it was opened")


def test_a_program_that_comes_and_goes_while_a_copy_is_made_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has left neither log nor index, but the copy is of before and after it."""
    file = make_database(tmp_path / "c.db", [{"title": "a"}])
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    copied = shutil.copyfile

    def slowly(source: Path, target: Path) -> None:
        copied(source, target)
        with closing(sqlite3.connect(file)) as connection, connection:
            add_row(connection, {"title": "b", "narrative": "x" * 50_000})

    monkeypatch.setattr(shutil, "copyfile", slowly)
    with pytest.raises(LockedDatabase):
        read(file)


@pytest.mark.parametrize("table", ["", "CREATE TABLE observations (id INTEGER, note TEXT)"])
def test_a_database_of_another_program_is_told(table: str, tmp_path: Path) -> None:
    file = tmp_path / "c.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE a (b)")
        connection.execute(table or "SELECT 1")
    assert is_database(file)
    said = r"c\.db is no database of claude-mem: its? .*observations"
    with pytest.raises(NoClaudeMem, match=said), open_claude_mem(file):
        pytest.fail("it was opened")


def test_a_damaged_database_is_told(tmp_path: Path) -> None:
    rows = [{"title": f"title {number}", "narrative": "x" * 3_000} for number in range(40)]
    file = make_database(tmp_path / "c.db", rows)
    whole = file.read_bytes()
    for damaged in (whole[:16] + b"\xff" * 200, whole[: len(whole) // 2], whole[:100]):
        file.write_bytes(damaged)
        assert is_database(file)
        with pytest.raises(DamagedDatabase, match=r"c\.db cannot be read"):
            read(file)


def test_what_is_no_database_has_another_header(tmp_path: Path) -> None:
    file = tmp_path / "o.jsonl"
    file.write_text('{"dcf_observation": 1}\n')
    assert not is_database(file)


def test_the_versions_differ() -> None:
    assert len({columns_of(version) for version in VERSIONS}) == len(VERSIONS)
