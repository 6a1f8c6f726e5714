"""Documents answer beside what was logged and beside code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from memory_world import Numbered, Ticking

from dcf.code import CodeHit
from dcf.documents import Piece, ReadDocument
from dcf.memory import SYSTEM, FileState, Memory, NewObservation, Origin, Source
from dcf.retrieval import (
    ContextQuestion,
    MemoryDocuments,
    MemoryItems,
    NewItem,
    ObservationShelf,
    Retrieval,
    Scored,
)
from dcf.retrieval.candidate import candidates_of
from dcf.retrieval.ranking import merged

TEA = ReadDocument(
    "Tea",
    "markdown",
    (
        Piece("Green tea is picked in spring.", ("Tea",), 1, 3),
        Piece("Cups are made of clay.", ("Tea", "Cups"), 4, 6),
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
        items, shelf = MemoryItems(memory, SYSTEM), MemoryDocuments(memory)
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
            MemoryItems(memory, SYSTEM), None, clock, observations=ObservationShelf(memory)
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


async def test_code_that_stands_in_a_document_is_found_once(tmp_path: Path) -> None:
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered(), embedder="none") as memory:
        await kept(memory, "/shop", "tea.md")
        hits = await MemoryDocuments(memory).find("/shop", "picked")
    code = [CodeHit("tea.md", *lines, "", "text", 1, 0.5, ()) for lines in ((2, 9), (4, 9))]
    own, document = candidates_of([], code, hits)
    assert own.citation == "dcf://code/tea.md/line/4-9"
    assert document.citation == "dcf://document/document-1/line/1-3"
    assert document.about["also"] == ["dcf://code/tea.md/line/2-9"]
    assert "also" not in candidates_of([], code[1:], hits)[1].about
    # A notebook's pieces have no lines, and its file says in JSON what they do.
    cells = [replace(one, piece=replace(one.piece, first_line=None)) for one in hits]
    (document,) = candidates_of([], code, cells)
    assert document.about["also"] == [one.citation for one in code]


async def test_what_stands_in_a_document_too_makes_it_as_near(tmp_path: Path) -> None:
    """A line that a stack trace names."""
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered(), embedder="none") as memory:
        await kept(memory, "/shop", "tea.md")
        hits = await MemoryDocuments(memory).find("/shop", "picked")
    code = [CodeHit("tea.md", 2, 2, "", "text", 1, 0.5, (), likeness=1.0)]
    (document,) = candidates_of([], code, hits)
    assert document.likeness == 1.0
    again = Scored(replace(document, citation="dcf://document/2", about={}), 0.5, ())
    (one,) = merged([Scored(document, 0.9, ()), again])
    assert one.candidate.about["also"] == ["dcf://code/tea.md/line/2", "dcf://document/2"]
    assert one.why == ("the same stands in 1 more",)
