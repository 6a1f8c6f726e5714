"""Files of documents: what is in them, what is damaged, and a kill at any step."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from campaigns import REMEMBERED, settled
from memory_world import Numbered, Ticking
from unit.retrieval.test_retrieval_files import room_for
from unit.retrieval.test_retrieval_kept_documents import SHOP, TEA, found, keep, read

from dcf.documents.reader import READER
from dcf.memory import SYSTEM, random_id
from dcf.retrieval import FileDocuments, FolderUnusable

pytestmark = settled(*REMEMBERED)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "items"


@pytest.fixture
def documents(folder: Path, clock: Ticking) -> FileDocuments:
    return FileDocuments(folder, clock, Numbered())


def file_of(folder: Path, document_id: str) -> Path:
    (file,) = folder.glob(f"documents-*/{document_id}.json")
    return file


async def test_each_document_has_a_file_of_json_for_its_owner_alone(
    documents: FileDocuments, folder: Path
) -> None:
    kept = await keep(documents, "Größe.pdf", TEA)
    text = file_of(folder, kept.id).read_text()
    assert "Größe.pdf" in text
    said = json.loads(text)
    assert (said["document"]["path"], said["stamp"], said["reader"]) == (
        "Größe.pdf",
        "90-1-7",
        READER,
    )
    assert said["pieces"][1] == {
        "text": "Cups of tea are made of clay.",
        "headings": ["Tea", "Cups"],
        "first_line": 5,
        "last_line": 9,
        "page": 1,
    }
    files = [one for one in folder.rglob("*") if one.is_file()]
    assert {one.name for one in files} == {"lock", f"{kept.id}.json"}
    assert {stat.S_IMODE(one.stat().st_mode) for one in files} == {0o600}
    assert {stat.S_IMODE(one.stat().st_mode) for one in (folder, *folder.iterdir())} == {0o700}


def without(name: str) -> Callable[[dict[str, Any]], str]:
    return lambda said: json.dumps({**said, "document": {**said["document"], name: None}})


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda said: json.dumps(said)[:-40], "Invalid JSON"),
        (lambda said: "[" * 100_000, "Invalid JSON"),
        (without("path"), "document.path: Input should be a valid string"),
        (without("id"), "document.id: Input should be a valid string"),
        (lambda said: json.dumps({**said, "pieces": [{"page": 1}]}), "pieces.0.text: Field"),
        (lambda said: json.dumps(said).replace("document-1", "document-7"), "named by its id"),
    ],
)
async def test_what_is_damaged_is_named_once_and_left_out(
    damage: Callable[[dict[str, Any]], str],
    said: str,
    documents: FileDocuments,
    folder: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    kept = await keep(documents, "tea.pdf", TEA)
    other = await keep(documents, "cups.txt", read("Cups of glass."))
    file = file_of(folder, kept.id)
    draft = file.with_name("by an editor")
    draft.write_text(damage(json.loads(file.read_text())))
    draft.replace(file)
    for _ in range(2):
        assert await documents.list(SHOP) == (other,)
        assert await found(documents, "tea cups") == ["Cups of glass."]
    (told,) = caplog.messages
    assert f"{file} is damaged" in told and said in told
    # What is read again is there again.
    await keep(documents, "tea.pdf", TEA)
    assert len(await documents.list(SHOP)) == 2


async def test_a_full_disk_is_told_and_leaves_what_was_there(
    documents: FileDocuments, folder: Path
) -> None:
    kept = await keep(documents, "tea.md", read("Green tea."))
    before = file_of(folder, kept.id).read_bytes()
    with room_for(len(before) + 50), pytest.raises(FolderUnusable, match="too large"):
        await keep(documents, "tea.md", read("Black tea. " * 100))
    assert file_of(folder, kept.id).read_bytes() == before
    assert not list(folder.rglob("*draft"))
    assert await found(documents, "tea") == ["Green tea."]


async def test_a_folder_that_is_none_is_told(documents: FileDocuments, folder: Path) -> None:
    folder.write_text("a file")
    with pytest.raises(FolderUnusable, match=str(folder)):
        await keep(documents, "tea.md", TEA)


def test_a_kill_at_any_step_leaves_each_document_as_it_was_or_as_it_is(
    folder: Path, clock: Ticking, caplog: pytest.LogCaptureFixture
) -> None:
    """One is changed, one is added, one is removed; the process ends before each call that changes
    something on the disk."""

    def opened() -> FileDocuments:
        return FileDocuments(folder, clock, random_id)

    async def begin() -> str:
        for document in await opened().list(SHOP):
            await opened().remove(document.id, by=SYSTEM)
        await keep(opened(), "changed", read("old", "old"))
        return (await keep(opened(), "removed", read("old"))).id

    async def change(removed: str) -> None:
        documents = opened()
        await keep(documents, "changed", read("new", "new"))
        await keep(documents, "added", read("new", "new"))
        await documents.remove(removed, by=SYSTEM)

    async def said() -> dict[str, list[str]]:
        documents = opened()
        return {
            one.path: [piece.text for piece in await documents.pieces(one)]
            for one in await documents.list(SHOP)
        }

    states: list[dict[str, list[str]]] = []
    status = 1
    while status:
        removed = asyncio.run(begin())
        child = os.fork()
        if child == 0:
            try:
                _end_before_step(len(states))
                asyncio.run(change(removed))
                os._exit(0)
            finally:
                os._exit(1)
        status = os.waitpid(child, 0)[1]
        states.append(asyncio.run(said()))
    assert [*dict.fromkeys(map(repr, states))] == [
        repr({"changed": [one, one], "removed": ["old"]}) for one in ("old", "new")
    ] + [
        repr({"added": ["new"] * 2, "changed": ["new"] * 2, **rest})
        for rest in ({"removed": ["old"]}, {})
    ]
    assert len(states) > 12 and caplog.messages == []


def _end_before_step(last: int) -> None:
    """End this process at the call after ``last`` others that change something on the disk."""
    steps = iter(range(last + 1))

    def ending(call: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **more: Any) -> Any:
            if next(steps, last) == last:
                os._exit(9)
            return call(*arguments, **more)

        return step

    for name in ("write", "pwrite", "fsync", "replace", "unlink"):
        setattr(os, name, ending(getattr(os, name)))
