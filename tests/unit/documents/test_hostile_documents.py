"""Files that were made to do harm end nothing, take little, and read nothing else."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from campaigns import PRODUCT, campaign, soak_only
from memory_world import Numbered, Ticking
from unit.documents.hostile_files import Hostile, hostile_files
from unit.documents.made_files import pdf_file

from dcf.documents import DocumentProblem, Reader, ResourceLimits
from dcf.memory import SYSTEM, DocumentReport, Memory, Source

CANARY = "the canary sings at night"
SMALL = ResourceLimits(seconds=2, megabytes=512, characters=1_000_000)
SIZES = ((100, SMALL), (20_000, ResourceLimits()))


def written(folder: Path, size: int) -> Mapping[str, Hostile]:
    """The files, in a folder beside one that nothing may read."""
    canary = folder.parent / "canary.txt"
    canary.write_text(CANARY)
    files = hostile_files(str(canary), size)
    folder.mkdir()
    for name, (data, _) in files.items():
        (folder / name).write_bytes(data)
    return files


async def synced(memory: Memory, folder: Path, limits: ResourceLimits) -> dict[str, DocumentReport]:
    found = memory.document_files.sync(folder, project=str(folder), by=SYSTEM, limits=limits)
    return {one.path: one async for one in found}


def refusal(report: DocumentReport) -> str | None:
    return report.problems[0].code if report.outcome == "refused" else None


@campaign(2, "tests/unit/documents/hostile_files.py", "tests/unit/documents/made_files.py")
async def test_each_is_refused_by_name_or_read_and_nothing_else_is_harmed(
    share: int, tmp_path: Path
) -> None:
    size, limits = SIZES[share]
    folder = tmp_path / "in"
    files = written(folder, size)
    assert len(files) >= 40
    before = {one.relative_to(tmp_path) for one in tmp_path.rglob("*")}
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered(), embedder="none") as memory:
        began = time.monotonic()
        reports = await synced(memory, folder, limits)
        assert time.monotonic() - began < 120
        assert reports.keys() == files.keys()
        if not share:
            assert {name: refusal(one) for name, one in reports.items()} == {
                name: code for name, (_, code) in files.items()
            }
        assert await memory.check() == ()
    kept = b"".join(file.read_bytes() for file in tmp_path.glob("m.db*"))
    assert CANARY.encode() not in kept
    after = {one.relative_to(tmp_path) for one in tmp_path.rglob("*")}
    assert {one for one in after - before if not one.name.startswith("m.db")} == set()


async def test_what_takes_too_long_ends_alone() -> None:
    slow = b"<!--" * 200_000
    async with Reader(ResourceLimits(seconds=0.2)) as reader:
        assert len((await reader.read("a.txt", "text", b"before")).pieces) == 1
        with pytest.raises(DocumentProblem, match=r"more than 0\.2 s of") as refused:
            await reader.read("slow.html", "html", slow)
        assert refused.value.code == "document_slow"
        after = await reader.read("b.pdf", "pdf", pdf_file(["after"]))
        assert after.pieces[0].text == "after"


@soak_only(*PRODUCT)
async def test_a_reader_that_is_given_too_little_memory_says_so() -> None:
    async with Reader(ResourceLimits(megabytes=100)) as reader:
        with pytest.raises(DocumentProblem, match="100 MB") as refused:
            await reader.read("a.txt", "text", b"\n" * 8_000_000)
    assert refused.value.code in ("document_memory", "document_deadly")
