"""``memory threads``: what other programs keep of what was said and done."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command

ThreadArgument = Annotated[
    str, typer.Argument(metavar="THREAD", help="Its id, or the id that its source gives it.")
]
LimitOption = Annotated[int, typer.Option("--limit", min=1, help="At most so many.")]
OffsetOption = Annotated[int, typer.Option("--offset", min=0, help="Leave so many out first.")]


def register_threads(memory: typer.Typer) -> None:
    """Add the group ``threads``."""
    threads = typer.Typer(
        help="What other programs keep of what was said and done, turn by turn.",
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    command(
        threads,
        "sync",
        example=[
            "dcf memory threads sync ~/.claude/projects",
            "dcf memory threads sync .beads/issues.jsonl --project shop",
            "dcf memory threads sync ~/.codex/sessions --watch",
        ],
    )(sync)
    command(
        threads,
        "list",
        example=["dcf memory threads list", "dcf memory threads list --source codex --json"],
    )(list_threads)
    command(
        threads,
        "show",
        example=["dcf memory threads show T-1", "dcf memory threads show T-1 --turn 3"],
    )(show)
    memory.add_typer(threads, name="threads")


def sync(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A file, an archive, or a folder.")],
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on with every change, until Ctrl-C.")
    ] = False,
    project: Annotated[
        str | None,
        typer.Option(
            "--project",
            metavar="NAME",
            help="Their project: a folder, or a name.",
            show_default="as they say",
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="NAME", help="What they are.", show_default="what is found in them"
        ),
    ] = None,
    as_json: JsonOption = False,
) -> Answer:
    """Bring threads up to date with the files of another program.

    Formats are told by content. A file that has not changed is not read again; one that is being
    written is read up to its last whole line. Turns that were edited, taken back or left on another
    branch are followed, and stay under their numbers. What is unknown in a file is kept and
    counted. In a folder no links are followed.
    """
    from dcf.cli.memory.thread_sync import SyncOrder, sync_threads, watch_threads
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    work = watch_threads if watch else sync_threads
    order = SyncOrder(path, format, _project(project))
    return asyncio.run(work(Settings.from_env(os.environ), order, Screen(as_json=as_json)))


def _project(name: str | None) -> str | None:
    """A folder by its whole path, as threads have it; any other name as it is."""
    is_path = name is not None and (name in (".", "..", "~") or "/" in name)
    return str(Path(str(name)).expanduser().resolve()) if is_path else name


def list_threads(
    project: Annotated[
        str | None, typer.Option("--project", metavar="NAME", help="Only those of this project.")
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="FORMAT", help="Only those of this format.")
    ] = None,
    limit: LimitOption = 50,
    offset: OffsetOption = 0,
    as_json: JsonOption = False,
) -> Answer:
    """List threads, those that began last first."""
    from dcf.cli.memory.threads import ThreadsQuestion, threads_listed
    from dcf.cli.settings import Settings

    asked = ThreadsQuestion(_project(project), source, limit, offset)
    return asyncio.run(threads_listed(Settings.from_env(os.environ), asked))


def show(
    thread: ThreadArgument,
    turn: Annotated[
        int | None, typer.Option("--turn", metavar="N", min=1, help="Only this one, as a whole.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also turns that were edited, taken back or left.")
    ] = False,
    limit: LimitOption = 50,
    offset: OffsetOption = 0,
    as_json: JsonOption = False,
) -> Answer:
    """Show a thread with its turns and their tools.

    Turns stand in the order of their source; with --all by number. A turn keeps its number.
    """
    from dcf.cli.memory.threads import TurnsQuestion, thread_shown
    from dcf.cli.settings import Settings

    asked = TurnsQuestion(thread, turn, everything, limit, offset)
    return asyncio.run(thread_shown(Settings.from_env(os.environ), asked))
