"""``runs``, ``explain`` and ``history``: what happened, why something stands still, and what of it
is removed."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command, epilog
from dcf.cli.commands.memory_scope import ProjectOption
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, FAILED, OK

FileOrRun = Annotated[
    str, typer.Argument(metavar="ID|FILE", help="Id of the run, or a file of an exported one.")
]
_EXITS = (OK, BAD_INPUT, ENVIRONMENT)


def register(app: typer.Typer) -> None:
    """Add the commands of this family."""
    group = typer.Typer(
        rich_markup_mode=None, epilog=epilog("dcf runs --status failed --limit 5", _EXITS)
    )
    group.callback(invoke_without_command=True)(runs)
    command(
        group,
        "remove",
        example=[
            "dcf runs remove order-1 order-2",
            "dcf runs remove --before 30d --status succeeded --dry-run",
            "dcf runs remove order-3 --broken --dry-run",
        ],
    )(remove)
    command(
        group,
        "export",
        example=[
            "dcf runs export order-1 --out order-1.run.gz",
            "dcf runs export a b --out kept",
            "dcf runs export order-1 --out checkpoints/order-1 --checkpoint order-1",
        ],
    )(export)
    command(group, "restore", example="dcf runs restore order-1.run.gz")(restore)
    app.add_typer(group, name="runs")
    command(app, "explain", example="dcf explain hello-1", exits=_EXITS)(explain)
    command(
        app,
        "history",
        example=["dcf history hello-1", "dcf history --agent clerk-1"],
        exits=(OK, FAILED, BAD_INPUT, ENVIRONMENT),
    )(history)
    command(
        app,
        "open",
        example=[
            "dcf open dcf://observation/21d186d3",
            "dcf open dcf://run/my-order/state/ShipOrder --json",
            "dcf open dcf://code/shop%2Fpay.py/line/12-30",
        ],
    )(open_)


def open_(
    uri: Annotated[
        str, typer.Argument(metavar="URI", help="As in dcf://run/my-order/state/ShipOrder.")
    ],
    as_json: JsonOption = False,
) -> Answer:
    """Show what stands at an address dcf://…

    Observations, turns of threads and issues, attempts, runs and their states, sessions with their
    tasks and companions, skills, documents, and blocks of agents. Lines of code are those of the
    project that the current folder is in, as its files are now.
    """
    from dcf.cli.cited import show_cited
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    screen = Screen(as_json=as_json)
    return asyncio.run(show_cited(uri, Settings.from_env(os.environ), screen))


def runs(
    context: typer.Context,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="At most so many.")] = 20,
    status: Annotated[
        str | None,
        typer.Option(
            "--status", help="pending, running, succeeded, failed, timed_out or cancelled."
        ),
    ] = None,
    after: Annotated[
        str | None,
        typer.Option(
            "--after",
            metavar="PLACE",
            help="Go on after this run: its id, or `next_after` of the page before.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> Answer | None:
    """List runs, the newest first; with a command, remove, export or restore some.

    By when they were submitted, whether they still run or not. The duration is that of the whole
    run, from its start to its end or until now. Where there are more, the last line says how to go
    on.
    """
    if context.invoked_subcommand is not None:
        return None
    from dcf.cli.runs import list_runs
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    screen = Screen(as_json=as_json)
    return asyncio.run(list_runs(Settings.from_env(os.environ), screen, limit, status, after))


def remove(
    workflow_ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Ids of the runs.")
    ] = None,
    before: Annotated[
        str | None,
        typer.Option(
            "--before",
            metavar="AGE",
            help="Instead of runs by name, all that ended so long ago: 30d, 12h; 0d for any.",
        ),
    ] = None,
    status: Annotated[
        list[str] | None,
        typer.Option(
            "--status",
            help="With --before, only these: succeeded, failed, timed_out, cancelled.",
        ),
    ] = None,
    broken: Annotated[
        bool,
        typer.Option(
            "--broken",
            help="With names: also those of which a key is damaged, whatever they came to.",
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only say what would go and how much space it takes."),
    ] = False,
    keep_memory: Annotated[
        bool,
        typer.Option("--keep-memory", help="Leave what the branches of the runs remember."),
    ] = False,
    as_json: JsonOption = False,
) -> Answer:
    """Remove finished runs with all that belongs to them, for good.

    The nodes of a run leave the memory, unless --keep-memory is said; observations of it stay.
    Documents, outputs, history and calls leave Redis; files that a run wrote, its audit trail among
    them, stay, and so does what the graph and sessions know of it. What is not in the graph yet is
    written there first, unless DCF_GRAPH is off. A run is kept, with the reason, while it is not
    over, the graph cannot be given its outcome, or the session that delegated it goes on. A removal
    that died is continued by the same command, or by a worker; said again with --before it removes
    what is left, and by its name a run that is gone is unknown. A run of which a key was damaged
    says nothing of all that: it is refused, which keeps no other from going, and goes with
    --broken, with all keys of its id.
    """
    from dcf.cli.runs_removal import choice_of, named, remove_runs
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    ids = list(dict.fromkeys(workflow_ids or ()))
    if bool(ids) == (before is not None):
        raise typer.BadParameter("name runs, or say which with --before", param_hint="[ID]...")
    if ids and status:
        raise typer.BadParameter("goes with --before, not with names", param_hint="--status")
    if broken and not ids:
        raise typer.BadParameter("goes with names, not with --before", param_hint="--broken")
    choice = named(ids, broken=broken) if before is None else choice_of(before, status or [])
    screen = Screen(as_json=as_json)
    settings = Settings.from_env(os.environ)
    removing = remove_runs(choice, settings, screen, dry_run=dry_run, keep_memory=keep_memory)
    return asyncio.run(removing)


def export(
    workflow_ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of the runs.")],
    out: Annotated[
        str,
        typer.Option(
            "--out",
            metavar="FILE|DIR",
            help="Where to: a file for one run. A folder that is there, and with several IDs any "
            "name, is a folder, made if need be: each run goes to ID.run.gz in it.",
        ),
    ],
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint",
            metavar="NAME",
            help="With one ID: into the folder --out, and this checkpoint of the memory next "
            "to it, each in place of the one there. `dcf resume` takes such a folder.",
        ),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Write finished runs to files, one each, with all that Redis has of them.

    `dcf history FILE` and `dcf explain FILE` read such a file, `dcf runs restore` puts it back. The
    run stays, so that this may be said again: a file that is there is not written over, unless the
    folder is that of a --checkpoint, in which other files stay as they are. A run that
    `dcf runs restore` would refuse is not exported. The file holds inputs and outputs, and what
    signs the run's task tokens: nobody but you may read it.
    """
    from dcf.cli.run_files import export_runs
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    screen = Screen(as_json=as_json)
    if not out:
        raise typer.BadParameter("name a file or a folder", param_hint="--out")
    ids = list(dict.fromkeys(workflow_ids))
    if checkpoint is not None and len(ids) > 1:
        raise typer.BadParameter("goes with one ID", param_hint="--checkpoint")
    if project is not None and checkpoint is None:
        raise typer.BadParameter("goes with --checkpoint", param_hint="--project")
    settings = Settings.from_env(os.environ)
    return asyncio.run(
        export_runs(ids, Path(out), settings, screen, checkpoint=checkpoint, project=project)
    )


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `dcf runs export` wrote.")],
    as_json: JsonOption = False,
) -> Answer:
    """Put an exported run back into Redis, as a finished run.

    The file is checked first: its digests, and those of the history. Never over a run that is
    there: said again, it is refused and changes nothing. What a restore that died had written is
    removed by a worker; then it may be said again.
    """
    from dcf.cli.run_files import restore_file
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    screen = Screen(as_json=as_json)
    return asyncio.run(restore_file(file, Settings.from_env(os.environ), screen))


def explain(workflow_id: FileOrRun, as_json: JsonOption = False) -> Answer:
    """Say why a run stands where it stands.

    Each open state with what would move it.
    """
    from dcf.cli.explain import explain_run
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    screen = Screen(as_json=as_json)
    return asyncio.run(explain_run(workflow_id, Settings.from_env(os.environ), screen))


def history(
    workflow_id: Annotated[
        str | None,
        typer.Argument(metavar="[ID|FILE]", help="Id of the run, or a file of an exported one."),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option("--agent", metavar="ID", help="Instead of a run, this agent outside runs."),
    ] = None,
    as_json: JsonOption = False,
) -> Answer:
    """Show what happened in a run, when, and who did it.

    Of an agent the newest 5,000 events are kept: the skills that it loaded, its calls of tools,
    and what was decided on them.
    """
    from dcf.cli.history import show_agent_history, show_history
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    if (workflow_id is None) == (agent is None):
        raise typer.BadParameter("name a run, or an agent with --agent", param_hint="[ID]")
    screen, settings = Screen(as_json=as_json), Settings.from_env(os.environ)
    if agent is not None:
        return asyncio.run(show_agent_history(agent, settings, screen))
    return asyncio.run(show_history(str(workflow_id), settings, screen))
