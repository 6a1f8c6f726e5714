"""``dcf memory forget --about``: what it says, what goes from every store, and its receipt."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from memory_user import MemoryUser
from memory_world import Numbered

from dcf.cli.entry import run_command
from dcf.code import CodeRetriever
from dcf.documents import ReadDocument, ReadPiece
from dcf.memory import SYSTEM, FileState
from dcf.retrieval import FileDocuments


@pytest.fixture
def told(memory: MemoryUser) -> MemoryUser:
    """A memory that names Ann Miller, and files of logged items and of documents that do."""
    memory("init", "ada")
    for text in ("Ann Miller: Elm Street", "likes tea"):
        memory("remember", "ada", text)
    memory("remember", "ada", "minutes with ann miller", "--passage")
    documents = FileDocuments(memory.home / "items", lambda: 1, Numbered())
    for name in ("minutes", "recipe"):
        piece = ReadPiece("Ann Miller was there." if name == "minutes" else "Heat it.", (), 1, 1)
        said = ReadDocument(name, "text", (piece,))
        asyncio.run(documents.keep("/shop", name, FileState(1, "", ""), said, by=SYSTEM))
    folder = memory.home / "items" / "artifacts-1"
    folder.mkdir(parents=True)
    lines = [
        {"id": "i-1", "text": "Ann\nMiller broke it", "tags": [], "timestamp": 1},
        {"id": "i-2", "text": "it works", "tags": [], "timestamp": 2},
    ]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (folder / "items-1970-01-01.jsonl").write_text(f'{text}{{"id": "i-3", "text": "Ann Miller')
    return memory


READ_FROM = "files that documents were read from"


def unreached(told: dict[str, Any]) -> list[dict[str, str]]:
    """Besides the file of the document that names her everywhere here."""
    return [one for one in told["unreached"] if one["where"] != READ_FROM]


def named_in(folder: Path) -> list[str]:
    files = [one for one in folder.rglob("*") if one.is_file()]
    return [one.name for one in files if b"miller" in one.read_bytes().lower()]


def test_it_is_looked_for_first_then_forgotten_and_there_is_a_receipt(
    told: MemoryUser, tmp_path: Path
) -> None:
    looked = told.ok("forget", "--about", "Ann Miller", "--dry-run")
    assert looked["status"] == "tried"
    assert [one["where"] for one in looked["unreached"]] == [READ_FROM]
    kinds = [one["kind"] for one in looked["found"]["memory"]]
    assert kinds == ["passage", "block", "history of block", "history of passage"]
    assert [one["ref"] for one in looked["found"]["files of items"]] == ["i-1"]
    assert [one["ref"] for one in looked["found"]["files of documents"]] == ["document-1"]
    assert "Elm" not in json.dumps(looked)
    code, refused = told.refused("forget", "--about", "Ann Miller")
    assert (code, refused["error"]["hint"]) == (1, "say --yes if you mean it")
    assert named_in(told.home)
    file = tmp_path / "receipt.json"
    told.ok("forget", "--about", "Ann Miller", "--yes", "--receipt", file)
    assert named_in(told.home) == []
    receipt = json.loads(file.read_text())
    assert receipt["counts"]["memory: passage"] == receipt["counts"]["files of items: item"] == 1
    assert receipt["counts"]["files of documents: document"] == 1
    assert [one.name for one in told.home.rglob("document-*.json")] == ["document-2.json"]
    assert "iller" not in file.read_text()
    again = told.ok("receipts", receipt["id"], "--about", "ann  miller")
    assert again["status"] == "holds" and again["receipt"] == receipt
    assert [one["id"] for one in told.ok("receipts")["receipts"]] == [receipt["id"]]
    assert "forgotten for good" in told("history", "ada").out
    assert told.text("ada") == "likes tea"
    told("remember", "ada", "Ann Miller is back")
    done = told("receipts", receipt["id"], "--about", "Ann Miller", "--json")
    assert done.code == 1
    problems = json.loads(done.out)["problems"]
    assert {one["code"] for one in problems} == {"memory_named_again"}


def test_that_it_went_is_noted_for_whichever_project_it_was(
    told: MemoryUser, capsys: pytest.CaptureFixture[str]
) -> None:
    told.ok("forget", "--about", "Ann Miller", "--yes")
    capsys.readouterr()
    assert run_command(["retrieval", "audit", "--json"]) == 0
    (noted,) = json.loads(capsys.readouterr().out)["accesses"]
    assert (noted["operation"], noted["count"]) == ("delete", len(noted["ids"]))
    assert {"i-1", "document-1"} <= set(noted["ids"]) and "i-2" not in noted["ids"]
    assert "iller" not in json.dumps(noted)


def test_rows_that_may_mean_it_are_listed_and_stay(told: MemoryUser) -> None:
    told.ok("remember", "ada", "title,last\nDr. Ann,Quux", "--passage")
    looked = told("forget", "--about", "Ann Quux", "--dry-run", "--json")
    fields = json.loads(looked.out)
    assert fields["count"] == 0 and "passage" in [
        one["kind"] for one in fields["perhaps"]["memory"]
    ]
    shown = told("forget", "--about", "Ann Quux", "--dry-run").out
    assert "0 places would go\nThese stay, and may mean it" in shown
    told.ok("forget", "--about", "Dr. Ann,Quux", "--yes")
    looked = told("forget", "--about", "Ann Quux", "--dry-run", "--json")
    assert not any(json.loads(looked.out)["perhaps"].values())


def test_a_place_that_was_migrated_to_is_named_as_long_as_it_is_there(
    told: MemoryUser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "moved"
    assert run_command(["retrieval", "log", "Ann Miller called"]) == 0
    for _ in range(2):
        assert run_command(["retrieval", "migrate", "sqlite", f"file:{folder}"]) == 0
    capsys.readouterr()
    looked = told.ok("forget", "--about", "Ann Miller", "--dry-run")
    (one,) = unreached(looked)
    assert one["where"] == f"file:{folder}" and f"MEM_PATH={folder}" in one["hint"]
    told.patch.setenv("MEM_PATH", str(folder))
    told.patch.setenv("MEM_BACKEND", "file")
    assert unreached(told.ok("forget", "--about", "Ann Miller", "--dry-run")) == []
    told.patch.delenv("MEM_PATH")
    told.patch.delenv("MEM_BACKEND")
    shutil.rmtree(folder)
    assert unreached(told.ok("forget", "--about", "Ann Miller", "--dry-run")) == []


def test_a_copy_of_the_memory_is_named(told: MemoryUser) -> None:
    backup = told.ok("backup")["backup"]
    looked = told.ok("forget", "--about", "Ann Miller", "--dry-run")
    assert [one["where"] for one in unreached(looked)] == [backup]


def test_what_another_backend_kept_is_looked_through_too(told: MemoryUser) -> None:
    other = told.folder / "other" / "artifacts-1"
    other.mkdir(parents=True)
    line = {"id": "i-9", "text": "Ann Miller rang", "tags": [], "timestamp": 1}
    (other / "items-1970-01-01.jsonl").write_text(f"{json.dumps(line)}\n")
    told.patch.setenv("MEM_BACKEND", "file")
    told.patch.setenv("MEM_PATH", str(other.parent))
    told.patch.setenv("DATABASE_URL", "postgresql://127.0.0.1:1/shop")
    receipt = told.ok("forget", "--about", "Ann Miller", "--yes")["receipt"]
    counts = receipt["counts"]
    assert counts["files of items: item"] == counts["files of items in MEM_PATH: item"] == 1
    assert [one["where"] for one in unreached(receipt)] == ["PostgreSQL"]
    assert named_in(told.home) == named_in(other) == []


def test_a_graph_that_was_told_is_named(told: MemoryUser) -> None:
    data = told.home / "graph" / "data"
    data.mkdir(parents=True)
    (data / "dump.rdb").touch()
    looked = told.ok("forget", "--about", "Ann Miller", "--dry-run")
    assert [one["where"] for one in unreached(looked)] == ["graph"]


def test_an_index_of_code_that_names_it_is_removed(told: MemoryUser) -> None:
    code, plain = (told.home / "code" / f"{name}.db" for name in ("named", "plain"))
    for index, text in ((code, "Ann Miller = 4\n"), (plain, "tea = 4\n")):
        project = told.folder / index.stem
        project.mkdir()
        (project / "tables.py").write_text(text)
        asyncio.run(CodeRetriever(project, index).sync())
    # The file is gone, and the index does not know that.
    (told.folder / "named" / "tables.py").unlink()
    receipt = told.ok("forget", "--about", "Ann Miller", "--yes")["receipt"]
    stones = [one["ref"] for one in receipt["tombstones"] if one["kind"] == "index"]
    assert stones == ["named.db"] and plain.exists()
    assert [one["where"] for one in unreached(receipt)] == ["files of projects"]
    assert named_in(told.home) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--about", "ab"), "fewer than 3"),
        (("ada", "--about", "Ann Miller"), "--about is of all agents"),
        (("ada", "tea", "--dry-run"), "it is for --about"),
        ((), "say whose memory"),
    ],
)
def test_what_cannot_be_meant_is_said(told: MemoryUser, given: tuple[str, ...], said: str) -> None:
    done = told("forget", *given)
    assert done.code in (1, 2) and said in done.err


def test_a_logged_item_of_deep_json_goes_as_others_do(told: MemoryUser) -> None:
    [file] = (told.home / "items").glob("*/items-*.jsonl")
    text = '{"a":' + "[" * 900 + '"Ann\\u0020Miller"' + "]" * 900 + "}"
    line = json.dumps({"id": "i-9", "text": text, "tags": [], "timestamp": 3})
    file.write_text(f"{line}\n{file.read_text()}")
    told.ok("forget", "--about", "Ann Miller", "--yes")
    assert "iller" not in file.read_text() and "it works" in file.read_text()
