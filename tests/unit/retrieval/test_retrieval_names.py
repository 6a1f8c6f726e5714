"""The table of names in the reference is what each way in takes."""

from __future__ import annotations

import re
from pathlib import Path

import typer.main

from dcf.cli.app import build_app
from dcf.mcp import load_catalogue
from dcf.retrieval.serving.requests import ContextBody, LogBody

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "retrieval.md"


def columns() -> tuple[set[str], ...]:
    """What is asked, for each of the three ways in."""
    asked = PAGE.read_text("utf-8").split("## Answered")[0]
    rows = [line.split("|")[2:5] for line in asked.splitlines() if line.startswith("| ")]
    return tuple(
        {one for row in rows[1:] for one in re.findall("`(.+?)`", row[at])} for at in range(3)
    )


def test_the_reference_has_every_name_that_is_taken() -> None:
    http, command_line, mcp = columns()
    bodies = (*LogBody.model_fields.items(), *ContextBody.model_fields.items())
    assert http == {one.alias or name for name, one in bodies} - {"id", "timestamp"}

    group = typer.main.get_command(build_app("retrieval")).commands["retrieval"]  # type: ignore[attr-defined]
    taken = [one for name in ("log", "context") for one in group.commands[name].params]
    options = {name for one in taken for name in one.opts if name.startswith("--")}
    options |= {one.metavar for one in taken if not one.opts[0].startswith("--")}
    assert command_line == options - {"--json", "--explain", "--help"}

    tools = load_catalogue().tools()
    found = [tools[name].parameters.all for name in ("log_artifact", "augmented_context")]
    assert mcp == {name for some in found for one in some for name in (one.name, *one.aliases)}
