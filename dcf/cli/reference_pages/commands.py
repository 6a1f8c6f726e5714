"""The page of commands: what ``--help`` says, for all of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from dcf.cli.app import build_app
from dcf.cli.exits import MEANING
from dcf.cli.reference_pages.markdown import block, page, table

_WIDTH = 96
_INTRO = """\
Every command takes `--json`: standard output then holds one JSON document
`{"status": …, "error": …, …}` and nothing else; text for people goes to standard error. Settings
come from the [environment](settings.md)."""


def commands_page() -> str:
    """The text of ``cli.md``."""
    root = typer.main.get_command(build_app())
    parts = [f"## `{name}`\n\n{block(text)}" for name, text in _helps(root, "dcf")]
    exits = table(("code", "meaning"), ((str(code), text) for code, text in MEANING.items()))
    return page("Commands", _INTRO, f"## Exit codes\n\n{exits}", *parts)


def _helps(command: Any, name: str) -> Iterator[tuple[str, str]]:
    """Name and help of ``command`` and of everything below it (typer does not export its types)."""
    context = command.context_class(
        command, info_name=name, terminal_width=_WIDTH, max_content_width=_WIDTH
    )
    yield name, command.get_help(context)
    for below, child in getattr(command, "commands", {}).items():
        yield from _helps(child, f"{name} {below}")
