"""Another program called ``dcf`` in the same environment is said at the start, in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dcf_agents.entry import find_stranger
from dcf_agents.installation import reinstall_command, uninstall_command

METADATA = (
    "Metadata-Version: 2.4\nName: dcf\nVersion: 0.99.2\n"
    "Summary: A Python library for generating discounted cashflows.\nAuthor: somebody\n"
)


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A folder of packages with the metadata of another ``dcf``."""
    folder = tmp_path / "site-packages"
    info = folder / "dcf-0.99.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(METADATA)
    return folder


def start(*arguments: str, packages: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command as its script starts it, with ``packages`` before all others."""
    code = "from dcf_agents.entry import main; main()"
    env = os.environ | ({"PYTHONPATH": str(packages)} if packages else {})
    return subprocess.run(
        [sys.executable, "-P", "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=env,
    )


def test_another_dcf_is_named_with_what_mends_it_and_the_command_goes_on(packages: Path) -> None:
    done = start("--version", packages=packages)
    assert (done.returncode, done.stdout.split()[0]) == (0, "dcf")
    assert len(done.stderr.splitlines()) == 1
    for part in ("0.99.2", "discounted cashflows", uninstall_command("dcf"), reinstall_command()):
        assert part in done.stderr


def test_where_it_hides_ours_the_error_follows_and_no_traceback(packages: Path) -> None:
    (packages / "dcf").mkdir()
    (packages / "dcf" / "__init__.py").write_text("import yieldcurves_that_nobody_has\n")
    done = start("--version", packages=packages)
    assert done.returncode == 3
    warning, error = done.stderr.splitlines()
    assert warning.startswith("warning: ") and uninstall_command("dcf") in warning
    assert error.startswith("error: DCF cannot start: ") and "yieldcurves_that_nobody_has" in error


def test_alone_nothing_is_said() -> None:
    done = start("--version")
    assert (done.returncode, done.stderr) == (0, "")


def test_what_this_dcf_was_called_before_is_not_called_another_program(packages: Path) -> None:
    metadata = packages / "dcf-0.99.2.dist-info" / "METADATA"
    metadata.write_text("Name: dcf\nVersion: 0.1.0\nAuthor: The DCF developers\n")
    stranger = find_stranger([str(packages)])
    assert stranger is not None and "an older DCF (0.1.0)" in str(stranger)


def test_what_a_broken_removal_left_is_found_too(packages: Path) -> None:
    (packages / "dcf-0.99.2.dist-info" / "METADATA").unlink()
    stranger = find_stranger([str(packages)])
    assert stranger is not None and stranger.version == "0.99.2"


@pytest.mark.parametrize("name", ["dcf_agents-0.1.0.dist-info", "dcf", "dcfx-1.dist-info"])
def test_other_names_are_nobody(tmp_path: Path, name: str) -> None:
    (tmp_path / "site-packages" / name).mkdir(parents=True)
    assert find_stranger([str(tmp_path / "site-packages"), "/nowhere/site-packages"]) is None
