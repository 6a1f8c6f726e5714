"""``dcf asl graph``: what is printed, what is written, and what a user may get wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from dcf.cli.entry import run_command
from dcf_agents.installation import extra_command

MACHINE = {
    "StartAt": "First :warning: [bold]",
    "States": {
        "First :warning: [bold]": {"Type": "Task", "Resource": "x", "Next": "Last"},
        "Last": {"Type": "Succeed"},
    },
}


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DCF_HOME", str(tmp_path / "home"))


def write(value: object, name: str = "m.json") -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    Path(name).write_text(text, encoding="utf-8")
    return name


def test_mermaid_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["asl", "graph", write(MACHINE)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("flowchart TB\n")
    assert 'n1("First :warning: #91;bold#93;<br/>Task · x")' in printed


def test_an_svg_that_is_printed_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["asl", "graph", write(MACHINE), "--format", "svg"]) == 0
    root = ElementTree.fromstring(capsys.readouterr().out)
    assert "First :warning: [bold]" in {element.text for element in root.iter()} | {
        (element.text or "").partition(" — ")[0] for element in root.iter()
    }


def test_the_format_goes_by_the_name_of_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    machine = write(MACHINE)
    for name in ("m.svg", "m.png", "m.mmd"):
        assert run_command(["asl", "graph", machine, "--out", name]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "m.svg: 2 states drawn"
    assert Path("m.svg").read_text("utf-8").startswith("<svg ")
    assert Path("m.png").read_bytes().startswith(b"\x89PNG")
    assert Path("m.mmd").read_text("utf-8").startswith("flowchart TB")


def test_text_shows_in_a_png_whatever_fonts_the_machine_has() -> None:
    sizes = []
    for name in ("i", "A name that is longer"):
        machine = {"StartAt": name, "States": {name: {"Type": "Pass", "End": True}}}
        run_command(["asl", "graph", write(machine), "--out", f"{len(name)}.png"])
        sizes.append(len(Path(f"{len(name)}.png").read_bytes()))
    assert sizes[1] > sizes[0] + 1000


def test_json_has_the_drawing_and_the_problems(capsys: pytest.CaptureFixture[str]) -> None:
    broken = {"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"}}}
    assert run_command(["asl", "graph", write(broken), "--json", "--direction", "right"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["drawing"].startswith("flowchart LR")
    assert said["problems"] == ["`B` is named but does not exist"]
    assert said["format"] == "mermaid"


def test_mistakes_are_told_beside_the_drawing(capsys: pytest.CaptureFixture[str]) -> None:
    broken = {"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"}}}
    assert run_command(["asl", "graph", write(broken)]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("flowchart")
    assert "`B` is named but does not exist" in said.err


@pytest.mark.parametrize(
    ("value", "more", "words"),
    [
        ("{", [], "this is not JSON"),
        ({"States": {}}, [], "there are no states to draw"),
        ([1], [], "there are no states to draw"),
        (MACHINE, ["--format", "png"], "a PNG cannot be printed"),
        (MACHINE, ["--format", "gif"], "gif"),
    ],
)
def test_what_cannot_be_drawn_is_bad_input(
    value: Any, more: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["asl", "graph", write(value), *more]) == 2
    said = capsys.readouterr()
    assert words in said.err
    assert "Traceback" not in said.err


def test_a_folder_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["asl", "graph", write(MACHINE), "--out", "no/m.svg"]) == 3
    assert "no/m.svg" in capsys.readouterr().err


def test_without_the_extra_png_the_user_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    assert run_command(["asl", "graph", write(MACHINE), "--out", "m.png"]) == 3
    assert extra_command("png") in capsys.readouterr().err


@pytest.mark.parametrize("name", ["m.pdf", "m.jpg", "m.json", "m"])
def test_a_name_that_says_no_format_is_bad_input(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = write(MACHINE, "machine.json")
    assert run_command(["asl", "graph", machine, "--out", name]) == 2
    said = capsys.readouterr().err
    assert all(format_ in said for format_ in ("svg", "png", "mermaid"))
    assert not Path(name).exists()
    assert run_command(["asl", "graph", machine, "--out", name, "--format", "svg"]) == 0
    assert Path(name).read_text("utf-8").startswith("<svg ")


@pytest.mark.parametrize("out", ["m.json", "./m.json", "link.svg"])
def test_the_machine_itself_is_never_written_over(
    out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = write(MACHINE)
    Path("link.svg").symlink_to("m.json")
    assert run_command(["asl", "graph", machine, "--out", out]) == 2
    assert "--out would be written over the machine" in capsys.readouterr().err
    assert json.loads(Path(machine).read_text("utf-8")) == MACHINE


def test_the_title_is_the_name_of_the_file_without_its_suffixes() -> None:
    assert run_command(["asl", "graph", write(MACHINE, "order.asl.json"), "--out", "o.svg"]) == 0
    assert "order.asl" not in Path("o.svg").read_text("utf-8")


def test_a_full_disk_is_trouble_of_the_environment(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["asl", "graph", write(MACHINE), "--format", "svg", "--out", "/dev/full"]
    assert run_command(command) == 3
    assert "/dev/full cannot be written" in capsys.readouterr().err


def test_of_many_mistakes_the_first_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    states = {f"S{n}": {"Type": "Pass", "Next": f"Gone{n}"} for n in range(300)}
    assert run_command(["asl", "graph", write({"StartAt": "S0", "States": states})]) == 0
    said = capsys.readouterr().err
    assert "… and 399 more" in said
    assert len(said.splitlines()) == 201
