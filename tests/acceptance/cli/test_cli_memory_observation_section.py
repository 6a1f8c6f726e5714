"""``dcf memory observations render``: observations in a Markdown file."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest
from memory_user import MemoryUser

from dcf.memory import Actor, Memory, NewObservation, Origin, Source, random_id

OPEN, CLOSE = "<!-- dcf:observations -->", "<!-- /dcf:observations -->"
DAY_MS = 86_400_000


@pytest.fixture
def seen(memory: MemoryUser) -> MemoryUser:
    """Observations of this project, one of them old, and of another."""

    async def fill() -> None:
        now = time.time_ns() // 1_000_000
        one = NewObservation(
            "bugfix",
            "The gateway answers twice",
            Origin("run", "r-1"),
            project=str(memory.folder),
            narrative="It says nothing of it.",
            at=now,
        )
        async with Memory.open(Source(memory.file), clock=lambda: now, new_id=random_id) as opened:
            await opened.observations.add(
                one,
                replace(one, type="decision", title="Ids are checked", at=now - DAY_MS),
                replace(one, title="It was so before", at=now - 200 * DAY_MS),
                replace(one, title="Of others", project="/bank"),
                replace(one, title="A model read it", at=now - 1, extracted=True),
                by=Actor("user", "ada"),
            )

    memory.home.mkdir()
    asyncio.run(fill())
    return memory


def titles(file: Path) -> list[str]:
    lines = file.read_text().partition(OPEN)[2].partition(CLOSE)[0].splitlines()
    return [line.partition(": ")[2].rpartition(" (")[0] for line in lines if line[:2] == "- "]


def render(seen: MemoryUser, *more: object) -> dict[str, object]:
    return seen.ok("observations", "render", "AGENTS.md", *more)


def test_what_a_model_found_is_written_on_demand_only_and_marked(seen: MemoryUser) -> None:
    """It may be what a stranger wanted the agents of this project to read."""
    listed = seen.ok("observations", "list")["observations"]
    (found,) = [one["id"] for one in listed if one["extracted"]]
    seen.ok("observations", "pin", found)
    assert "--extracted" in seen("observations", "render", "AGENTS.md").out
    file = seen.folder / "AGENTS.md"
    assert titles(file) == ["The gateway answers twice", "Ids are checked"]
    render(seen, "--extracted")
    assert titles(file)[0] == "A model read it"
    (line,) = [one for one in file.read_text().splitlines() if "A model read it" in one]
    assert "(by a model, dcf://observation/" in line
    assert seen("observations", "list").out.count("by a model") == 1


def test_a_file_is_made_and_only_its_section_changes(seen: MemoryUser) -> None:
    file = seen.folder / "AGENTS.md"
    assert render(seen)["status"] == "rendered"
    assert titles(file) == ["The gateway answers twice", "Ids are checked"]
    assert file.stat().st_mode & 0o077 == 0o044, "others may read it, as other files of a project"
    file.write_bytes(b"# Shop\r\n\r\n" + file.read_bytes() + b"Be kind.")
    file.chmod(0o640)
    once = file.read_bytes()
    assert render(seen)["status"] == "unchanged" and file.read_bytes() == once
    render(seen, "--type", "decision", "--format", "full")
    assert once.startswith(b"# Shop\r\n\r\n<") and once.endswith(b">\nBe kind.")
    text = file.read_text()
    assert "**Ids are checked** (decision)" in text and "gateway" not in text
    assert file.stat().st_mode & 0o777 == 0o640
    assert [one.name for one in seen.folder.iterdir()] == ["AGENTS.md"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--days", 300], ["The gateway answers twice", "Ids are checked", "It was so before"]),
        (["--project", "/bank"], ["Of others"]),
        (["--limit", 1], ["The gateway answers twice"]),
        (["--pinned"], []),
        (["--budget", 0], []),
        (["--workflow", "orders"], []),
    ],
)
def test_filters_are_those_of_list(
    seen: MemoryUser, options: list[object], expected: list[str]
) -> None:
    document = render(seen, *options)
    assert titles(seen.folder / "AGENTS.md") == expected
    assert document["left_out"] == (2 if "--budget" in options else 0)


def test_check_fails_for_a_file_that_is_out_of_date(seen: MemoryUser) -> None:
    file = seen.folder / "AGENTS.md"
    check = ("observations", "render", "AGENTS.md", "--check")
    code, document = seen.refused(*check)
    assert (code, document["error"]["code"]) == (1, "section_outdated") and not file.exists()
    render(seen)
    assert seen.ok(*check)["status"] == "unchanged"
    found = seen.ok("observations", "list", "--project", seen.folder)["observations"]
    seen.ok("observations", "forget", found[0]["id"], "--yes")
    before = file.read_bytes()
    assert seen.refused(*check)[0] == 1 and file.read_bytes() == before


def test_broken_markers_are_told_and_nothing_is_written(seen: MemoryUser) -> None:
    file = seen.folder / "AGENTS.md"
    file.write_text(f"a\n{CLOSE}\n{OPEN}\n{OPEN}\n")
    code, document = seen.refused("observations", "render", file)
    told = [(one["file"], one["line"], one["code"]) for one in document["problems"]]
    assert (code, told) == (2, [(str(file), line, "memory_section") for line in (2, 4)])
    assert file.read_text() == f"a\n{CLOSE}\n{OPEN}\n{OPEN}\n"


def test_a_link_stays_a_link(seen: MemoryUser) -> None:
    file, link = seen.folder / "CLAUDE.md", seen.folder / "AGENTS.md"
    file.write_text("# Shop\n")
    link.symlink_to(file.name)
    render(seen)
    assert link.is_symlink() and titles(file) == ["The gateway answers twice", "Ids are checked"]


def test_what_somebody_writes_meanwhile_is_not_lost(seen: MemoryUser) -> None:
    file = seen.folder / "AGENTS.md"
    for before in ("# Shop\n", None):
        file.unlink(missing_ok=True)
        if before:
            file.write_text(before)

        def another(_mask: object, _mode: object) -> None:
            file.write_text("mine")

        seen.patch.setattr("dcf.cli.memory.observation_section.os.fchmod", another)
        code, document = seen.refused("observations", "render", "AGENTS.md")
        assert (code, document["error"]["code"]) == (1, "CLI_SECTION")
        assert file.read_text() == "mine"
        assert [one.name for one in seen.folder.iterdir()] == ["AGENTS.md"]


def test_a_place_that_takes_no_file_is_told(seen: MemoryUser) -> None:
    code, document = seen.refused("observations", "render", seen.folder)
    assert code in (2, 3) and str(seen.folder) in document["error"]["message"]
    (seen.folder / "a").write_text("")
    assert seen.refused("observations", "render", seen.folder / "a" / "AGENTS.md")[0] in (2, 3)


def test_what_runs_showed_that_are_worked_on_from_here_is_of_this_project_too(
    seen: MemoryUser,
) -> None:
    shop = seen.folder.parent / "shop"
    (shop / "generated").mkdir(parents=True)
    run = NewObservation("discovery", "A run of the shop", Origin("run", "r-9"), project=str(shop))

    async def fill() -> None:
        async with Memory.open(Source(seen.file), clock=lambda: 1, new_id=random_id) as opened:
            await opened.observations.add(run, by=Actor("user", "ada"))

    asyncio.run(fill())
    assert "A run of the shop" not in render(seen, "--days", "36500")["text"]  # type: ignore[operator]
    seen.patch.setenv("DCF_GENERATED", str(shop / "generated"))
    assert "A run of the shop" in render(seen, "--days", "36500")["text"]  # type: ignore[operator]
