"""``graph``: questions about sessions."""

from __future__ import annotations

from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.commands.graph_asking import EXITS, SinceOption, answered, here, so_far_back

SessionArgument = Annotated[str, typer.Argument(metavar="SESSION", help="The session's id.")]
SessionOption = Annotated[
    str | None, typer.Option("--session", metavar="SESSION", help="Only of this session.")
]
TaskTypeOption = Annotated[
    str | None, typer.Option("--task-type", metavar="TYPE", help="Only this kind of task.")
]
SkillOption = Annotated[
    str | None,
    typer.Option("--skill", metavar="SKILL", help="Only this one, with or without @version."),
]


def register_sessions(graph: typer.Typer) -> None:
    """Add the commands of this family to the group ``graph``."""
    command(graph, "session", example="dcf graph session helpdesk-1", exits=EXITS)(session)
    command(
        graph,
        "delegations",
        example=["dcf graph delegations", "dcf graph delegations --by companion --by task_type"],
        exits=EXITS,
    )(delegations)
    command(
        graph,
        "patterns",
        example=["dcf graph patterns", "dcf graph patterns --task-type mail.send"],
        exits=EXITS,
    )(patterns)


def session(id_: SessionArgument, as_json: JsonOption = False) -> Answer:
    """Show what the graph knows of a session: tasks, who did them, what was measured."""
    from dcf.cli.graph.sessions import show_session

    return answered(show_session(*here(as_json), id_))


def delegations(
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            metavar="WHAT",
            help="What to count by, as in companion, skill, task_type; may be repeated.",
            show_default="specialization",
        ),
    ] = None,
    session: SessionOption = None,
    task_type: TaskTypeOption = None,
    skill: SkillOption = None,
    since: SinceOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Count delegated tasks, and how many succeeded, with intervals.

    A task that was done in part has not succeeded; one that was cancelled does not count.
    """
    from dcf.cli.graph.sessions import count_delegations

    settings, screen = here(as_json)
    return answered(
        count_delegations(
            settings, screen, by or ["specialization"],
            session=session, task_type=task_type, skill=skill, since=so_far_back(since),
        )
    )  # fmt: skip


def patterns(
    session: SessionOption = None,
    task_type: TaskTypeOption = None,
    skill: SkillOption = None,
    since: SinceOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """List what analyses of sessions have measured, the newest first."""
    from dcf.cli.graph.sessions import list_patterns

    settings, screen = here(as_json)
    return answered(
        list_patterns(
            settings, screen,
            session=session, task_type=task_type, skill=skill, since=so_far_back(since),
        )
    )  # fmt: skip
