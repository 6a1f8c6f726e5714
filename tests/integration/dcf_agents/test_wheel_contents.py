"""The wheel is whole: code, what comes beside it, and what an index shows of it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
PACKAGES = ("control_plane", "dcf", "dcf_agents")
BESIDE = ("docs", "generated", "prompts", "skills_src", "workflows")
# How the pictures of the documentation are made: for developers, who have a clone.
_LEFT_OUT = {"docs/images/draw_machine.py", "docs/images/draw_run.py"} | {
    "docs/images/record_run.py",
    "docs/images/run.json",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("dist")
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    [file] = folder.glob("dcf_agents-*.whl")
    return zipfile.ZipFile(file)


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> Message:
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return HeaderParser().parsestr(wheel.read(name).decode())


def tracked(*folders: str) -> set[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", *folders],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    there = set(filter(None, listed.stdout.split("\0")))
    return {name for name in there if (REPOSITORY / name).is_file()}


def test_all_code_is_in_it_and_what_comes_beside_it(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    assert tracked(*PACKAGES) <= names
    beside = tracked(*BESIDE) - _LEFT_OUT
    assert {f"dcf_agents/shipped/{name}" for name in beside} <= names


def test_what_git_ignores_stays_out(wheel: zipfile.ZipFile) -> None:
    names = [name.removeprefix("dcf_agents/shipped/") for name in wheel.namelist()]
    for unwanted in ("workflows/runs/", "workflows/plannings/", "docs/site/", *_LEFT_OUT):
        assert not [name for name in names if name.startswith(unwanted)], unwanted
    assert not [name for name in names if "__pycache__" in name]
    others = {name.partition("/")[0] for name in wheel.namelist()} - set(PACKAGES)
    assert all(name.endswith(".dist-info") for name in others)


def test_types_and_the_licence_are_in_it(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    [licence] = [name for name in names if name.endswith(".dist-info/licenses/LICENSE")]
    assert wheel.read(licence) == (REPOSITORY / "LICENSE").read_bytes()


def test_an_index_can_show_what_it_is(metadata: Message) -> None:
    assert (metadata["Name"], metadata["License-Expression"]) == ("dcf-agents", "Apache-2.0")
    assert metadata["License-File"] == "LICENSE"
    assert metadata.get_payload() == (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert metadata["Description-Content-Type"] == "text/markdown"
    urls = dict(url.split(", ") for url in metadata.get_all("Project-URL", []))
    assert {"Homepage", "Documentation"} <= set(urls)
    assert "Typing :: Typed" in metadata.get_all("Classifier", [])


def test_extras_ask_for_no_other_program_of_our_name(metadata: Message) -> None:
    asked = metadata.get_all("Requires-Dist", [])
    names = {one.split("[")[0].split("=")[0].split("<")[0].split(">")[0] for one in asked}
    assert "dcf" not in names
    extras = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert set(metadata.get_all("Provides-Extra", [])) == set(extras["optional-dependencies"])


def test_the_command_begins_outside_of_the_package_that_another_program_has_too(
    wheel: zipfile.ZipFile,
) -> None:
    [name] = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    assert "dcf = dcf_agents.entry:main" in wheel.read(name).decode()
