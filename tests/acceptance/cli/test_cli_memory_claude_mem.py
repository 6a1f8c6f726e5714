"""``dcf memory observations import`` of a database of the program claude-mem."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from claude_mem_database import make_database
from memory_user import MemoryUser

SECRET = "DB_PASSWORD=hunter22hunter"
ROWS = [
    {"title": "ids are checked", "type": "bugfix"},
    {"title": "a door was open", "type": "security_alert", "concepts": ["risk"]},
    {
        "title": "rates are daily",
        "type": "decision",
        "project": "bank",
        "facts": ["DB_PASSWORD=hunter22hunter"],
    },
    {"facts": []},
]


@pytest.fixture
def database(memory: MemoryUser) -> Path:
    return make_database(memory.folder / "claude-mem.db", ROWS)


def test_a_database_is_imported_once(memory: MemoryUser, database: Path) -> None:
    document = memory.ok("observations", "import", database)
    assert [document[name] for name in ("new", "known", "refused")] == [3, 0, 0]
    assert document["unknown"] == {"type security_alert": 1, "concept risk": 1}
    assert document["left"] == {"observations without a word": 1}
    said = memory("observations", "import", database).out
    assert "0 new observations, 0 changed" in said and "3 known" in said
    assert "unknown words, kept in notes: " in said and "without a word 1" in said
    listed = memory.ok("observations", "list", "--source", "claude_mem", "--days", 36_500)
    assert {one["title"]: one["project"] for one in listed["observations"]} == {
        "ids are checked": "shop",
        "a door was open": "shop",
        "rates are daily": "bank",
    }
    (door,) = [
        one for one in listed["observations"] if one["type"] == "change" and "door" in one["title"]
    ]
    (seen,) = memory.ok("observations", "get", door["id"])["observations"][0]["seen"]
    assert "type: security_alert" in seen["note"]
    assert "hunter22" not in memory("observations", "export").out


def test_the_projects_that_are_wanted_get_their_folders(memory: MemoryUser, database: Path) -> None:
    shop, other = memory.folder / "shop", memory.folder / "money"
    document = memory.ok("observations", "import", database, "--project", shop)
    assert document["new"] == 2
    assert document["left"] == {"project bank": 1, "observations without a word": 1}
    assert memory.ok("observations", "import", database, "--project", f"bank={other}")["new"] == 1
    days = ("--days", 36_500)
    (one,) = memory.ok("observations", "list", "--project", other, *days)["observations"]
    assert one["title"] == "rates are daily"
    assert len(memory.ok("observations", "list", "--project", shop, *days)["observations"]) == 2


def test_a_project_that_is_not_there_is_told(memory: MemoryUser, database: Path) -> None:
    code, document = memory.refused(
        "observations", "import", database, "--project", "a", "--project", "shop", "--project", "b"
    )
    problems = document["problems"]
    assert (code, [one["code"] for one in problems]) == (2, ["CLI_OBSERVATIONS_PROJECT"] * 2)
    assert "'a'" in problems[0]["message"] and "shop 3, bank 1" in problems[0]["hint"]
    lines = memory.folder / "o.jsonl"
    lines.write_text("")
    assert memory.refused("observations", "import", lines, "--project", "a")[0] == 2
    assert not memory.file.exists()


def test_a_bad_row_is_told_and_the_others_are_kept(memory: MemoryUser) -> None:
    rows = [{"title": "a"}, {"title": "b", "created_at_epoch": None}, {"title": "c\0d"}]
    rows += [{"title": "e", "narrative": "x" * 20_001}, {"title": "f", "narrative": "g\0"}]
    file = make_database(memory.folder / "c.db", rows)
    code, document = memory.refused("observations", "import", file)
    assert (code, document["new"], document["refused"]) == (2, 2, 3)
    assert [(one["line"], one["code"]) for one in document["problems"]] == [
        (2, "memory_claude_mem_time"),
        (4, "memory_observation_text"),
        (5, "memory_text_nul"),
    ]
    assert "all other rows were kept" in memory("observations", "import", file).err


def test_a_database_that_cannot_be_read_is_one_error(memory: MemoryUser) -> None:
    file = memory.folder / "c.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE a (b)")
    code, document = memory.refused("observations", "import", file)
    assert (code, document["error"]["code"]) == (2, "memory_no_claude_mem")
    file.write_bytes(file.read_bytes()[:100])
    code, document = memory.refused("observations", "import", file)
    assert (code, document["error"]["code"]) == (2, "memory_database_damaged")
    assert not memory.file.exists(), "no memory is made for a file that cannot be read"
