"""What `make` says of a machine before it installs anything, and on which ones it gives up."""

from __future__ import annotations

import ast
import importlib.util
import platform
import sys
from pathlib import Path
from types import ModuleType

import pytest

PATH = Path(__file__).parents[3] / "requirements/machine.py"
BOTH = ["libgomp.so.1", "libssl.so.3"]


class Machine:
    """A machine as ``machine.py`` sees it; at first one that lacks nothing."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        spec = importlib.util.spec_from_file_location("machine", PATH)
        assert spec is not None and spec.loader is not None
        self.module: ModuleType = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)
        self.patch = patch
        self.is_(system="Linux", machine="x86_64", libc="glibc", python=(3, 11))
        self.has(libraries=BOTH)

    def is_(self, system: str, machine: str, libc: str, python: tuple[int, int]) -> None:
        self.patch.setattr(platform, "system", lambda: system)
        self.patch.setattr(platform, "machine", lambda: machine)
        self.patch.setattr(platform, "libc_ver", lambda: (libc, "2.36"))
        self.patch.setattr(sys, "version_info", (*python, 1, "final", 0))

    def has(self, libraries: list[str]) -> None:
        def load(name: str) -> object:
            if name not in libraries:
                raise OSError(name)
            return object()

        self.patch.setattr(self.module.ctypes, "CDLL", load)

    def refusal(self) -> str | None:
        refused = self.module.main()
        assert refused is None or isinstance(refused, str)
        return refused


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


def test_it_is_read_by_pythons_far_older_than_those_that_it_accepts() -> None:
    ast.parse(PATH.read_text("utf-8"), feature_version=(3, 6))


@pytest.mark.parametrize("python", [(3, 11), (3, 12), (3, 13)])
def test_of_a_machine_that_lacks_nothing_nothing_is_said(
    machine: Machine, python: tuple[int, int], capsys: pytest.CaptureFixture[str]
) -> None:
    machine.is_("Linux", "x86_64", "glibc", python)
    assert machine.refusal() is None
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("python", [(2, 7), (3, 6), (3, 10), (3, 15), (4, 0)])
def test_a_python_that_is_too_old_or_too_new_is_refused(
    machine: Machine, python: tuple[int, int]
) -> None:
    machine.is_("Linux", "x86_64", "glibc", python)
    refused = machine.refusal()
    assert refused is not None
    assert "needs Python 3.11 to 3.14, and this is {}.{}.".format(*python) in refused
    assert "make PYTHON=python3.12" in refused


def test_a_python_without_ensurepip_is_refused_with_the_package_that_has_it(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine.module.importlib.util, "find_spec", lambda name: None)
    refused = machine.refusal()
    assert refused is not None and "apt-get install python3.11-venv" in refused


@pytest.mark.parametrize(
    ("system", "cpu", "libc", "python"),
    [
        ("Linux", "aarch64", "glibc", (3, 12)),
        ("Linux", "x86_64", "", (3, 12)),
        ("Linux", "x86_64", "glibc", (3, 14)),
        ("Darwin", "arm64", "", (3, 12)),
        ("Darwin", "x86_64", "", (3, 11)),
        ("Windows", "AMD64", "", (3, 11)),
    ],
)
def test_where_there_is_no_embedded_redis_one_line_says_what_to_run_instead(
    machine: Machine,
    system: str,
    cpu: str,
    libc: str,
    python: tuple[int, int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    machine.is_(system, cpu, libc, python)
    # Of no use here, and so not asked for.
    machine.has([])
    assert machine.refusal() is None
    [line] = [line for line in capsys.readouterr().err.splitlines() if "not tested" not in line]
    assert line.startswith("Note: ")
    assert f"{system} {cpu}" in line and "DCF_REDIS_URL=redis://" in line


def test_macos_on_arm_has_the_servers_for_one_python(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.is_("Darwin", "arm64", "", (3, 11))
    machine.has([])
    assert machine.refusal() is None
    assert capsys.readouterr().err == "", "and its libraries have other names"


def test_a_python_that_is_not_tested_may_be_used_and_it_is_said(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.is_("Linux", "x86_64", "glibc", (3, 14))
    assert machine.refusal() is None
    assert "Note: Python 3.14 is not tested" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("there", "packages"),
    [([], "libgomp1 libssl3"), (BOTH[:1], "libssl3"), (BOTH[1:], "libgomp1")],
)
def test_missing_libraries_are_named_by_the_packages_that_bring_them(
    machine: Machine, there: list[str], packages: str, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.has(there)
    assert machine.refusal() is None
    [line] = capsys.readouterr().err.splitlines()
    assert line.endswith(f"lacks system libraries: apt-get install {packages}")
