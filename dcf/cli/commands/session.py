"""``session``: a conductor, its companions, and the tasks between them."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.commands.session_options import SessionArgument, named
from dcf.cli.commands.session_staff import register_staff
from dcf.cli.commands.session_talk import register_talk
from dcf.cli.commands.session_tasks import register_tasks
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, FAILED, OK

_EXITS = (OK, FAILED, BAD_INPUT, ENVIRONMENT)

ReasonOption = Annotated[
    str | None, typer.Option("--reason", metavar="TEXT", help="Why, for the history.")
]


def register(app: typer.Typer) -> None:
    """Add the group ``session`` with its commands."""
    group = typer.Typer(
        help="Sessions: a conductor delegates tasks to companions.",
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    command(
        group,
        "start",
        example=[
            'dcf session start support-42 --objective "Help customer C-2002" --companions 2',
            "dcf session start --objective Refunds --share order_id=ORD-1004 --companion billing",
        ],
    )(start)
    register_talk(group)
    register_tasks(group)
    register_staff(group)
    command(group, "guidelines", example="dcf session guidelines support-42")(guidelines)
    command(
        group,
        "advise",
        example="dcf session advise support-42 --companion support.check_delivery=logistics",
    )(advise)
    command(group, "pause", example="dcf session pause support-42")(pause)
    command(group, "resume", example="dcf session resume support-42")(resume)
    command(
        group,
        "finalize",
        example=["dcf session finalize support-42", "dcf session finalize support-42 --cancel"],
    )(finalize)
    command(group, "archive", example="dcf session archive support-42 --folder sessions")(archive)
    command(group, "join", example="dcf session join support-42 conductor-2")(join)
    command(group, "list", example="dcf session list --state active")(list_)
    app.add_typer(group, name="session")


def _named(given: list[str] | None) -> list[str]:
    return [named(one) for one in given or ()]


def _count(given: list[str] | None) -> list[str]:
    for one in given or ():
        if not one.strip():
            raise typer.BadParameter("a specialization is a text, as in billing")
    return list(given or ())


def start(
    session_id: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="Its id.", show_default="session-<8 hex>"),
    ] = None,
    objective: Annotated[
        str, typer.Option("--objective", metavar="TEXT", help="What it is for.")
    ] = "",
    companions: Annotated[
        int, typer.Option("--companions", min=0, max=100, help="So many generalists at once.")
    ] = 0,
    companion: Annotated[
        list[str] | None,
        typer.Option(
            "--companion",
            metavar="SPECIALIZATION",
            help="One of this specialization; may be given again.",
            callback=_count,
        ),
    ] = None,
    share: Annotated[
        list[str] | None,
        typer.Option(
            "--share", metavar="NAME=VALUE", help="What all of them are told.", callback=_named
        ),
    ] = None,
    prefer: Annotated[
        list[str] | None,
        typer.Option(
            "--prefer", metavar="NAME=VALUE", help="How its user likes it.", callback=_named
        ),
    ] = None,
    conductor: Annotated[
        str, typer.Option("--conductor", metavar="ID", help="Who conducts it.")
    ] = "conductor",
    as_json: JsonOption = False,
) -> Answer:
    """Begin a session.

    What its conductor learns (`dcf session guidelines`) outlives it and holds for the next session
    with the same --conductor. A value of --share that is JSON is what it says.
    """
    from dcf.cli.screen import Screen
    from dcf.cli.session.starting import Start, start_session
    from dcf.cli.settings import Settings

    if not objective.strip():
        raise typer.BadParameter("say what the session is for", param_hint="--objective")
    staff = [*(companion or ()), *["generalist"] * companions]
    order = Start(session_id, objective, conductor, staff, share or (), prefer or ())
    return asyncio.run(start_session(order, Settings.from_env(os.environ), Screen(as_json=as_json)))


def guidelines(session_id: SessionArgument, as_json: JsonOption = False) -> Answer:
    """Show what the Strategist advises the conductor, and what it is based on.

    Which skill and which companion for which type of task, how many companions, which models;
    each recommendation with its confidence and its evidence.
    """
    from dcf.cli.screen import Screen
    from dcf.cli.session.guidelines import show_guidelines
    from dcf.cli.settings import Settings

    screen = Screen(as_json=as_json)
    return asyncio.run(show_guidelines(session_id, Settings.from_env(os.environ), screen))


def advise(
    session_id: SessionArgument,
    recommend: Annotated[
        str | None, typer.Option("--recommend", metavar="TEXT", help="In words; models read it.")
    ] = None,
    skill: Annotated[
        list[str] | None,
        typer.Option(
            "--skill", metavar="TYPE=REF", help="The skill for a type of task.", callback=_named
        ),
    ] = None,
    companion: Annotated[
        list[str] | None,
        typer.Option(
            "--companion",
            metavar="TYPE=SPECIALIZATION",
            help="Who does a type of task.",
            callback=_named,
        ),
    ] = None,
    most: Annotated[
        int | None, typer.Option("--max-companions", min=1, max=100, help="No more than these.")
    ] = None,
    clear: Annotated[
        bool, typer.Option("--clear", help="Forget all that the conductor was told.")
    ] = False,
    as_json: JsonOption = False,
) -> Answer:
    """Tell the conductor what you know; it reads it before its next delegation.

    The type of a task is the name of its skill, unless its order says otherwise. What you say
    stands beside what the Strategist found, without a confidence of its own.
    """
    from dcf.cli.screen import Screen
    from dcf.cli.session.guidelines import Advice
    from dcf.cli.session.guidelines import advise as tell
    from dcf.cli.settings import Settings

    if not (recommend or skill or companion or most or clear):
        raise typer.BadParameter("say something, as in --recommend TEXT", param_hint="--recommend")
    advice = Advice(session_id, recommend, skill or (), companion or (), most, clear)
    screen = Screen(as_json=as_json)
    return asyncio.run(tell(advice, Settings.from_env(os.environ), screen))


def pause(
    session_id: SessionArgument, reason: ReasonOption = None, as_json: JsonOption = False
) -> Answer:
    """Give nothing to companions any more; what they are doing goes on.

    Until `resume`, or `finalize`, which lets what waits be done; with --cancel it is cancelled.
    """
    from dcf.cli.screen import Screen
    from dcf.cli.session import stating
    from dcf.cli.settings import Settings

    screen = Screen(as_json=as_json)
    return asyncio.run(stating.pause(session_id, reason, Settings.from_env(os.environ), screen))


def resume(session_id: SessionArgument, as_json: JsonOption = False) -> Answer:
    """Give what waits to companions again."""
    from dcf.cli.screen import Screen
    from dcf.cli.session import stating
    from dcf.cli.settings import Settings

    screen = Screen(as_json=as_json)
    return asyncio.run(stating.resume(session_id, Settings.from_env(os.environ), screen))


def finalize(
    session_id: SessionArgument,
    cancel: Annotated[
        bool, typer.Option("--cancel", help="Cancel what is open, instead of waiting for it.")
    ] = False,
    abandon: Annotated[
        bool, typer.Option("--abandon", help="It came to nothing: abandoned, not completed.")
    ] = False,
    reason: ReasonOption = None,
    timeout_s: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", min=0, help="Wait at most so long.")
    ] = 30.0,
    as_json: JsonOption = False,
) -> Answer:
    """End a session: it takes nothing new, and is over when nothing is open in it any more.

    Its companions are dismissed then. Again is no harm. Exits with 1 while something is open.
    """
    from dcf.cli.screen import Screen
    from dcf.cli.session import stating
    from dcf.cli.settings import Settings

    settings, screen = Settings.from_env(os.environ), Screen(as_json=as_json)
    ended = stating.finalize(
        session_id,
        settings,
        screen,
        cancel=cancel,
        abandon=abandon,
        reason=reason,
        timeout_s=timeout_s,
    )
    return asyncio.run(ended)


def archive(
    session_id: SessionArgument,
    folder: Annotated[
        Path, typer.Option("--folder", metavar="DIR", help="Where the folder of its own goes.")
    ] = Path("sessions"),
    as_json: JsonOption = False,
) -> Answer:
    """Write all of a session into a folder: tasks, delegations, results, history, transcript.

    An archive of before is replaced when the new one is whole. Of a session that is not over it is
    a snapshot. Secrets are taken out.
    """
    from dcf.cli.screen import Screen
    from dcf.cli.session.archiving import archive as write
    from dcf.cli.settings import Settings

    screen = Screen(as_json=as_json)
    return asyncio.run(write(session_id, folder, Settings.from_env(os.environ), screen))


def join(
    session_id: SessionArgument,
    agent_id: Annotated[str, typer.Argument(metavar="AGENT", help="Who conducts it too.")],
    as_json: JsonOption = False,
) -> Answer:
    """Let another agent conduct a session too."""
    from dcf.cli.screen import Screen
    from dcf.cli.session import stating
    from dcf.cli.settings import Settings

    if not re.fullmatch(r"[\w.-]{1,128}", agent_id):
        raise typer.BadParameter(f"{agent_id!r} is no agent's id", param_hint="AGENT")
    screen = Screen(as_json=as_json)
    return asyncio.run(stating.join(session_id, agent_id, Settings.from_env(os.environ), screen))


def list_(
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="At most so many.")] = 20,
    state: Annotated[
        Literal["active", "paused", "completing", "completed", "abandoned"] | None,
        typer.Option("--state", help="Those that are this."),
    ] = None,
    as_json: JsonOption = False,
) -> Answer:
    """List sessions, the newest first."""
    from dcf.cli.screen import Screen
    from dcf.cli.session.listing import list_sessions
    from dcf.cli.settings import Settings

    screen = Screen(as_json=as_json)
    return asyncio.run(list_sessions(Settings.from_env(os.environ), screen, limit, state))
