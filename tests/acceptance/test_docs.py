"""The documentation: its commands do what it says, its links lead somewhere, and the generated
pages are those of this source."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from commands import python
from doc_snippets import PAGES, REPOSITORY, blocks_of, is_run, reader_of

_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_TEST_NAME = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
_SHELLS = {"bash", "sh", "console", "shell"}
_GENERATED = (
    *("asl.md", "cli.md", "errors.md", "mcp-tools.md"),
    *("mutants.md", "paths.md", "problems.md", "scripts.md"),
)
# What belongs to a developer's machine or to a project other than this one.
_FOREIGN = re.compile(r"\.\./shared|/work/|/tmp/team|/home/\w+|/root/")


def _name(page: Path) -> str:
    return str(page.relative_to(REPOSITORY))


pages = pytest.mark.parametrize("page", PAGES, ids=_name)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", [page for page in PAGES if is_run(page)], ids=_name)
def test_a_reader_who_follows_a_page_gets_what_it_says(
    page: Path, tmp_path: Path, short_dir: Path
) -> None:
    reader = reader_of(page, tmp_path / "folder", short_dir / "home")
    try:
        for block in blocks_of(page):
            reader.follow(block)
    finally:
        reader.leave()


@pages
def test_every_command_is_run_or_says_that_it_is_only_shown(page: Path) -> None:
    for block in blocks_of(page):
        if block.language in _SHELLS:
            assert {"run", "shown"} & set(block.words), f"line {block.line}"


@pages
def test_json_examples_are_json(page: Path) -> None:
    for block in blocks_of(page):
        if block.language == "json" and "part" not in block.words:
            json.loads(block.text)


@pages
def test_links_lead_somewhere(page: Path) -> None:
    text = _CODE.sub("", page.read_text(encoding="utf-8"))
    for match in _LINK.finditer(text):
        target = match[1] or match[2]
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        file, _, anchor = target.partition("#")
        there = (page.parent / file).resolve() if file else page
        assert there.exists(), f"{target} does not exist"
        if anchor:
            assert anchor in _anchors(there), f"{file or page.name} has no heading #{anchor}"


@pages
def test_tests_that_are_named_exist(page: Path) -> None:
    for file, test in _TEST_NAME.findall(page.read_text(encoding="utf-8")):
        assert (REPOSITORY / file).is_file(), file
        assert not test or f"def {test}(" in (REPOSITORY / file).read_text(encoding="utf-8"), test


@pages
def test_commands_and_make_targets_that_are_named_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make ([a-z]+)", text):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"make {target}"
    reference = (REPOSITORY / "docs/reference/cli.md").read_text(encoding="utf-8")
    for words in re.findall(r"(?:`|^)dcf ([a-z]+(?: [a-z][a-z-]*)?)", text, re.MULTILINE):
        family, _, command = words.partition(" ")
        known = f"## `dcf {family}`" in reference
        assert known, f"dcf {words}"
        if command and f"## `dcf {family} " in reference:
            assert f"## `dcf {family} {command}`" in reference, f"dcf {words}"


@pages
def test_nothing_outside_the_project_is_named(page: Path) -> None:
    found = _FOREIGN.search(page.read_text(encoding="utf-8"))
    assert found is None, found


def test_every_page_can_be_reached_from_the_readme() -> None:
    seen: set[Path] = set()
    waiting = [REPOSITORY / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md" or not page.is_file():
            continue
        seen.add(page)
        text = _CODE.sub("", page.read_text(encoding="utf-8"))
        targets = [(match[1] or match[2]).partition("#")[0] for match in _LINK.finditer(text)]
        local = [target for target in targets if target and "://" not in target]
        waiting += [(page.parent / target).resolve() for target in local]
    assert set(PAGES) - seen == set()


def test_the_generated_pages_are_those_of_this_source(tmp_path: Path) -> None:
    subprocess.run([python(), "-m", "dcf.cli.reference", str(tmp_path)], check=True)
    for name in _GENERATED:
        committed = (REPOSITORY / "docs/reference" / name).read_text(encoding="utf-8")
        assert committed == (tmp_path / name).read_text(encoding="utf-8"), "run `make docs`"


def test_every_error_name_of_tasks_is_explained() -> None:
    page = (REPOSITORY / "docs/reference/errors.md").read_text(encoding="utf-8")
    source = [*(REPOSITORY / "dcf").rglob("*.py"), *(REPOSITORY / "control_plane").rglob("*.py")]
    # Examples of mistakes hold names that nobody has.
    names = {
        name
        for file in source
        if not file.name.startswith("problem_codes")
        for name in re.findall(r'"((?:DCF|States)\.[A-Z]\w+)"', file.read_text(encoding="utf-8"))
    }
    assert {name for name in names if f"`{name}`" not in page} == set()


def test_every_setting_that_is_read_is_documented() -> None:
    page = (REPOSITORY / "docs/reference/settings.md").read_text(encoding="utf-8")
    example = (REPOSITORY / ".env.example").read_text(encoding="utf-8")
    source = [*(REPOSITORY / "dcf").rglob("*.py"), *(REPOSITORY / "control_plane").rglob("*.py")]
    names = {
        name
        for file in source
        for name in re.findall(r'"(DCF_[A-Z_]+)"', file.read_text(encoding="utf-8"))
    }
    assert {name for name in names if f"`{name}`" not in page} == set()
    assert {name for name in re.findall(r"DCF_[A-Z_]+", example) if name not in page} == set()


def test_no_setting_stands_twice_in_the_example() -> None:
    example = (REPOSITORY / ".env.example").read_text(encoding="utf-8")
    names = re.findall(r"^#?([A-Z_]+)=", example, re.MULTILINE)
    assert len(set(names)) == len(names)


def test_the_picture_is_drawn_from_the_recorded_run() -> None:
    folder = REPOSITORY / "docs/images"
    drawn = subprocess.run(
        [python(), str(folder / "draw_run.py"), str(folder / "run.json")],
        check=True,
        capture_output=True,
        text=True,
    )
    assert (folder / "run.svg").read_text(encoding="utf-8") == drawn.stdout


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower().replace("`", "")).replace(" ", "-")
        for heading in _HEADING.findall(text)
    }
