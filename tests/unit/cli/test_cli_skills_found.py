"""What ``dcf skills list`` and ``search`` show: references whole, options called as typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dcf.cli.entry import run_command

GENERATED = Path(__file__).parents[3] / "generated"


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DCF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DCF_GENERATED", str(GENERATED))
    monkeypatch.setenv("DCF_EMBEDDER", "none")


def refs() -> list[str]:
    catalog = json.loads((GENERATED / "catalogs/skills_catalog.json").read_bytes())
    return [entry["manifestId"].removeprefix("skill.") for entry in catalog["skills"]]


@pytest.mark.parametrize("columns", [40, 80, 120, 200])
def test_references_are_never_cut_and_descriptions_take_what_is_left(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert run_command(["skills", "list"]) == 0

    lines = capsys.readouterr().out.splitlines()[1:]
    assert {line.split()[0] for line in lines} == set(refs())
    if columns >= 80:
        assert max(map(len, lines)) <= columns
        assert any("Give an order up" in line for line in lines)
        assert any(line.endswith("…") for line in lines) or columns == 200


def test_a_hit_has_its_description_in_one_line_and_the_score_its_meaning(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run_command(["skills", "search", "refund", "--k", "1"]) == 0

    head, about, *_, last = capsys.readouterr().out.splitlines()
    assert head.startswith("support.refund_order@1.0.0  score ")
    assert "Give the money for an order back" in about and len(about.rstrip()) <= 80
    assert "score: how well" in last


def test_filters_are_called_as_they_are_typed(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = ["--risk", "huge", "--egress", "moon", "--version", "%%"]
    assert run_command(["skills", "search", "x", *wrong]) == 2

    said = capsys.readouterr().err
    assert "max_" not in said
    assert all(f"\n{option}: error" in said for option in wrong[::2])


@pytest.mark.parametrize(
    "command",
    ["list", "search x", "test", "show a.b", "export --all", "validate", "generate", "lock"],
)
def test_in_an_empty_folder_each_command_says_how_to_begin(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DCF_GENERATED")
    assert run_command(["skills", *command.split()]) == 2

    assert "begin with `dcf init`, or with `dcf skills new NAME`" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", ["list", "show", "test", "search", "generate", "watch", "import", "export", "diff"]
)
def test_the_generated_folder_has_one_name_in_all_commands(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["skills", command, "--help"]) == 0

    options = capsys.readouterr().out
    assert "--generated DIR" in options and "--from" not in options
