"""``dcf init``: a project that is valid as it is written, and nothing overwritten.

That its workflow runs and its tests pass is shown by docs/how-to/start-a-project.md.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dcf.cli.entry import run_command
from dcf_agents.shipped import shipped

Init = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def init(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Init:
    """Runs ``dcf init`` in an empty folder: the exit code and what it answers."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, dict[str, Any]]:
        code = run_command(["init", *arguments, "--json"])
        document: dict[str, Any] = json.loads(capsys.readouterr().out)
        return code, document

    return run


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_project_begins_where_one_is(init: Init, tmp_path: Path) -> None:
    code, said = init()
    assert code == 0
    written = files_in(tmp_path)
    assert set(said["written"]) == written
    assert {".gitattributes", ".gitignore", "README.md", "workflows/greet.json"} <= written
    assert "generated/skills.lock" in written
    assert said["next"][0] == "dcf skills test"
    assert len((tmp_path / "README.md").read_text().splitlines()) == 10


def test_what_it_writes_is_valid_and_generated(
    init: Init, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert init("deep/down")[1]["next"][0] == "cd deep/down"
    monkeypatch.chdir(tmp_path / "deep/down")
    assert run_command(["skills", "generate", "--check"]) == 0
    assert run_command(["skills", "validate"]) == 0
    assert run_command(["validate", "workflows/greet.json"]) == 0


def test_every_file_in_the_way_is_named_and_nothing_is_written(init: Init, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    (tmp_path / "workflows").write_text("no folder")
    (tmp_path / ".gitignore").symlink_to("nowhere")
    (tmp_path / "generated").mkdir()
    (tmp_path / "generated" / "skills.lock").write_text("{}")
    before = files_in(tmp_path)

    code, said = init()

    assert code == 2
    assert {one["file"]: one["code"] for one in said["problems"]} == dict.fromkeys(
        ("README.md", "workflows", ".gitignore", "generated"), "CLI_EXISTS"
    )
    assert files_in(tmp_path) == before
    assert (tmp_path / "README.md").read_text() == "mine"


@pytest.mark.parametrize("folder", ["shop", "shop/deep/down"])
def test_a_folder_that_is_a_file_is_in_the_way(init: Init, tmp_path: Path, folder: str) -> None:
    (tmp_path / "shop").write_text("")
    code, said = init(folder)
    assert (code, [one["file"] for one in said["problems"]]) == (2, ["shop"])


@pytest.mark.parametrize("name", ["workflows", "generated", "skills_src"])
@pytest.mark.parametrize("leads_to", ["nowhere", "other", "itself"])
def test_a_link_is_in_the_way_wherever_it_leads(
    init: Init, tmp_path: Path, name: str, leads_to: str
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "shop").mkdir()
    target = name if leads_to == "itself" else f"../{leads_to}"
    (tmp_path / "shop" / name).symlink_to(target)
    code, said = init("shop")
    assert (code, [one["file"] for one in said["problems"]]) == (2, [f"shop/{name}"])
    assert files_in(tmp_path / "other") == set()


@pytest.mark.parametrize("written", [1, 4, 8, 100])
def test_what_was_killed_in_the_middle_is_gone_on_with(
    init: Init, tmp_path: Path, written: int
) -> None:
    init("whole")
    # What is generated is written last.
    names = sorted(files_in(tmp_path / "whole"), key=lambda name: name.startswith("generated"))
    for name in names[:written]:
        (tmp_path / "shop" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(tmp_path / "whole" / name, tmp_path / "shop" / name)
    assert init("shop")[0] == 0
    assert files_in(tmp_path / "shop") == files_in(tmp_path / "whole")


@pytest.mark.parametrize("name", ["a b;rm", "-odd", "~", "it's"])
def test_the_next_command_can_be_pasted(init: Init, tmp_path: Path, name: str) -> None:
    _, said = init(f"./{name}")
    shown = subprocess.run(
        ["sh", "-c", f"{said['next'][0]} && pwd"], cwd=tmp_path, capture_output=True, text=True
    )
    assert Path(shown.stdout.strip()) == tmp_path / name


def test_other_files_and_empty_folders_are_in_nobodys_way(init: Init, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "generated").mkdir()
    (tmp_path / "workflows").mkdir()
    assert init()[0] == 0


def test_examples_are_those_that_come_with_dcf(init: Init, tmp_path: Path) -> None:
    code, said = init("shop", "--examples")
    assert code == 0
    written = files_in(tmp_path / "shop")
    assert set(said["written"]) == written
    for name in (
        "workflows/order-processing.json",
        "skills_src/SKILLS.md",
        "generated/skills.lock",
    ):
        assert (tmp_path / "shop" / name).read_bytes() == shipped(name).read_bytes()
    assert {".gitattributes", ".gitignore"} <= written
    assert not [name for name in written if name.startswith(("workflows/runs", "docs"))]
