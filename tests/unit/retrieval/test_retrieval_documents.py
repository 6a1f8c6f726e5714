"""Documents answer beside what was logged and beside code."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
from memory_world import Numbered, Ticking

from dcf.code import CodeHit
from dcf.documents import ReadDocument, ReadPiece
from dcf.memory import (
    SYSTEM,
    DocumentFiles,
    DocumentPiece,
    FileState,
    Memory,
    NewObservation,
    Origin,
    Source,
)
from dcf.retrieval import (
    AuditLog,
    CodeRetrievers,
    ContextQuestion,
    NewItem,
    ObservationRetriever,
    Retrieval,
    Scored,
    SqliteDocuments,
    SqliteItems,
    maintain,
)
from dcf.retrieval.backend import DocumentHit
from dcf.retrieval.candidate import candidates_of
from dcf.retrieval.ranking import fused, merged

TEA = ReadDocument(
    "Tea",
    "markdown",
    (
        ReadPiece("Green tea is picked in spring.", ("Tea",), 1, 3),
        ReadPiece("Cups are made of clay.", ("Tea", "Cups"), 4, 6),
    ),
)


async def kept(memory: Memory, project: str, path: str) -> None:
    await memory.documents.keep(project, path, FileState(1, "", ""), TEA, by=SYSTEM)


async def test_a_context_has_the_documents_of_its_project_with_their_citations(
    tmp_path: Path,
) -> None:
    source, clock = Source(tmp_path / "m.db"), Ticking()
    async with Memory.open(source, clock=clock, new_id=Numbered(), embedder="none") as memory:
        await kept(memory, "/shop", "tea.md")
        await kept(memory, "/other", "theirs.md")
        items, shelf = SqliteItems(memory, SYSTEM), SqliteDocuments(memory)
        retrieval = Retrieval(items, None, clock, documents=shelf)
        await retrieval.log("/shop", NewItem("Tea is late this spring."))
        answered = await retrieval.context(ContextQuestion("/shop", "tea picked in spring"))
    found = [one.candidate for one in answered.found]
    assert [(one.type, one.text) for one in found] == [
        ("document", "Green tea is picked in spring."),
        ("memory", "Tea is late this spring."),
        # The heading above it says "Tea".
        ("document", "Cups are made of clay."),
    ]
    assert found[0].citation == "dcf://document/document-1/line/1-3"
    assert found[0].about["file_path"] == "tea.md" and found[0].about["headings"] == ["Tea"]


async def test_a_context_has_what_was_observed_in_its_project(tmp_path: Path) -> None:
    source, clock = Source(tmp_path / "m.db"), Ticking()
    async with Memory.open(source, clock=clock, new_id=Numbered(), embedder="none") as memory:
        seen = [
            NewObservation("bugfix", f"a retry got over the timeout of {folder}", run, folder)
            for folder, run in (("/shop", Origin("run", "r1")), ("/other", Origin("run", "r2")))
        ]
        kept, _ = await memory.observations.add(*seen, by=SYSTEM)
        retrieval = Retrieval(
            SqliteItems(memory, SYSTEM), None, clock, observations=ObservationRetriever(memory)
        )
        await retrieval.log("/shop", NewItem("The timeout comes at noon."))
        asked = ContextQuestion("/shop", "which retry helps with a timeout?")
        found = [one.candidate for one in (await retrieval.context(asked)).found]
    assert [(one.type, one.citation) for one in found] == [
        ("observation", str(kept.citation)),
        ("memory", "dcf://memory/passage-1"),
    ]
    assert "a retry got over the timeout of /shop" in found[0].text
    assert found[0].timestamp == kept.at


def piece(text: str, first_line: int | None, last_line: int | None = None) -> DocumentHit:
    made = ("1", 1, "pay.py", "Pay", text, (), first_line, last_line, None)
    return DocumentHit(
        DocumentPiece(*made, f"dcf://document/1/line/{first_line}"), 0.5, "words: pay"
    )


def code(text: str, first_line: int, last_line: int) -> CodeHit:
    return CodeHit("pay.py", first_line, last_line, "", text, 1, 0.5, ())


def test_code_that_a_piece_of_a_document_says_is_found_once() -> None:
    twice = "def pay():\n    return 1"
    pieces = [piece(f"import tea\n\n{twice}", 1, 4), piece(f"{twice}\n\n\ndone = 1", 21, 25)]
    one, document = candidates_of([], [code(twice, 21, 22)], pieces)
    assert "also" not in one.about and document.about["also"] == ["dcf://code/pay.py/line/21-22"]
    elsewhere = replace(code(twice, 21, 22), path="tea.py")
    assert [one.kind for one in candidates_of([], [elsewhere], pieces[:1])] == ["code", "document"]


@pytest.mark.parametrize(
    ("known", "now"),
    [
        ("def pay():\n    return OLD", "def pay():\n    return NEW"),
        ("limit = 12", "limit = 1"),
        ("def pay():\n    return 1", "def pay():\n    return 1\n\n\ndef refund():\n    return 2"),
        ("def pay():\n    return 1", ""),
    ],
)
def test_code_that_a_document_does_not_say_as_it_is_now_is_kept(known: str, now: str) -> None:
    """The document is older than the file, or the piece says a part of it."""
    lines = (1, now.count("\n") + 1)
    found = candidates_of([], [code(now, *lines)], [piece(known, 1, known.count("\n") + 1)])
    assert [(one.kind, one.text) for one in found] == [("code", now), ("document", known)]
    assert "also" not in found[1].about


def test_code_of_a_notebook_is_found_once_where_its_cells_say_it() -> None:
    cells = [["# Pay\n", 'by "card"'], ["def pay():\n", "    return 1"], "print(pay())"]
    book = {"cells": [{"cell_type": "code", "source": one} for one in cells]}
    text = json.dumps(book, indent=1)
    hits = [piece("".join(one), None) for one in cells]
    one, *others = candidates_of([], [code(text, 1, 30)], hits)
    assert one.about["also"] == ["dcf://code/pay.py/line/1-30"]
    assert not any("also" in one.about for one in others)
    edited = text.replace("return 1", "return 2")
    assert candidates_of([], [code(edited, 1, 30)], hits)[0].text == edited
    assert candidates_of([], [code(text, 1, 30)], hits[:2])[0].kind == "code"
    assert candidates_of([], [code('{\n "x": 1,', 1, 2)], hits)[0].kind == "code"


@pytest.mark.parametrize(
    ("path", "pieces", "is_same"),
    [
        ("pay.md", [("return 1", 5, 7), ("def pay", 1, 3)], True),
        ("pay.md", [("return 1", 5, 7)], True),
        ("pay.md", [("return 1", 7, 40)], True),
        ("pay.md", [("elsewhere", 8, 40)], False),
        ("pay.csv", [("| def pay |", 2, 9)], True),
        ("pay.ipynb", [("brew", None, None)], True),
        ("pay.py", [("return 1", 5, 7), ("def pay", 1, 3)], True),
        ("pay.py", [("return 1", 5, 7)], False),
    ],
)
def test_code_of_a_file_that_is_as_the_document_is_found_once(
    path: str, pieces: list[tuple[str, int | None, int | None]], is_same: bool
) -> None:
    """Lines 1 to 7, of which the fourth is blank."""
    window = replace(code("def pay\n(a,\nb)\n\n:\n\nreturn 1", 1, 7), path=path)
    made = (piece(*one) for one in pieces)
    hits = [replace(one, piece=replace(one.piece, path=path)) for one in made]
    found = candidates_of([], [window], hits, same=[path])
    assert [one.kind for one in found] == ["code"] * (not is_same) + ["document"] * len(hits)
    documents = [one for one in found if one.kind == "document"]
    also = [window.citation] if is_same else None
    assert [one.about.get("also") for one in documents] == [also, None][: len(hits)]
    # What a stack trace names leads to the line itself.
    traced = candidates_of([], [replace(window, frame=0)], hits, same=[path])
    assert traced[0].kind == "code"
    # So is what the file says and the document may not.
    assert candidates_of([], [window], hits)[0].kind == "code"


async def test_a_file_that_is_code_and_a_document_is_listed_once_while_both_are_as_it_is(
    tmp_path: Path,
) -> None:
    project, shelf = tmp_path / "project", CodeRetrievers(tmp_path / "code")
    project.mkdir()
    text = "part,price\nkettle,30\ncup,4\n"
    (project / "prices.csv").write_text(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    table = "| part | price |\n| --- | --- |\n| kettle | 30 |\n| cup | 4 |"
    read = ReadDocument("", "csv", (ReadPiece(table, (), 2, 3),))
    source, clock = Source(tmp_path / "m.db"), Ticking()
    async with Memory.open(source, clock=clock, new_id=Numbered(), embedder="none") as memory:
        state = FileState(len(text), "", digest)
        await memory.documents.keep(str(project), "prices.csv", state, read, by=SYSTEM)
        documents = SqliteDocuments(memory)
        retrieval = Retrieval(SqliteItems(memory, SYSTEM), shelf, clock, documents=documents)
        asked = ContextQuestion(str(project), "what is the price of the kettle?")
        (one,) = (await retrieval.context(asked)).found
        (project / "prices.csv").write_text(f"{text}kettle of iron,50\n")
        await shelf.of(str(project)).sync()
        edited = (await retrieval.context(asked)).found
    await shelf.close()
    assert (one.candidate.kind, one.candidate.text) == ("document", table)
    assert one.candidate.about["also"] == ["dcf://code/prices.csv/line/1-3"]
    assert {found.candidate.kind for found in edited} == {"code", "document"}
    assert not any("also" in found.candidate.about for found in edited)


async def test_what_stands_in_a_document_too_makes_it_as_near(tmp_path: Path) -> None:
    """A line that a stack trace names."""
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered(), embedder="none") as memory:
        await kept(memory, "/shop", "tea.md")
        hits = await SqliteDocuments(memory).find("/shop", "picked")
    code = [CodeHit("tea.md", 2, 2, "", "picked in spring.", 1, 0.5, (), likeness=1.0)]
    (document,) = candidates_of([], code, hits)
    assert document.likeness == 1.0
    again = Scored(replace(document, citation="dcf://document/2", about={}), 0.5, ())
    (one,) = merged([Scored(document, 0.9, ()), again])
    assert one.candidate.about["also"] == ["dcf://code/tea.md/line/2", "dcf://document/2"]
    assert one.why == ("the same stands in 1 more",)


async def _added(memory: Memory, root: Path, name: str, text: str) -> None:
    (root / name).write_text(text)
    found = DocumentFiles(memory.documents).sync(root / name, project=str(root), by=SYSTEM)
    assert [one.outcome async for one in found] == ["added"]


async def test_what_its_file_no_longer_says_is_marked_and_comes_behind(tmp_path: Path) -> None:
    root, clock = tmp_path / "shop", Ticking()
    root.mkdir()
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=clock, new_id=Numbered(), embedder="none") as memory:
        for name in ("moon", "mars", "sun", "star"):
            text = f"The {name} rises at seven in the harbour.\n"
            await _added(memory, root, f"{name}.txt", text)
        (root / "moon.txt").unlink()
        # As long as it was, and later.
        (root / "mars.txt").write_text("The mars rises at eight in the harbour.\n")
        # Written anew, and says what it said.
        same = (root / "sun.txt").read_text()
        (root / "sun.txt").unlink()
        (root / "sun.txt").write_text(same)
        shelf = SqliteDocuments(memory)
        retrieval = Retrieval(SqliteItems(memory, SYSTEM), None, clock, documents=shelf)
        question = ContextQuestion(str(root), "when does the moon rise in the harbour?")
        answered = (await retrieval.context(question)).found
        by_file = {one.candidate.about["file_path"]: one for one in answered}
        assert set(list(by_file)[:2]) == {"sun.txt", "star.txt"}
        assert by_file["moon.txt"].why[-1].startswith("the file is gone since it was added")
        assert by_file["mars.txt"].why[-1].startswith("the file changed since it was added")
        assert [one.score for one in answered] == sorted(
            (one.score for one in answered), reverse=True
        )
        for name in ("sun.txt", "star.txt"):
            assert not any("since it was added" in why for why in by_file[name].why)

        # Where the project is not on this machine nothing is known of its files.
        root.rename(tmp_path / "elsewhere")
        await asyncio.sleep(1.1)
        for one in (await retrieval.context(question)).found:
            assert one.candidate.outdated == ""


async def test_maintenance_has_documents_as_their_files_are(tmp_path: Path) -> None:
    root, clock = tmp_path / "shop", Ticking()
    root.mkdir()
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=clock, new_id=Numbered(), embedder="none") as memory:
        for name in ("moon", "mars", "sun"):
            await _added(memory, root, f"{name}.txt", f"The {name} rises at seven.\n")
        (root / "new.txt").write_text("Nobody added this.\n")
        (root / "moon.txt").unlink()
        (root / "mars.txt").write_text("Mars rises at noon.\n")
        shelf = SqliteDocuments(memory)
        audit = AuditLog(tmp_path / "audit", clock)
        items = SqliteItems(memory, SYSTEM)
        retrieval = Retrieval(items, None, clock, documents=shelf, audit=audit)
        moon = await memory.documents.get("moon.txt", project=str(root))
        # Of a project that is not on this machine nothing is taken away.
        await kept(memory, "/nowhere/shop", "tea.md")
        done = await maintain(retrieval, [str(root), "/nowhere/shop"], clock(), 90)
        assert (done.reread, done.removed) == (1, 1)
        there = await memory.documents.list()
        assert sorted(one.path for one in there) == ["mars.txt", "sun.txt", "tea.md"]
        (mars,) = await shelf.find(str(root), "noon")
        assert mars.piece.text.strip() == "Mars rises at noon."
        (noted,) = await audit.entries()
        assert (noted.operation, noted.ids) == ("delete", (moon.citation,))
        again = await maintain(retrieval, [str(root)], clock(), 90)
        assert (again.reread, again.removed) == (0, 0)


def test_what_is_outdated_hides_no_code_that_says_the_same() -> None:
    text = "The harbour opens at seven."
    piece = DocumentPiece("d-1", 1, "a.txt", "", text, (), 1, 1, None, "dcf://document/d-1")
    code = CodeHit("a.txt", 1, 1, "", text, 7, 0.5, ("words",))
    old = DocumentHit(piece, 1.0, "words", outdated="the file changed")
    found = merged(fused("harbour", candidates_of((), (code,), (old,))))
    assert [one.candidate.kind for one in found] == ["code"]
    assert found[0].candidate.about["also"] == ["dcf://document/d-1"]
