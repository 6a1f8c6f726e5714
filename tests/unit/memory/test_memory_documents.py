"""Documents are kept in step with their files, found and cited."""

from __future__ import annotations

import fcntl
import os
import subprocess
import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from campaigns import PRODUCT, REMEMBERED, settled, soak_only
from memory_world import Numbered, Ticking

from dcf.citation import parse_citation
from dcf.documents import LARGEST, ResourceLimits
from dcf.memory import (
    Actor,
    DocumentReport,
    Memory,
    PieceChoice,
    Refusals,
    Source,
    UnknownDocument,
    UnknownPlace,
)
from dcf.memory.documents.kept_document import FileState
from dcf.personal_form import PersonalSetting
from dcf.problem import Problem

pytestmark = settled(*REMEMBERED)

LONG_AGO = 1_600_000_000
SMALL = ResourceLimits(characters=100)


def write(path: Path, text: str | bytes, at: int = LONG_AGO) -> Path:
    """A file that was changed so long ago that its time says when it changes again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    os.utime(path, (at, at))
    return path


@pytest.fixture
async def memory(tmp_path: Path, clock: Ticking) -> AsyncIterator[Memory]:
    """Searched by words alone."""
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=clock, new_id=Numbered(), embedder="none") as opened:
        yield opened
        assert await opened.check() == ()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project that git keeps, with documents of it."""
    root = tmp_path / "shop"
    write(root / "docs" / "tea.md", "# Tea\n\nGreen tea is picked in spring.\n")
    write(root / "docs" / "cups.txt", "Cups are made of clay.\n")
    write(root / "docs" / "logo.png", b"\x89PNG\0")
    write(root / ".gitignore", "build/\n")
    write(root / "build" / "made.md", "# Made\n\nBy a program.\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


async def sync(memory: Memory, root: Path, by: Actor, path: Path | None = None) -> dict[str, str]:
    """What became of each file."""
    return {one.path: one.outcome for one in await reports(memory, root, by, path)}


async def reports(
    memory: Memory, root: Path, by: Actor, path: Path | None = None
) -> Sequence[DocumentReport]:
    found = memory.document_files.sync(path or root, project=str(root), by=by)
    return [one async for one in found]


async def found(memory: Memory, root: Path, query: str) -> list[str]:
    hits = await memory.search.find(query, projects=[str(root)], kinds=["document"])
    return [one.path for one in await memory.documents.several([hit.ref for hit in hits])]


async def test_a_folder_with_a_secret_in_its_name_has_no_documents(
    memory: Memory, root: Path, by: Actor
) -> None:
    write(root / "docs" / "password=Hunter22xk" / "a.md", "# A\n\nTea.\n")
    (one,) = (one for one in await reports(memory, root, by) if one.outcome == "refused")
    assert [problem.code for problem in one.problems] == ["memory_name_secret"]
    assert one.path == one.problems[0].file == "docs/password=[redacted: password]/a.md"


async def test_a_folder_is_followed_file_by_file(memory: Memory, root: Path, by: Actor) -> None:
    assert await sync(memory, root, by) == {
        "docs/cups.txt": "added",
        "docs/tea.md": "added",
        "docs/logo.png": "passed_over",
    }
    first = await memory.documents.get("docs/tea.md", project=str(root))
    assert await found(memory, root, "when is tea picked?") == ["docs/tea.md"]

    write(root / "docs" / "tea.md", "# Tea\n\nBlack tea is fermented.\n", LONG_AGO + 1)
    # The same content at another time.
    os.utime(root / "docs" / "cups.txt", (LONG_AGO + 1, LONG_AGO + 1))
    assert await sync(memory, root, by) == {
        "docs/cups.txt": "unchanged",
        "docs/tea.md": "changed",
        "docs/logo.png": "passed_over",
    }
    second = await memory.documents.get("docs/tea.md", project=str(root))
    assert second.id == first.id and second.digest != first.digest
    assert await found(memory, root, "picked spring") == []
    assert await found(memory, root, "fermented") == ["docs/tea.md"]

    (root / "docs" / "tea.md").unlink()
    assert (await sync(memory, root, by))["docs/tea.md"] == "removed"
    assert await found(memory, root, "fermented tea") == []
    assert [one.path for one in await memory.documents.list(str(root))] == ["docs/cups.txt"]


async def test_a_file_that_was_just_written_is_looked_at_again(
    memory: Memory, root: Path, by: Actor
) -> None:
    fresh = root / "docs" / "cups.txt"
    fresh.write_text("Cups of glass.\n")
    status = fresh.stat()
    assert (await sync(memory, root, by, fresh)) == {"docs/cups.txt": "added"}
    # Within the grain of a clock, with the same size.
    fresh.write_text("Cups of steel.\n")
    os.utime(fresh, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (await sync(memory, root, by, fresh)) == {"docs/cups.txt": "changed"}


async def test_what_git_ignores_is_read_by_its_name_and_followed_from_then_on(
    memory: Memory, root: Path, by: Actor
) -> None:
    made = root / "build" / "made.md"
    assert await sync(memory, root, by, made) == {"build/made.md": "added"}
    assert (await sync(memory, root, by))["build/made.md"] == "unchanged"
    made.unlink()
    assert (await sync(memory, root, by))["build/made.md"] == "removed"


async def test_a_folder_inside_says_nothing_of_what_is_beside_it(
    memory: Memory, root: Path, by: Actor
) -> None:
    write(root / "docs2" / "a.md", "Beside.\n")
    await sync(memory, root, by)
    (root / "docs2" / "a.md").unlink()
    assert set(await sync(memory, root, by, root / "docs")) == {
        "docs/cups.txt",
        "docs/tea.md",
        "docs/logo.png",
    }
    assert await found(memory, root, "beside") == ["docs2/a.md"]


async def test_links_that_lead_out_are_refused_by_name(
    memory: Memory, root: Path, by: Actor, tmp_path: Path
) -> None:
    outside = write(tmp_path / "secret" / "diary.md", "The diary.\n")
    (root / "docs" / "diary.md").symlink_to(outside)
    (root / "docs" / "again.md").symlink_to(root / "docs" / "tea.md")
    (root / "docs" / "circle.md").symlink_to("circle.md")
    (root / "more").symlink_to(outside.parent)
    found_in = await reports(memory, root, by)
    told = {one.path: one.problems[0].code for one in found_in if one.problems}
    assert told == dict.fromkeys(["docs/circle.md", "docs/diary.md", "more"], "document_link")
    (refused,) = await reports(memory, root, by, root / "docs" / "diary.md")
    assert refused.outcome == "refused" and refused.problems[0].is_error
    assert await found(memory, root, "diary") == []
    # What somebody names by its own path is read, and called by it.
    assert await sync(memory, root, by, outside) == {str(outside): "added"}


async def test_what_is_no_file_or_gigantic_is_refused_without_being_read(
    memory: Memory, root: Path, by: Actor
) -> None:
    os.mkfifo(root / "docs" / "pipe.md")
    with (root / "docs" / "huge.md").open("wb") as huge:
        huge.truncate(LARGEST + 1)
    codes = {
        path: (await reports(memory, root, by, root / "docs" / path))[0].problems[0].code
        for path in ("pipe.md", "huge.md", "logo.png")
    }
    assert codes == {
        "pipe.md": "document_odd",
        "huge.md": "document_large",
        "logo.png": "document_format",
    }


async def test_what_was_refused_after_long_is_not_tried_again_before_it_changes(
    memory: Memory, root: Path, by: Actor
) -> None:
    much, odd = root / "docs" / "much.txt", root / "docs" / "odd.txt"
    write(much, "tea " * 100)
    write(odd, b"t\0")
    kept = root.parent / "home" / "refused.json"

    async def told(*, limits: ResourceLimits = SMALL, again: bool = False) -> dict[str, str]:
        with Refusals(kept, again=again) as refusals:
            found = [
                one
                async for one in memory.document_files.sync(
                    root / "docs", project=str(root), by=by, limits=limits, refusals=refusals
                )
            ]
        return {one.path: str(one.problems[0]) for one in found if one.outcome == "refused"}

    first = await told()
    assert "more than 100 characters" in first["docs/much.txt"]
    assert "before" not in "".join(first.values())
    # With other limits it would be read: it is not tried. What is found out at once is looked at.
    second = await told(limits=ResourceLimits())
    assert "was refused before and has not changed since: It holds more" in second["docs/much.txt"]
    assert "--again` tries it anew" in second["docs/much.txt"]
    assert second["docs/odd.txt"] == first["docs/odd.txt"]
    os.utime(much, (LONG_AGO + 1, LONG_AGO + 1))
    assert "was refused before" in (await told())["docs/much.txt"]
    assert "much.txt" not in kept.read_text()
    # Changed, or asked for: it is tried.
    write(much, "tea! " * 90, LONG_AGO + 2)
    assert "before" not in (await told())["docs/much.txt"]
    assert (await told(limits=ResourceLimits(), again=True)).keys() == {"docs/odd.txt"}
    await memory.documents.remove(
        (await memory.documents.get("docs/much.txt", project=str(root))).id, by=by
    )
    assert (await told(limits=ResourceLimits())).keys() == {"docs/odd.txt"}
    # What is damaged is tried again, and what other readers refused.
    write(much, "tea " * 100, LONG_AGO + 3)
    await told()
    for text in ("{", "[]", kept.read_text().replace('"reader": ', '"reader": 9')):
        kept.write_text(text)
        assert "before" not in (await told())["docs/much.txt"]


def test_what_a_busy_machine_refused_is_tried_again_the_day_after(tmp_path: Path) -> None:
    now = 1_000_000.0
    state = FileState(3, "stamp", "digest")
    codes = ("document_slow", "document_deadly", "document_deep", "document_memory")

    def known() -> list[str]:
        refusals = Refusals(tmp_path / "refused.json", now=lambda: now)
        return [code for code in codes if refusals.of(tmp_path, code)]

    with Refusals(tmp_path / "refused.json", now=lambda: now) as refusals:
        for code in codes:
            refusals.note(tmp_path, code, state, Problem(code, "so it is"))
        # Each of them wrote all of the file.
        assert not list(tmp_path.iterdir())
    now += 86_000
    assert known() == [*codes]
    now += 1_000
    assert known() == ["document_deep", "document_memory"]
    now = 0.0  # a clock that was set back
    assert known() == ["document_deep", "document_memory"]


def test_two_that_are_refused_files_at_once_keep_what_both_found(tmp_path: Path) -> None:
    kept = tmp_path / "refused.json"
    state = FileState(3, "stamp", "digest")
    problem = Problem("document_deep", "so it is")
    with Refusals(kept) as one, Refusals(kept) as other:
        assert one.of(tmp_path, "a") is None is other.of(tmp_path, "b")
        one.note(tmp_path, "a", state, problem)
        other.note(tmp_path, "b", state, problem)
    with Refusals(kept) as one, Refusals(kept) as other:
        one.drop(tmp_path, "a")
        other.note(tmp_path, "c", state, problem)
    assert [bool(Refusals(kept).of(tmp_path, name)) for name in "abc"] == [False, True, True]
    # Who writes waits for who does.
    folder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    waiting = Refusals(kept)
    waiting.note(tmp_path, "d", state, problem)
    writer = threading.Thread(target=waiting.__exit__)
    writer.start()
    writer.join(0.05)
    assert writer.is_alive()
    os.close(folder)
    writer.join()
    assert Refusals(kept).of(tmp_path, "d") is not None


async def test_a_file_that_became_unreadable_leaves_what_it_said(
    memory: Memory, root: Path, by: Actor
) -> None:
    await sync(memory, root, by)
    write(root / "docs" / "tea.md", b"# T\0\0", LONG_AGO + 1)
    (refused,) = await reports(memory, root, by, root / "docs" / "tea.md")
    assert refused.outcome == "refused"
    assert refused.problems[0].message.endswith("What it said when it was last read stays.")
    assert await found(memory, root, "spring") == ["docs/tea.md"]


async def test_a_piece_is_cited_and_its_citation_leads_back(
    memory: Memory, root: Path, by: Actor
) -> None:
    text = "\n".join(f"# Part {n}\n\nThe number of it is {n * 1111}.\n" for n in range(1, 6))
    write(root / "docs" / "parts.md", text)
    await sync(memory, root, by)
    (hit, *_) = await memory.search.find("3333", projects=[str(root)])
    assert hit.kind == "document" and hit.citation is not None
    cited = parse_citation(hit.citation)
    assert (cited.kind, cited.part, cited.number, cited.last) == ("document", "line", 9, 11)
    document = await memory.documents.get(cited.id)
    (piece,) = await memory.documents.pieces(document, PieceChoice(lines=(9, 11)))
    assert piece.text == "# Part 3\n\nThe number of it is 3333."
    assert len(await memory.documents.pieces(document)) == 5
    assert len(await memory.documents.pieces(document, PieceChoice(lines=(7, 10)))) == 2
    with pytest.raises(UnknownPlace, match="in lines 900 to 901"):
        await memory.documents.pieces(document, PieceChoice(lines=(900, 901)))


@soak_only(*PRODUCT)
async def test_projects_do_not_find_each_others_documents(
    memory: Memory, root: Path, by: Actor, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    write(other / "tea.md", "Tea of another shop.\n")
    await sync(memory, root, by)
    await sync(memory, other, by)
    assert await found(memory, other, "tea") == ["tea.md"]
    assert await found(memory, root, "another tea") == ["docs/tea.md"]
    with pytest.raises(UnknownDocument):
        await memory.documents.get("docs/tea.md", project=str(other))


async def test_a_document_that_is_removed_is_found_no_more(
    memory: Memory, root: Path, by: Actor
) -> None:
    await sync(memory, root, by)
    document = await memory.documents.get("docs/tea.md", project=str(root))
    assert (await memory.documents.remove(document.id, by=by)).path == "docs/tea.md"
    assert await found(memory, root, "spring tea") == []
    with pytest.raises(UnknownDocument):
        await memory.documents.remove(document.id, by=by)
    assert (await sync(memory, root, by))["docs/tea.md"] == "added"


async def test_a_document_that_says_a_word_more_often_is_more_about_it(
    memory: Memory, root: Path, by: Actor
) -> None:
    rest = "It is painted, it is checked, it is shown to all who come."
    write(root / "docs" / "a.txt", f"A valve of brass. {rest}\n")
    write(root / "docs" / "b.txt", f"Valves: of two valves one valve is the valve. {rest} {rest}\n")
    await sync(memory, root, by)
    assert await found(memory, root, "valves") == ["docs/b.txt", "docs/a.txt"]


async def test_people_are_taken_out_of_what_is_read(memory: Memory, root: Path, by: Actor) -> None:
    write(root / "docs" / "tea.md", "# Tea of Ann Lee\n\nAsk ann@mail.example about it.\n")
    personal = PersonalSetting(("email",), ("Ann Lee",))
    synced = memory.document_files.sync(root, project=str(root), by=by, personal=personal)
    assert [one.outcome async for one in synced].count("added") == 2
    document = await memory.documents.get("docs/tea.md", project=str(root))
    (piece,) = await memory.documents.pieces(document)
    assert "Ask [redacted: email] about it." in piece.text
    for text in (document.title, piece.title, *piece.headings, piece.text):
        assert "Ann" not in text and "ann@" not in text
