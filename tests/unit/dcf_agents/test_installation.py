"""The commands that hints print work where they are printed: in a clone, from a wheel, with uv and
with pip."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import Any

import pytest

from dcf_agents import installation
from dcf_agents.installation import (
    clone,
    extra_command,
    installed_version,
    package_command,
    reinstall_command,
    uninstall_command,
)

REPOSITORY = Path(__file__).parents[3]
WHEEL = "file:///srv/wheels/dcf_agents-0.1.0-py3-none-any.whl"
# The name of somebody else's program, with an extra of ours.
_OLD_FORM = re.compile(
    r"""pip3? install[^\n]*\bdcf\[|["'`]dcf\[|[.]venv/bin/pip\b|["']dcf[<=>~]="""
    r"""|pip3? install (-\S+ )*["']?dcf["'`]?(\s|$)"""
)


class Place:
    """An environment as an installer leaves it, in ``folder``; its programs are empty files."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self._patch = folder, monkeypatch
        self.has()
        monkeypatch.setattr(sys, "prefix", str(folder / "env"))
        monkeypatch.setattr(sys, "executable", str(folder / "env" / "bin" / "python"))
        monkeypatch.chdir(folder)

    def has(self, *, uv: bool = False, pip: bool = False, uv_on_path: bool = True) -> None:
        programs = self.folder / "env" / "bin"
        programs.mkdir(parents=True, exist_ok=True)
        if uv:
            (programs / "uv").touch()
        self._patch.setattr(installation, "find_spec", lambda name: pip or None)
        self._patch.setattr(
            installation.shutil, "which", lambda _: "/bin/uv" if uv_on_path else None
        )

    def installed(self, direct_url: dict[str, Any] | None) -> None:
        """DCF in it, with the note that installers leave for what is not from an index."""
        info = self.folder / "env" / "dcf_agents-0.1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Name: dcf-agents\nVersion: 0.1.0\n")
        if direct_url is not None:
            (info / "direct_url.json").write_text(json.dumps(direct_url))
        self._patch.setattr(installation, "_distribution", lambda: PathDistribution(info))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(tmp_path, monkeypatch)


def editable(folder: Path) -> dict[str, Any]:
    return {"url": folder.as_uri(), "dir_info": {"editable": True}}


def test_in_a_clone_the_uv_of_the_environment_installs_the_clone(place: Place) -> None:
    place.has(uv=True, pip=True)
    place.installed(editable(place.folder))
    assert extra_command("openai") == "env/bin/uv pip install -e '.[openai]' --python env"


def test_outside_of_the_clone_its_path_is_named(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    home = place.folder / "my clone"
    home.mkdir()
    place.installed(editable(home))
    words = shlex.split(extra_command("sim"))
    assert words == ["uv", "pip", "install", "-e", f"{home}[sim]", "--python", sys.prefix]


def test_without_uv_the_pip_of_the_environment_does_it(place: Place) -> None:
    place.has(pip=True)
    place.installed(editable(place.folder))
    assert extra_command("png") == "env/bin/python -m pip install -e '.[png]'"
    assert uninstall_command("dcf") == "env/bin/python -m pip uninstall dcf"


def test_an_environment_made_by_uv_has_no_pip_and_is_named_to_the_uv_of_the_path(
    place: Place,
) -> None:
    place.installed({"url": WHEEL, "archive_info": {}})
    assert extra_command("openai") == (
        f"uv pip install 'dcf-agents[openai] @ {WHEEL}' --python env"
    )
    assert uninstall_command("dcf") == "uv pip uninstall dcf --python env"


def test_where_the_shell_finds_no_uv_the_interpreter_below_the_environment_does_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "_base_executable", "/usr/bin/python3.12")
    place.has(uv_on_path=False)
    place.installed({"url": WHEEL, "archive_info": {}})
    assert extra_command("openai") == (
        f"/usr/bin/python3.12 -m pip --python env install 'dcf-agents[openai] @ {WHEEL}'"
    )


@pytest.mark.parametrize(
    ("note", "requirement"),
    [
        ({"url": WHEEL, "archive_info": {}}, f"dcf-agents[sim] @ {WHEEL}"),
        ({"url": "file:///srv/dcf", "dir_info": {}}, "dcf-agents[sim] @ file:///srv/dcf"),
        (
            {"url": "https://git.example/dcf", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}},
            "dcf-agents[sim] @ git+https://git.example/dcf@c0ffee",
        ),
        (
            {"url": "https://x.example/all.zip", "archive_info": {}, "subdirectory": "dcf"},
            "dcf-agents[sim] @ https://x.example/all.zip#subdirectory=dcf",
        ),
        (None, "dcf-agents[sim]==0.1.0"),
    ],
    ids=["wheel", "folder", "repository", "part of an archive", "index"],
)
def test_an_extra_comes_from_where_dcf_came_from(
    place: Place, note: dict[str, Any] | None, requirement: str
) -> None:
    place.has(pip=True)
    place.installed(note)
    assert shlex.split(extra_command("sim"))[3:] == ["install", requirement]


def test_a_clone_that_was_never_installed_is_installed_editable(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "_distribution", lambda: None)
    words = shlex.split(extra_command("sim"))
    assert words[3:5] == ["-e", f"{REPOSITORY}[sim]"]


def test_other_packages_are_named_as_they_are(place: Place) -> None:
    place.installed(None)
    assert package_command("lupa>=2.8") == "uv pip install 'lupa>=2.8' --python env"


def test_files_are_written_anew_without_touching_what_they_need(place: Place) -> None:
    place.installed({"url": WHEEL, "archive_info": {}})
    assert shlex.split(reinstall_command())[3:6] == [
        "--force-reinstall",
        "--no-deps",
        f"dcf-agents @ {WHEEL}",
    ]


def test_the_command_of_this_very_installation_runs_as_it_is_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(REPOSITORY)
    command = shlex.split(extra_command("sim"))
    # Nothing is installed, and no index is asked: what it would do is what is tested.
    done = subprocess.run(
        [*command, "--dry-run", "--offline", "--no-build-isolation"],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    assert f"dcf-agents=={installed_version()}" in done.stderr


def test_this_is_a_clone() -> None:
    assert clone() == REPOSITORY


def test_nothing_in_the_tree_asks_for_the_name_of_another_program() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    found = []
    for name in filter(None, listed.stdout.split("\0")):
        file = REPOSITORY / name
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        found += [
            f"{name}:{at}: {line}" for at, line in enumerate(lines, 1) if _OLD_FORM.search(line)
        ]
    assert not found, "\n".join(found)
