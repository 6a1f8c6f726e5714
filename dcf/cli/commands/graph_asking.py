"""``graph``: questions to it, its export, and its server."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, RunArgument, command
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, FAILED, OK

if TYPE_CHECKING:
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

EXITS = (OK, FAILED, BAD_INPUT, ENVIRONMENT)

GroupOption = Annotated[
    list[str] | None,
    typer.Option(
        "--group",
        metavar="GROUP",
        help="Only this group, as in dcf_metrics, or one of your own; may be repeated.",
    ),
]
SinceOption = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help="Only so far back, as in 12h, 7d or 4w."),
]


def register_asking(graph: typer.Typer) -> None:
    """Add the commands of this family to the group ``graph``."""
    command(
        graph,
        "ask",
        example=[
            "dcf graph ask 'which version succeeded most for orders.charge_payment?'",
            "dcf graph ask 'what changed before mail.send began to fail?' --since 4w",
        ],
        exits=EXITS,
    )(ask)
    command(
        graph,
        "skills",
        example=["dcf graph skills", "dcf graph skills --task-type orders.charge_payment"],
        exits=EXITS,
    )(skills)
    command(graph, "run", example="dcf graph run order-7f3a91c2", exits=EXITS)(run)
    command(
        graph,
        "why",
        example=["dcf graph why order-7f3a91c2", "dcf graph why order-7f3a91c2 --state Charge"],
        exits=EXITS,
    )(why)
    command(graph, "similar", example="dcf graph similar order-7f3a91c2", exits=EXITS)(similar)
    command(graph, "insights", example="dcf graph insights --ever", exits=EXITS)(insights)
    command(
        graph,
        "stats",
        example=["dcf graph stats", "dcf graph stats --group dcf_executions"],
        exits=EXITS,
    )(stats)
    command(
        graph,
        "export",
        example=[
            "dcf graph export graph.jsonl",
            "dcf graph export skills.graphml --group dcf_metrics",
        ],
        exits=EXITS,
    )(export)
    command(
        graph,
        "serve",
        example=["dcf graph serve", "dcf graph serve --host 0.0.0.0 --token-file token.txt"],
        exits=EXITS,
    )(serve)


def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A question, in words.")],
    group: GroupOption = None,
    since: SinceOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Answer a question in words, with the runs it is known from.

    The words become one of the declared questions, by rules, or by the model of the settings, whose
    choice is checked. Where none comes near, nothing is guessed: exit code 1, with what can be
    asked, and the facts nearest to the words.
    """
    from dcf.cli.graph.asking import ask_graph

    settings, screen = here(as_json)
    return answered(ask_graph(settings, screen, question, group or (), so_far_back(since)))


def skills(
    task_type: Annotated[
        str | None, typer.Option("--task-type", metavar="TYPE", help="Only this kind of task.")
    ] = None,
    skill: Annotated[
        str | None,
        typer.Option("--skill", metavar="SKILL", help="Only this one, with or without @version."),
    ] = None,
    since: SinceOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Rank versions of skills by measured success, with intervals.

    Of each kind of task the version comes first that is expected to succeed most, with how probable
    it is that no other one is better: the order in which the planner chooses among the versions of
    a skill. Newer outcomes count more for it, those from before a change of the rate nothing, and
    versions of a skill are weighed in the light of each other. Counts and intervals are of all
    outcomes. --since counts whole days.
    """
    from dcf.cli.graph.asking import rank_skills

    settings, screen = here(as_json)
    return answered(rank_skills(settings, screen, task_type, skill, so_far_back(since)))


def run(id_: RunArgument, as_json: JsonOption = False) -> Answer:
    """Show what the graph knows of a run, as a tree."""
    from dcf.cli.graph.asking import show_run

    return answered(show_run(*here(as_json), id_))


def why(
    id_: RunArgument,
    state: Annotated[
        str | None, typer.Option("--state", metavar="STATE", help="Only this Task of it.")
    ] = None,
    as_json: JsonOption = False,
) -> Answer:
    """Say why a run failed, who else failed like that, and what helped.

    Failures of the same kind of task are of one kind when their error is the same, and their cause
    too but for numbers and quoted names.
    """
    from dcf.cli.graph.asking import blame

    return answered(blame(*here(as_json), id_, state))


def similar(
    id_: RunArgument,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100, help="At most so many.")] = 10,
    as_json: JsonOption = False,
) -> Answer:
    """Find runs like one, with the reasons.

    Counted are workflow, skills, kinds of task, errors, and what was said of failures.
    """
    from dcf.cli.graph.asking import find_alike

    return answered(find_alike(*here(as_json), id_, limit))


def insights(
    ever: Annotated[
        bool, typer.Option("--ever", help="Also those that were superseded or taken back.")
    ] = False,
    as_json: JsonOption = False,
) -> Answer:
    """List what analyses found, with evidence and confidence."""
    from dcf.cli.graph.asking import list_insights

    settings, screen = here(as_json)
    return answered(list_insights(settings, screen, ever=ever))


def stats(group: GroupOption = None, as_json: JsonOption = False) -> Answer:
    """Count what there is in the graph."""
    from dcf.cli.graph.asking import show_stats

    settings, screen = here(as_json)
    return answered(show_stats(settings, screen, group or ()))


def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to; - is stdout.")],
    group: GroupOption = None,
    force: Annotated[bool, typer.Option("--force", help="Over a file that is there.")] = False,
    as_json: JsonOption = False,
) -> Answer:
    """Write nodes and edges as lines of JSON, or as GraphML, without vectors.

    Nodes come first: {"node": id, "labels": [...], "properties": {...}}, then
    {"edge": type, "from": id, "to": id, "properties": {...}}. A FILE that ends in .graphml is one
    that Gephi, yEd and networkx open; lists are JSON there.
    """
    from dcf.cli.graph.export import export_graph

    settings, screen = here(as_json)
    return answered(export_graph(settings, screen, file, group or [], force=force))


def serve(
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: a free one.")] = 8000,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="A file with the bearer token that clients must send.",
            show_default="DCF_TOKEN",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> Answer:
    """Serve the graph to MCP clients, with the tools of Graphiti, at /mcp/.

    Until SIGTERM or Ctrl-C. Off loopback a token is required. /health says whether the graph
    answers, and what waits for it. Prints one line of JSON when it is ready.
    """
    from dcf.cli.graph.serving import serve_graph

    settings, screen = here(as_json)
    return answered(serve_graph(settings, screen, host, port, token_file))


def here(as_json: bool) -> tuple[Settings, Screen]:
    """What a command of this family begins with."""
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    return Settings.from_env(os.environ), Screen(as_json=as_json)


def answered(work: Coroutine[Any, Any, Answer]) -> Answer:
    """The answer of ``work``."""
    return asyncio.run(work)


def so_far_back(since: str | None) -> int | None:
    """So far back, as ms since the epoch. Raises BadInput."""
    if since is None:
        return None
    from dcf.cli.reflect import since_ms

    return time.time_ns() // 1_000_000 - since_ms(since)
