"""What a machine lacks is said before anything is installed, in one line each."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parents[3] / "requirements" / "machine.py"


@pytest.fixture
def machine() -> ModuleType:
    spec = importlib.util.spec_from_file_location("machine", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def be(
    monkeypatch: pytest.MonkeyPatch,
    system: str = "Linux",
    processor: str = "x86_64",
    libc: str = "glibc",
    version: tuple[int, int] = (3, 12),
    programs: tuple[str, ...] = ("cc",),
) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: processor)
    monkeypatch.setattr(platform, "libc_ver", lambda: (libc, "2.36"))
    monkeypatch.setattr(sys, "version_info", (*version, 0))
    monkeypatch.setattr(shutil, "which", lambda name: name if name in programs else None)


def remarks(machine: ModuleType, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(machine, "loads", lambda library: True)
    return "\n".join(machine.remarks(sys.version_info[:2]))


def test_where_everything_is_there_nothing_is_said(
    machine: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    be(monkeypatch, programs=())
    assert remarks(machine, monkeypatch) == ""
    assert machine.main() is None


@pytest.mark.parametrize("version", [(3, 10), (3, 15)])
def test_a_python_that_cannot_do_it_is_refused(
    machine: ModuleType, monkeypatch: pytest.MonkeyPatch, version: tuple[int, int]
) -> None:
    be(monkeypatch, version=version)
    assert "Name another one: make PYTHON=" in machine.main()


def test_windows_is_refused_and_told_of_wsl(
    machine: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    be(monkeypatch, system="Windows", processor="AMD64", libc="")
    assert "WSL" in machine.main()


def test_an_untested_python_is_taken_with_a_note(
    machine: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    be(monkeypatch, version=(3, 14))
    assert machine.main() is None
    said = remarks(machine, monkeypatch)
    assert "3.14 is not tested" in said and "DCF_REDIS_URL" in said


@pytest.mark.parametrize(
    ("system", "processor", "version"),
    [("Linux", "aarch64", (3, 12)), ("Darwin", "arm64", (3, 12)), ("Darwin", "x86_64", (3, 11))],
)
def test_without_wheels_of_the_servers_a_redis_of_ones_own_is_named(
    machine: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    system: str,
    processor: str,
    version: tuple[int, int],
) -> None:
    be(monkeypatch, system=system, processor=processor, version=version)
    assert "set DCF_REDIS_URL=" in remarks(machine, monkeypatch)


@pytest.mark.parametrize(("programs", "needed"), [((), True), (("gcc",), False)])
def test_a_compiler_is_asked_for_only_where_one_is_needed_and_not_there(
    machine: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    programs: tuple[str, ...],
    needed: bool,
) -> None:
    be(monkeypatch, processor="aarch64", programs=programs)
    assert ("apt-get install gcc" in remarks(machine, monkeypatch)) == needed


def test_libraries_are_named_by_their_package(
    machine: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    be(monkeypatch)
    monkeypatch.setattr(machine, "loads", lambda library: library != "libgomp.so.1")
    [said] = machine.remarks((3, 12))
    assert said.endswith("apt-get install libgomp1")
