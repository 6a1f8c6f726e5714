"""``dcf memory``: backups, keys, agent files, and what is said when the file is in trouble."""

from __future__ import annotations

import json
import resource
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from memory_user import MemoryUser

from dcf.cli.memory import opening
from dcf.memory import source_of


def damage(file: Path) -> None:
    """Overwrite everything behind the first page."""
    whole = file.read_bytes()
    file.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))


def check(document: dict[str, Any], name: str) -> dict[str, Any]:
    """One check of the doctor's."""
    found: dict[str, Any] = next(one for one in document["checks"] if one["name"] == name)
    return found


def test_a_backup_is_restored_and_the_replaced_file_is_kept(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "prefers tea")
    made = ada.ok("backup")
    assert Path(made["backup"]).parent == ada.home / "backups"
    ada.ok("remember", "ada", "prefers coffee", "--rewrite")
    code, document = ada.refused("restore", made["backup"])
    assert (code, document["error"]["code"]) == (1, "not_confirmed")
    done = ada.ok("restore", made["backup"], "--yes")
    assert ada.text("ada") == "prefers tea"
    # The way there and back again.
    again = ada("restore", done["kept"], "--yes")
    assert again.code == 0 and "is kept" in again.out
    assert ada.text("ada") == "prefers coffee"
    assert len([one for one in ada.home.iterdir() if "before-restore" in one.name]) == 2


def test_at_a_terminal_a_restore_wants_the_word(ada: MemoryUser) -> None:
    ada.ok("backup", "b.db")
    ada.answers("y", "restore")
    refused = ada("restore", "b.db")
    assert refused.code == 1
    assert "takes the place of" in refused.out and "is kept as memory.db.before-" in refused.out
    assert ada("restore", "b.db").code == 0


def test_a_backup_is_not_written_over_anything(ada: MemoryUser) -> None:
    ada.ok("backup", "b.db")
    code, document = ada.refused("backup", "b.db")
    assert (code, document["error"]["code"]) == (2, "memory_backup_exists")
    assert ada.ok("backup", "b.db", "--overwrite")["bytes"] > 0
    assert ada.refused("backup", ada.file, "--overwrite")[0] == 3


def test_a_backup_becomes_the_memory_where_there_is_none(ada: MemoryUser, tmp_path: Path) -> None:
    ada.ok("backup", "b.db")
    ada.patch.setenv("DCF_HOME", str(tmp_path / "other"))
    ada.answers("restore")
    done = ada("restore", "b.db")
    assert "where nothing is now" in done.out
    assert ada.ok("agents")["agents"][0]["name"] == "ada"


NO_BACKUPS = [
    (None, 2, "bad_input"),
    (b"", 3, "memory_corrupt"),
    (b"no database at all" * 400, 3, "memory_corrupt"),
]


def test_what_is_no_backup_is_refused_and_the_memory_stays(ada: MemoryUser) -> None:
    for content, code, name in NO_BACKUPS:
        if content is not None:
            (ada.folder / "b.db").write_bytes(content)
        found, document = ada.refused("restore", "b.db", "--yes")
        assert (found, document["error"]["code"]) == (code, name)
        assert ada.ok("agents")["agents"][0]["name"] == "ada"


def test_a_damaged_backup_is_refused(ada: MemoryUser) -> None:
    ada.ok("backup", "b.db")
    damage(ada.folder / "b.db")
    assert ada.refused("restore", "b.db", "--yes")[0] == 3
    assert ada.ok("agents")["agents"][0]["name"] == "ada"


def test_a_damaged_memory_is_said_and_the_doctor_shows_the_way_back(ada: MemoryUser) -> None:
    made = ada.ok("backup")
    damage(ada.file)
    code, document = ada.refused("show", "ada")
    assert (code, document["error"]["code"]) == (3, "memory_corrupt")
    assert "dcf memory restore" in document["error"]["hint"]
    code, document = ada.refused("doctor")
    assert (code, document["error"]["code"]) == (1, "memory_faults")
    assert "dcf memory restore" in document["error"]["hint"]
    assert check(document, "integrity")["ok"] is False
    assert made["backup"] in check(document, "backups")["found"]
    ada.ok("restore", made["backup"], "--yes")
    assert ada.ok("doctor")["problems"] == []


def test_the_doctor_says_what_the_file_is_and_who_has_it_open(ada: MemoryUser) -> None:
    whole = ada("doctor")
    assert whole.code == 0
    assert "The memory is whole." in whole.out
    assert "by nobody else" in whole.out
    document = ada.ok("doctor")
    assert check(document, "encryption")["found"].startswith("none")
    assert check(document, "backups")["ok"] is False
    assert "version" in check(document, "contents")["found"]


def test_rows_that_disagree_are_named(ada: MemoryUser) -> None:
    with closing(sqlite3.connect(ada.file)) as other:
        other.execute("UPDATE blocks SET value = 'other' WHERE label = 'human'")
        other.commit()
    code, document = ada.refused("doctor")
    assert code == 1
    assert "memory_text" in [one["code"] for one in document["problems"]]
    assert "restore" in document["error"]["hint"]


def test_an_index_that_disagrees_is_made_anew(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "prefers tea")
    with closing(sqlite3.connect(ada.file)) as other:
        other.execute("DELETE FROM search_documents")
        other.commit()
    document = ada.refused("doctor")[1]
    assert {one["code"] for one in document["problems"]} == {"memory_search_index"}
    assert "--rebuild-index" in document["error"]["hint"]
    assert ada.ok("doctor", "--rebuild-index")["problems"] == []
    assert ada.ok("search", "tea")["found"]


def test_a_memory_that_others_hold_is_said(ada: MemoryUser) -> None:
    def soon(environment: dict[str, str], home: Path) -> object:
        return replace(source_of(environment, home), busy_s=0.1)

    ada.patch.setattr(opening, "source_of", soon)
    with closing(sqlite3.connect(ada.file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        code, document = ada.refused("remember", "ada", "prefers tea")
        assert (code, document["error"]["code"]) == (3, "memory_busy")
        assert "dcf memory doctor" in document["error"]["hint"]
        assert ada.ok("show", "ada")["blocks"]
        other.execute("ROLLBACK")
    ada.ok("remember", "ada", "prefers tea")


@contextmanager
def no_file_over(size: int) -> Iterator[None]:
    """The system lets no file grow over ``size`` bytes, as a full disk would not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_said_and_nothing_is_lost(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "prefers tea")
    with no_file_over(600_000):
        code, document = ada.refused("remember", "ada", "x" * 900_000, "--block", "log", "--new")
        assert (code, document["error"]["code"]) == (3, "memory_full")
        assert "dcf memory gc --dry-run" in document["error"]["hint"]
    assert ada.text("ada") == "prefers tea"
    assert ada.ok("doctor")["problems"] == []
    with no_file_over(100_000):
        assert ada.refused("backup", "b.db")[0] == 3
        assert ada.refused("export", "ada", "--out", "/dev/full")[0] in (2, 3)
    assert not (ada.folder / "b.db").exists()


def test_an_export_that_has_no_room_leaves_no_file(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "x" * 300_000, "--block", "log", "--new")
    with no_file_over(100_000):
        code, document = ada.refused("export", "ada", "--out", "ada.af")
    assert (code, document["error"]["code"]) == (3, "system_error")
    assert "ada.af" in document["error"]["message"]
    assert list(ada.folder.iterdir()) == []


def test_what_is_no_memory_is_not_touched(memory: MemoryUser) -> None:
    memory.home.mkdir()
    with closing(sqlite3.connect(memory.file)) as other:
        other.execute("CREATE TABLE mine (a)")
        other.commit()
    before = memory.file.read_bytes()
    code, document = memory.refused("init")
    assert (code, document["error"]["code"]) == (2, "memory_foreign")
    assert memory.file.read_bytes() == before


def test_a_memory_is_encrypted_rekeyed_and_decrypted(ada: MemoryUser) -> None:
    pytest.importorskip("sqlcipher3")
    ada.ok("remember", "ada", "prefers tea")
    code, document = ada.refused("rekey", "--yes")
    assert (code, document["error"]["code"]) == (1, "memory_no_new_key")
    ada.patch.setenv("DCF_MEMORY_NEW_KEY", "jasmine")
    assert ada.refused("rekey")[1]["error"]["code"] == "not_confirmed"
    done = ada.ok("rekey", "--yes")
    assert (done["encrypted"], Path(done["kept"]).exists()) == (True, True)
    assert b"prefers tea" not in ada.file.read_bytes()
    code, document = ada.refused("show", "ada")
    assert (code, document["error"]["code"]) == (3, "memory_corrupt")
    assert "DCF_MEMORY_KEY" in document["error"]["hint"]
    code, document = ada.refused("doctor")
    assert "DCF_MEMORY_KEY" in check(document, "encryption")["hint"]
    ada.patch.setenv("DCF_MEMORY_KEY", "oolong")
    assert ada.refused("show", "ada")[1]["error"]["code"] == "memory_key"
    ada.patch.setenv("DCF_MEMORY_KEY", "jasmine")
    assert ada.text("ada") == "prefers tea"
    assert check(ada.ok("doctor"), "encryption")["found"] == "with the key of DCF_MEMORY_KEY"
    assert "keep DCF_MEMORY_KEY" in ada("backup").out
    opened = ada("rekey", "--decrypt", "--remove-old", "--yes")
    assert "Now unset DCF_MEMORY_KEY." in opened.out
    ada.patch.delenv("DCF_MEMORY_KEY")
    assert ada.text("ada") == "prefers tea"
    ada.patch.setenv("DCF_MEMORY_KEY", "oolong")
    hint = check(ada.refused("doctor")[1], "encryption")["hint"]
    assert "unset DCF_MEMORY_KEY" in hint


def test_at_a_terminal_the_new_key_is_asked_for_twice(ada: MemoryUser) -> None:
    pytest.importorskip("sqlcipher3")
    ada.answers("y", "y")
    ada.patch.setattr("dcf.cli.memory.rekey.at_terminal", lambda _screen: True)
    keys = ["jasmine", "jasmin", "jasmine", "jasmine"]
    ada.patch.setattr("getpass.getpass", lambda _prompt: keys.pop(0))
    assert "not the same" in ada("rekey").err
    assert ada("rekey").code == 0
    ada.patch.setenv("DCF_MEMORY_KEY", "jasmine")
    assert ada.ok("agents")["agents"]


def test_a_key_that_cannot_be_is_refused(ada: MemoryUser) -> None:
    ada.patch.setenv("DCF_MEMORY_NEW_KEY", "")
    ada.answers("y")
    ada.patch.setattr("dcf.cli.memory.rekey.at_terminal", lambda _screen: True)
    ada.patch.setattr("getpass.getpass", lambda _prompt: "")
    code, document = ada.refused("rekey")
    assert (code, document["error"]["code"]) == (2, "memory_unusable_key")


def test_export_and_import_keep_everything(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "prefers tea")
    ada.ok("agents", "ada", "--add-tag", "support", "--description", "Brews")
    written = ada.ok("export", "ada", "--out", "ada.af")["written"]
    assert [(one["file"], one["agents"]) for one in written] == [("ada.af", ["ada"])]
    [copy] = ada.ok("import", "ada.af")["agents"]
    assert copy["name"] == "ada-2"
    assert (copy["tags"], copy["description"]) == (["support"], "Brews")
    assert ada.text("ada-2") == "prefers tea"
    ada.ok("export", "ada-2", "--out", "copy.af")
    first, second = (json.loads((ada.folder / name).read_bytes()) for name in ("ada.af", "copy.af"))
    assert [one["value"] for one in first["blocks"]] == [one["value"] for one in second["blocks"]]


def test_agents_are_exported_to_a_folder_and_imported_from_it(ada: MemoryUser) -> None:
    for name in ("bo", "c/y", "c y", "../../etc"):
        ada.ok("init", name, "--tag", "t")
    written = ada.ok("export", "--tag", "t", "--out", "agents")["written"]
    names = {Path(one["file"]).name for one in written}
    assert len(names) == 4 and {"bo.af", "etc.af", "c-y.af"} < names
    assert {Path(one["file"]).parent for one in written} == {Path("agents")}
    assert len(ada.ok("export", "--all", "--out", "all.af")["written"][0]["agents"]) == 5
    tried = ada.ok("import", "agents", "--dry-run")
    assert sorted(one["name"] for one in tried["would_import"]) == ["../../etc", "bo", "c y", "c/y"]
    assert len(ada.ok("agents")["agents"]) == 5
    code, document = ada.refused("import", "agents", "--on-name-taken", "refuse")
    assert code == 2
    assert [one["code"] for one in document["problems"]] == ["CLI_AGENT_NAME"] * 4
    assert len(ada.ok("import", "agents")["agents"]) == 4
    assert "nothing was changed" in ada("import", "agents", "--dry-run").out


def test_a_file_that_is_there_is_not_written_over(ada: MemoryUser) -> None:
    ada.ok("init", "bo")
    ada.ok("export", "--all")
    code, document = ada.refused("export", "--all")
    assert code == 2
    assert sorted(one["file"] for one in document["problems"]) == ["ada.af", "bo.af"]
    ada.ok("export", "--all", "--overwrite")
    assert ada.refused("export", "nobody")[1]["error"]["code"] == "memory_unknown_agent"
    assert "no agent to export" in ada("export", "--tag", "z").out


def test_everything_that_is_wrong_in_all_files_is_said_and_nothing_comes_in(
    memory: MemoryUser,
) -> None:
    (memory.folder / "a.af").write_text("{")
    (memory.folder / "b.af").write_text('{"agents": [{}]}')
    (memory.folder / "empty").mkdir()
    code, document = memory.refused("import", "a.af", "b.af", "nowhere.af", "empty")
    assert code == 2
    assert {one["file"] for one in document["problems"]} == {"nowhere.af", "empty"}
    code, document = memory.refused("import", "a.af", "b.af")
    assert code == 2
    assert {one["file"] for one in document["problems"]} == {"a.af", "b.af"}
    assert all(one["code"].startswith("AGENT_FILE_") for one in document["problems"])
    assert not memory.file.exists()


TWO_THINGS = [
    ["import"],
    ["import", "a.af", "--letta", "http://127.0.0.1:1"],
    ["import", "a.af", "--tag", "t"],
    ["import", "--letta", "http://127.0.0.1:1", "--dry-run"],
    ["export"],
    ["export", "ada", "--all"],
    ["export", "ada", "--on-name-taken", "suffix"],
    ["import", "--letta", "moon"],
    ["export", "ada", "--letta", "moon"],
]


def test_orders_that_say_two_things_are_refused(ada: MemoryUser) -> None:
    for order in TWO_THINGS:
        assert ada.refused(*order)[0] == 2, order


def test_nobody_else_can_read_the_memory_or_what_is_exported(ada: MemoryUser) -> None:
    ada.ok("export", "ada", "--out", "ada.af")
    for file in (ada.file, ada.folder / "ada.af", Path(ada.ok("backup")["backup"])):
        assert file.stat().st_mode & 0o077 == 0


def test_a_letta_server_that_cannot_be_asked_is_said(ada: MemoryUser) -> None:
    server = "http://127.0.0.1:1"
    for order in (["import", "--letta", server], ["export", "ada", "--letta", server]):
        code, document = ada.refused(*order)
        assert code == 3
        assert document["error"]["code"] in ("letta_missing", "letta_unreachable")
        assert document["error"]["hint"]
    assert len(ada.ok("agents")["agents"]) == 1
