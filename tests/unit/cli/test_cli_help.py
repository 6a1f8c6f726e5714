"""Every command explains itself, quickly."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
import typer.main

from dcf.cli.app import FAMILIES, build_app

HEAVY = ("mcp", "pydantic_ai", "redis", "rich", "starlette", "jsonschema", "yaml", "control_plane")


def commands() -> Iterator[tuple[str, ...]]:
    """The path of every command, also below groups, and of groups that are commands too."""
    waiting = [((), typer.main.get_command(build_app()))]
    while waiting:
        path, command = waiting.pop()
        inner = getattr(command, "commands", None)
        if inner is None or (path and command.invoke_without_command):
            yield path
        for name, sub in (inner or {}).items():
            waiting.append(((*path, name), sub))


def help_of(*path: str, capsys: pytest.CaptureFixture[str]) -> str:
    build_app(*path[:1])([*path, "--help"], prog_name="dcf", standalone_mode=False)
    return capsys.readouterr().out


def test_the_promised_commands_are_there() -> None:
    promised = (
        "up down doctor run submit watch runs explain history cancel redrive worker validate demo"
    )
    assert {(name,) for name in promised.split()} | {
        ("skills", "generate"),
        ("skills", "validate"),
    } <= set(commands())


@pytest.mark.parametrize("family", FAMILIES)
def test_a_command_comes_with_its_family_alone(family: str) -> None:
    for first in FAMILIES[family]:
        found = typer.main.get_command(build_app(first))
        assert tuple(found.commands) == FAMILIES[family]


@pytest.mark.parametrize("path", list(commands()), ids=" ".join)
def test_help_has_a_summary_an_example_and_the_exit_codes(
    path: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    text = help_of(*path, capsys=capsys)

    assert f"dcf {' '.join(path)}" in text.split("Example", 1)[1]
    assert "Exit codes:" in text
    assert "--json" in text


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["skills", "--help"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code, modules = loaded_by(arguments)

    assert code == 0
    assert modules & set(HEAVY) == set()


def test_the_version_loads_nothing_but_itself() -> None:
    code, modules = loaded_by(["--version"])

    assert code == 0
    assert modules & {*HEAVY, "typer", "pydantic", "asyncio"} == set()


def test_the_first_page_builds_no_model_of_parameters() -> None:
    _, modules = loaded_by(["--help"])

    assert "pydantic" not in modules


def loaded_by(arguments: list[str]) -> tuple[int, set[str]]:
    """The exit code of a command in a new process, and the modules that it had loaded."""
    program = (
        "import json, sys\n"
        "from dcf.cli.entry import run_command\n"
        f"code = run_command({arguments!r})\n"
        "print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    code, modules = json.loads(done.stderr)
    return code, set(modules)
