"""What every backend of documents promises: one suite over all of them."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from uuid import uuid4

import pytest
from campaigns import REMEMBERED, settled
from memory_world import Ticking
from public_formats import examples
from unit.retrieval.conftest import OpenedDocuments

from dcf.documents import ReadDocument, ReadPiece
from dcf.memory import (
    SYSTEM,
    Document,
    DocumentFiles,
    FileState,
    InvalidEntry,
    PieceChoice,
    UnknownDocument,
    UnknownPlace,
)
from dcf.problem import Problem
from dcf.retrieval import FileDocuments, ProjectDocuments, migrate_documents

pytestmark = settled(*REMEMBERED)

SHOP, SITE = "/work/shop", "/work/site"
TEA = ReadDocument(
    "Tea",
    "pdf",
    (
        ReadPiece("Green tea is picked in spring.", ("Tea",), 1, 4, page=1),
        ReadPiece("Cups of tea are made of clay.", ("Tea", "Cups"), 5, 9, page=1),
        ReadPiece("Kettles whistle.", (), None, None, page=2),
    ),
    pages=2,
    problems=(Problem("document_scanned", "page 3 has no text", severity="warning"),),
)
FILE = FileState(90, "90-1-7", "ab12")


def read(*texts: str) -> ReadDocument:
    """A document with these pieces, each a line."""
    pieces = (ReadPiece(text, (), line, line) for line, text in enumerate(texts, 1))
    return ReadDocument("", "text", tuple(pieces))


async def keep(
    documents: ProjectDocuments, path: str, said: ReadDocument, project: str = SHOP
) -> Document:
    return await documents.keep(project, path, FILE, said, by=SYSTEM)


async def found(documents: ProjectDocuments, query: str, project: str = SHOP) -> list[str]:
    return [one.piece.text for one in await documents.find(project, query)]


async def test_a_document_comes_back_as_it_was_kept(documents: ProjectDocuments) -> None:
    kept = await keep(documents, "docs/tea.pdf", TEA)
    assert (kept.project, kept.path) == (SHOP, "docs/tea.pdf")
    assert (kept.title, kept.format) == ("Tea", "pdf")
    assert (kept.size, kept.digest, kept.pages, kept.pieces) == (90, "ab12", 2, 3)
    assert kept.problems == TEA.problems
    assert kept.added_at == kept.read_at > 1_700_000_000_000
    assert await documents.get(kept.id) == kept
    assert await documents.get("docs/tea.pdf", project=SHOP) == kept
    pieces = await documents.pieces(kept)
    assert [one.number for one in pieces] == [1, 2, 3]
    assert (
        tuple(
            ReadPiece(one.text, one.headings, one.first_line, one.last_line, one.page)
            for one in pieces
        )
        == TEA.pieces
    )
    assert {(one.document_id, one.path, one.title) for one in pieces} == {
        (kept.id, "docs/tea.pdf", "Tea")
    }
    assert [one.citation for one in pieces] == [
        f"dcf://document/{kept.id}/line/1-4",
        f"dcf://document/{kept.id}/line/5-9",
        f"dcf://document/{kept.id}/page/2",
    ]


async def test_a_file_that_is_read_again_is_the_same_document(documents: ProjectDocuments) -> None:
    first = await keep(documents, "tea.md", TEA)
    state = FileState(7, "7-2-7", "cd34")
    second = await documents.keep(SHOP, "tea.md", state, read("Black tea."), by=SYSTEM)
    assert (second.id, second.added_at) == (first.id, first.added_at)
    assert second.read_at > first.read_at and second.pieces == 1 and second.problems == ()
    assert await found(documents, "green spring cups kettles") == []
    assert await found(documents, "black") == ["Black tea."]
    assert [one.text for one in await documents.pieces(second)] == ["Black tea."]
    assert await documents.states(SHOP) == {"tea.md": (first.id, state)}


async def test_pieces_are_told_by_page_and_by_lines(documents: ProjectDocuments) -> None:
    kept = await keep(documents, "tea.pdf", TEA)

    async def numbers(**where: object) -> list[int]:
        chosen = PieceChoice(**where)  # type: ignore[arg-type]
        return [one.number for one in await documents.pieces(kept, chosen)]

    assert await numbers(page=1) == [1, 2] and await numbers(page=2) == [3]
    assert await numbers(lines=(4, 5)) == [1, 2] and await numbers(lines=(9, 30)) == [2]
    assert await numbers(limit=1, offset=1) == [2] and await numbers(limit=0) == []
    with pytest.raises(UnknownPlace, match=r"tea\.pdf has no text on page 3"):
        await documents.pieces(kept, PieceChoice(page=3))
    with pytest.raises(UnknownPlace, match=r"tea\.pdf has no text in lines 10 to 11"):
        await documents.pieces(kept, PieceChoice(lines=(10, 11)))


async def test_documents_are_listed_by_their_paths(documents: ProjectDocuments) -> None:
    for project, path in ((SITE, "a"), (SHOP, "é"), (SHOP, "b/c"), (SHOP, "B")):
        await keep(documents, path, read(path), project)
    assert [one.path for one in await documents.list(SHOP)] == ["B", "b/c", "é"]
    assert [one.path for one in await documents.list(SHOP, limit=1, offset=1)] == ["b/c"]
    everything = [(one.project, one.path) for one in await documents.list()]
    assert everything == [(SHOP, "B"), (SHOP, "b/c"), (SHOP, "é"), (SITE, "a")]
    assert await documents.list("/work/nothing") == ()


async def test_a_stamp_is_confirmed_alone(documents: ProjectDocuments) -> None:
    kept = await keep(documents, "tea.pdf", TEA)
    await documents.confirm(kept.id, "90-2-7", by=SYSTEM)
    await documents.confirm("document-none", "1", by=SYSTEM)
    assert await documents.states(SHOP) == {"tea.pdf": (kept.id, FileState(90, "90-2-7", "ab12"))}
    assert await documents.get(kept.id) == kept
    assert len(await found(documents, "tea")) == 3


async def test_what_another_reader_read_is_read_again(
    documents: ProjectDocuments, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = await keep(documents, "tea.pdf", TEA)
    monkeypatch.setattr("dcf.memory.documents.kept_document.READER", 1_000)
    assert await documents.states(SHOP) == {"tea.pdf": (kept.id, FileState(90, "", ""))}


async def test_the_states_of_files_are_told_by_their_documents_ids(
    documents: ProjectDocuments,
) -> None:
    tea, cups = [await keep(documents, path, TEA) for path in ("tea.pdf", "cups.pdf")]
    theirs = await keep(documents, "tea.pdf", TEA, SITE)
    asked = [tea.id, theirs.id, "document-none"]
    assert await documents.files(SHOP, asked) == {tea.id: FILE}
    await documents.confirm(cups.id, "90-2-7", by=SYSTEM)
    assert await documents.files(SHOP, [cups.id]) == {cups.id: FileState(90, "90-2-7", "ab12")}
    assert await documents.files(SHOP, []) == {}


async def test_what_is_removed_is_gone(documents: ProjectDocuments) -> None:
    kept = await keep(documents, "tea.pdf", TEA)
    stays = await keep(documents, "cups.txt", read("Cups of glass."))
    assert await documents.remove(kept.id, by=SYSTEM) == kept
    for unknown in (kept.id, "tea.pdf", "document-none", "../x", "a\0b", "x" * 300):
        with pytest.raises(UnknownDocument):
            await documents.remove(unknown, by=SYSTEM)
        with pytest.raises(UnknownDocument):
            await documents.get(unknown, project=SHOP)
    assert await documents.list(SHOP) == (stays,)
    assert await documents.pieces(kept) == ()
    assert await found(documents, "tea") == []
    assert await found(documents, "glass") == ["Cups of glass."]
    assert (await keep(documents, "tea.pdf", TEA)).id != stays.id


async def test_no_project_sees_what_another_has(documents: ProjectDocuments) -> None:
    ours = await keep(documents, "tea.md", read("Tea of the shop."))
    theirs = await keep(documents, "tea.md", read("Tea of the site."), SITE)
    assert ours.id != theirs.id
    assert await found(documents, "tea") == await found(documents, "") == ["Tea of the shop."]
    assert await documents.get("tea.md", project=SITE) == theirs
    assert list(await documents.states(SITE)) == ["tea.md"]
    with pytest.raises(UnknownDocument):
        await documents.get("tea.md")
    with pytest.raises(UnknownDocument):
        await documents.get("tea.md", project="/work/nothing")


async def test_the_best_come_first_with_the_reason(documents: ProjectDocuments) -> None:
    await keep(
        documents,
        "a.md",
        read("a parser of one thing", "a gardener", "headers of the parser failed", "the parser"),
    )
    hits = await documents.find(SHOP, "why does a parser fail on headers?")
    assert hits[0].piece.text == "headers of the parser failed" and hits[0].piece.number == 3
    assert len(hits) == 3
    scores = [one.score for one in hits]
    assert sorted(scores, reverse=True) == scores and 0 < scores[0] <= 1
    assert all("words" in one.why for one in hits)
    assert await documents.find(SHOP, "why does a parser fail on headers?", limit=1) == hits[:1]


async def test_a_piece_is_found_by_where_it_stands_and_by_parts_of_names(
    documents: ProjectDocuments,
) -> None:
    await keep(documents, "JsonDataLoader.md", TEA)
    assert await found(documents, "clay cup") == ["Cups of tea are made of clay."]
    assert await found(documents, "which kettle whistles") == ["Kettles whistle."]
    assert len(await found(documents, "data loaders")) == 3
    assert await found(documents, "osaka \udce9") == []


async def test_without_words_what_was_read_last_comes_first(documents: ProjectDocuments) -> None:
    await keep(documents, "a", read("one", "two"))
    await keep(documents, "b", read("three"))
    for query in ("", "?!"):
        hits = await documents.find(SHOP, query, limit=2)
        assert [one.piece.text for one in hits] == ["three", "one"]
        assert {one.why for one in hits} == {"newest"}


async def test_no_secret_is_kept(documents: ProjectDocuments, tmp_path: Path) -> None:
    one = next(each for each in examples(26) if each.maker == "GitHub")
    piece = ReadPiece(f"it is {one.text} now", (f"Of {one.text}",), 1, 1)
    said = ReadDocument(f"Title {one.text}", "text", (piece,))
    kept = await keep(documents, "a.txt", said)
    assert kept.title == "Title [redacted: github token]"
    (told,) = await documents.pieces(kept)
    assert told.text == "it is [redacted: github token] now"
    assert told.headings == ("Of [redacted: github token]",)
    with pytest.raises(InvalidEntry, match="path has in it what only a secret looks like"):
        await keep(documents, f"{one.text}.txt", read("x"))
    assert len(await documents.list()) == 1
    files = [each for each in tmp_path.rglob("*") if each.is_file()]
    assert all(one.drawn.encode() not in each.read_bytes() for each in files)


async def test_many_at_once_lose_nothing(documents: ProjectDocuments) -> None:
    async def kept(number: int) -> Document:
        project = (SHOP, SITE)[number % 2]
        # Five of a project keep the same file.
        return await keep(documents, f"{number % 8}", read(f"parser {number}", "end"), project)

    some = await asyncio.gather(*map(kept, range(40)))
    assert len({one.id for one in some}) == 8
    for rest, project in enumerate((SHOP, SITE)):
        listed = await documents.list(project)
        assert {one.path for one in listed} == {str(n) for n in range(8) if n % 2 == rest}
        for one in listed:
            first, last = await documents.pieces(one)
            assert int(first.text.split()[1]) % 8 == int(one.path) and last.text == "end"
        assert len(await documents.find(project, "parser", limit=50)) == 4


async def test_files_are_followed(documents: ProjectDocuments, tmp_path: Path) -> None:
    root = tmp_path / "shop"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "tea.md").write_text("# Tea\n\nGreen tea.\n\n## Cups\n\nOf clay.\n")
    (root / "docs" / "cups.txt").write_text("Cups.\n")
    unnamed = root / "docs" / os.fsdecode(b"caf\xe9.txt")
    unnamed.write_text("No name.\n")

    async def outcomes() -> dict[str, str]:
        reports = DocumentFiles(documents).sync(root, project=str(root), by=SYSTEM)
        return {one.path: one.outcome async for one in reports}

    (refused,) = [
        one async for one in DocumentFiles(documents).sync(unnamed, project=str(root), by=SYSTEM)
    ]
    assert (refused.path, refused.outcome) == (r"docs/caf\udce9.txt", "refused")
    assert "no UTF-8" in refused.problems[0].message
    unnamed.unlink()
    assert await outcomes() == {"docs/cups.txt": "added", "docs/tea.md": "added"}
    (root / "docs" / "tea.md").write_text("Black tea.\n")
    (root / "docs" / "cups.txt").unlink()
    assert await outcomes() == {"docs/cups.txt": "removed", "docs/tea.md": "changed"}
    assert await outcomes() == {"docs/tea.md": "unchanged"}
    assert await found(documents, "tea", str(root)) == ["Black tea."]


async def test_each_process_sees_what_others_do(lasting_documents: OpenedDocuments) -> None:
    async with lasting_documents() as one, lasting_documents() as other:
        kept = await keep(one, "tea.md", read("Green tea."))
        assert await found(other, "tea") == ["Green tea."]
        again = await keep(other, "tea.md", read("Black tea."))
        assert again.id == kept.id
        assert await found(one, "tea") == ["Black tea."]
        assert await one.get("tea.md", project=SHOP) == again
        await one.remove(kept.id, by=SYSTEM)
        assert await found(other, "tea") == []
        with pytest.raises(UnknownDocument):
            await other.remove(kept.id, by=SYSTEM)
        both = [
            keep(each, f"{number // 2}", read(f"gardener {number}"))
            for number, each in enumerate((one, other) * 8)
        ]
        ids = [document.id for document in await asyncio.gather(*both)]
        assert len(set(ids)) == 8
        for each in (one, other):
            assert len(await each.list(SHOP)) == len(await found(each, "gardener")) == 8


def test_a_kill_leaves_documents_whole(lasting_documents: OpenedDocuments) -> None:
    """Of what is to last. One file is kept again and again, and beside it new ones."""
    reading, writing = os.pipe()
    many = 40

    async def keep_for_ever() -> None:
        async with lasting_documents() as documents:

            async def kept(path: str, number: int) -> None:
                await keep(documents, path, read(*[f"round {number}"] * many))
                os.write(writing, f"{number} {path}\n".encode())

            number = 0
            while True:
                number += 1
                await asyncio.gather(kept("again", number), kept(f"new {number}", number))

    async def said() -> dict[str, list[str]]:
        async with lasting_documents() as documents:
            listed = await documents.list(SHOP, limit=10_000)
            assert all(one.pieces == many for one in listed)
            assert len(await documents.find(SHOP, "round", limit=100)) == 100
            return {
                one.path: [piece.text for piece in await documents.pieces(one)] for one in listed
            }

    child = os.fork()
    if child == 0:
        try:
            asyncio.run(keep_for_ever())
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as told:
        lines = [told.readline() for _ in range(12)]
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        lines += [line for line in told if line.endswith("\n")]
    ends = (line.strip().split(" ", 1) for line in lines)
    acknowledged = {path: int(number) for number, path in ends}
    kept = asyncio.run(said())
    # The last of each may have been kept without a word of it.
    assert set(kept) >= set(acknowledged) and len(kept) <= len(acknowledged) + 1
    for path, texts in kept.items():
        (one,) = set(texts)
        number = int(one.removeprefix("round "))
        assert len(texts) == many
        assert number - acknowledged.get(path, number) in (0, 1 if path == "again" else 0)


async def test_a_document_is_taken_over_as_it_is_elsewhere(
    documents: ProjectDocuments, tmp_path: Path
) -> None:
    elsewhere = FileDocuments(
        tmp_path / "elsewhere", Ticking(), lambda kind: f"{kind}-old-{uuid4()}"
    )
    tea = await keep(elsewhere, "tea.pdf", TEA)
    cups = await keep(elsewhere, "cups.md", read("cups of clay"), SITE)
    mine = await keep(documents, "kettle.md", read("my kettle"))
    await keep(elsewhere, "kettle.md", read("another kettle"))
    for _ in range(2):  # again, as after a kill
        done = await migrate_documents(elsewhere, documents, by=SYSTEM)
    assert (done.copied, done.there, done.refused) == (0, 3, {})
    assert await documents.get(tea.id) == tea and await documents.get(cups.id) == cups
    assert await documents.pieces(tea) == await elsewhere.pieces(tea)
    assert await documents.states(SITE) == await elsewhere.states(SITE)
    assert await documents.get("kettle.md", project=SHOP) == mine
    assert "Green tea is picked in spring." in await found(documents, "picked tea")
