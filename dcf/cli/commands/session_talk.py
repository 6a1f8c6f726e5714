"""``session chat`` and ``say``."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.commands.session_options import SessionArgument
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, FAILED, INTERRUPTED, OK

_EXITS = (OK, FAILED, BAD_INPUT, ENVIRONMENT, INTERRUPTED)


def register_talk(group: typer.Typer) -> None:
    """Add the commands that talk with a conductor."""
    command(
        group,
        "chat",
        example=["dcf session chat support-42", "dcf session chat support-42 < questions.txt"],
        exits=_EXITS,
    )(chat)
    command(
        group,
        "say",
        example='dcf session say support-42 "where is the parcel of ORD-1004?" --wait',
        exits=_EXITS,
        prose=True,
    )(say)


def chat(session_id: SessionArgument, as_json: JsonOption = False) -> Answer:
    """Talk with the conductor of a session, while its companions work.

    On a terminal the tasks are shown below the line that you type in, and answers come above it.
    /tasks, /companions, /pause, /resume, /finalize, /quit and /help are commands. From a pipe each
    line is one turn; the next is taken when nothing is open any more, and the exit code is 1 when
    one was refused. Ctrl-D and Ctrl-C leave, at a terminal with exit code 0. With a model
    (DCF_MODEL) it is the model that conducts, without one the rules that come with DCF.
    """
    from dcf.cli.screen import Screen
    from dcf.cli.session.chat import chat as talk
    from dcf.cli.settings import Settings

    screen, settings = Screen(as_json=as_json), Settings.from_env(os.environ)
    return asyncio.run(talk(session_id, settings, screen, sys.stdin))


def say(
    session_id: SessionArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What you say; - reads it.")],
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for what the conductor makes of it.")
    ] = False,
    timeout_s: Annotated[
        float,
        typer.Option("--timeout", metavar="SECONDS", min=0, help="With --wait: at most so long."),
    ] = 300.0,
    request_id: Annotated[
        str | None,
        typer.Option("--request", metavar="ID", help="Said again with it, it has the same answer."),
    ] = None,
    as_json: JsonOption = False,
) -> Answer:
    """Say one thing to the conductor of a session, and hear its answer.

    With --wait it serves the companions itself while nobody else does, and ends when nothing that
    was asked for is open any more, or the conductor asks back; it exits with 1 when a task failed
    or the conductor asks.
    """
    from dcf.cli.screen import Screen
    from dcf.cli.session.saying import say as tell
    from dcf.cli.settings import Settings

    said = sys.stdin.read() if text == "-" else text
    if not said.strip():
        raise typer.BadParameter("say something", param_hint="TEXT")
    screen, settings = Screen(as_json=as_json), Settings.from_env(os.environ)
    return asyncio.run(
        tell(
            session_id,
            said,
            settings,
            screen,
            wait=wait,
            timeout_s=timeout_s,
            request_id=request_id,
        )
    )
