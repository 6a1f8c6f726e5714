"""``memory scope``: trees of nodes, each of which reads its ancestors and itself."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.commands.memory_options import LimitOption, SureOption

NodeArgument = Annotated[
    str, typer.Argument(metavar="NODE", help="Its id, or CHECKPOINT/NAME as the tree has it.")
]
UnderOption = Annotated[
    str, typer.Option("--under", metavar="NODE", help="The node above it from now on.")
]
ProjectOption = Annotated[
    str | None,
    typer.Option(
        "--project", metavar="FOLDER", help="The project.", show_default="that of runs here"
    ),
]


def register_scope(memory: typer.Typer) -> None:
    """Add the group ``scope``."""
    scope = typer.Typer(
        help="Trees of nodes: a branch reads its ancestors and itself, nothing else.",
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    command(
        scope,
        "tree",
        example=["dcf memory scope tree", "dcf memory scope tree exp-1 --out tree.svg"],
    )(tree)
    command(
        scope,
        "show",
        example=["dcf memory scope show exp-1/wider", "dcf memory scope show exp-1/wider --own"],
    )(show)
    command(
        scope, "search", example='dcf memory scope search exp-1/wider "what overfits" --limit 3'
    )(search)
    command(
        scope,
        "add",
        example=[
            'dcf memory scope add exp-1/base "The loss is flat after 20 epochs."',
            'dcf memory scope add exp-1/wider "Wider layers overfit." --under exp-1/base',
            "dcf memory scope add exp-1/wider --score 0.71",
        ],
    )(add)
    command(
        scope,
        "edit",
        example='dcf memory scope edit exp-1/wider ENTRY "The loss is flat after 30 epochs."',
    )(edit)
    command(
        scope,
        "promote",
        example=[
            "dcf memory scope promote exp-1/wider ENTRY",
            "dcf memory scope promote exp-1/wider ENTRY --to exp-1/base",
        ],
    )(promote)
    command(scope, "diff", example="dcf memory scope diff exp-1/wider exp-1/deeper")(diff)
    command(scope, "move", example="dcf memory scope move exp-1/wider --under exp-1/deeper")(move)
    command(
        scope,
        "prune",
        example=["dcf memory scope prune exp-1/wider", "dcf memory scope prune exp-1/wider --yes"],
    )(prune)
    command(
        scope,
        "context",
        example=[
            "dcf memory scope context exp-1",
            """dcf memory scope context exp-1 --seed '{"goal": "low loss", "hardware": "1 GPU"}'""",
            """dcf memory scope context exp-1 --change '{"goal": "more speed"}'""",
        ],
    )(context)
    command(
        scope,
        "access",
        example=[
            "dcf memory scope access",
            "dcf memory scope access --node exp-1/wider --since yesterday --by ada",
        ],
    )(access)
    command(
        scope,
        "backup",
        example=[
            "dcf memory scope backup checkpoints/exp-1",
            "dcf memory scope backup --checkpoint exp-1 checkpoints/exp-1",
        ],
    )(backup)
    command(
        scope,
        "restore",
        example=[
            "dcf memory scope restore checkpoints/exp-1",
            "dcf memory scope restore checkpoints/exp-1 --as exp-1-again",
        ],
    )(restore)
    memory.add_typer(scope, name="scope")


def tree(
    checkpoint: Annotated[
        str | None,
        typer.Argument(
            metavar="[CHECKPOINT]",
            help="A run, a session or an experiment.",
            show_default="all of the project",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="PATH", help="A picture: .svg, .png, .mmd.", show_default="printed"
        ),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Draw the tree of nodes, with scores and the number of entries of each.

    In a picture the way to the node with the highest score is green.
    """
    from dcf.cli.memory.scope import show_tree
    from dcf.cli.settings import Settings

    return asyncio.run(show_tree(Settings.from_env(os.environ), project, checkpoint, out))


def show(
    node: NodeArgument,
    own: Annotated[
        bool, typer.Option("--own", help="Only what was written into the node itself.")
    ] = False,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="KIND", help="Only this kind; may be repeated."),
    ] = None,
    limit: LimitOption = 50,
    offset: Annotated[int, typer.Option("--offset", min=0, help="Leave so many out first.")] = 0,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Show what is read in a node, oldest first.

    That is what its ancestors and the node itself have; never what its siblings have, or what
    stands below. An entry that the node has edited is shown as the node has it.
    """
    from dcf.cli.memory.scope import show_node
    from dcf.cli.settings import Settings

    settings = Settings.from_env(os.environ)
    return asyncio.run(
        show_node(settings, project, node, own=own, kinds=kind or (), limit=limit, offset=offset)
    )


def search(
    node: NodeArgument,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for.")],
    limit: LimitOption = 5,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Search what is read in a node: entries, and what is remembered of its project."""
    from dcf.cli.memory.scope import search_node
    from dcf.cli.settings import Settings

    return asyncio.run(search_node(Settings.from_env(os.environ), project, node, query, limit))


def add(
    node: NodeArgument,
    text: Annotated[
        str, typer.Argument(metavar="[TEXT|-]", help="What is written; - reads it from stdin.")
    ] = "",
    under: Annotated[
        str | None,
        typer.Option(
            "--under", metavar="NODE", help="Make it below this one.", show_default="the root"
        ),
    ] = None,
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help="What sort of text it is.")
    ] = "note",
    title: Annotated[
        str | None, typer.Option("--title", help="What the node is about.", show_default="as it is")
    ] = None,
    score: Annotated[
        float | None,
        typer.Option("--score", help="How good the node is found.", show_default="as it is"),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Write a text into a node, which is made if it is missing.

    Its children read it from now on, its siblings do not. Where DCF_NODE names the node in which a
    program works, texts are written to that node alone.
    """
    from dcf.cli.memory.scope import Writing, add_entry
    from dcf.cli.settings import Settings

    order = Writing(node, text, under, kind, title, score)
    return asyncio.run(add_entry(Settings.from_env(os.environ), project, order))


def edit(
    node: NodeArgument,
    entry: Annotated[str, typer.Argument(metavar="ENTRY", help="The id of an entry it reads.")],
    text: Annotated[str, typer.Argument(metavar="TEXT|-", help="Its text from now on.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Change an entry as a node reads it.

    Of an entry of an ancestor the node gets a version of its own, for itself and those below it;
    the ancestor and its other children keep what they have.
    """
    from dcf.cli.memory.scope import edit_entry
    from dcf.cli.settings import Settings

    return asyncio.run(edit_entry(Settings.from_env(os.environ), project, node, entry, text))


def promote(
    node: NodeArgument,
    entries: Annotated[list[str], typer.Argument(metavar="ENTRY...", help="Ids of its entries.")],
    to: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="NODE", help="The ancestor that gets them.", show_default="its parent"
        ),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Give entries of a node to an ancestor, whose other branches read them from then on.

    The node keeps its own. Of an entry that the node had edited the ancestor gets the new text.
    """
    from dcf.cli.memory.scope import promote_entries
    from dcf.cli.settings import Settings

    settings = Settings.from_env(os.environ)
    return asyncio.run(promote_entries(settings, project, node, entries, to))


def diff(
    node: NodeArgument,
    other: Annotated[str, typer.Argument(metavar="OTHER", help="The node to compare with.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Show what is read in one node and not in the other."""
    from dcf.cli.memory.scope import show_difference
    from dcf.cli.settings import Settings

    return asyncio.run(show_difference(Settings.from_env(os.environ), project, node, other))


def move(
    node: NodeArgument,
    under: UnderOption,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Move a node, with all below it, below another one of its checkpoint.

    One row is written, however much is moved: what a node reads is looked for when it is read.
    """
    from dcf.cli.memory.scope import move_node
    from dcf.cli.settings import Settings

    return asyncio.run(move_node(Settings.from_env(os.environ), project, node, under))


def context(
    checkpoint: Annotated[
        str, typer.Argument(metavar="CHECKPOINT", help="A run, a session or an experiment.")
    ],
    seed: Annotated[
        str | None,
        typer.Option("--seed", metavar="JSON|-", help="Say it for the first time: an object."),
    ] = None,
    change: Annotated[
        str | None,
        typer.Option("--change", metavar="JSON|-", help="Set fields of it; null removes one."),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Show what an experiment is about: goal, primary metric, hardware, and any other field.

    All its nodes read that without a search. It is seeded once, by whoever comes first; later it
    changes only by --change.
    """
    from dcf.cli.memory.experiment import show_context
    from dcf.cli.settings import Settings

    settings = Settings.from_env(os.environ)
    return asyncio.run(show_context(settings, project, checkpoint, seed=seed, change=change))


def access(
    node: Annotated[
        str | None,
        typer.Option("--node", metavar="NODE", help="Only what was read in this node or from it."),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Not older.", show_default="all")
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="NAME", help="Only what this one read.")
    ] = None,
    limit: LimitOption = 50,
    before: Annotated[
        int | None, typer.Option("--before", metavar="SEQ", help="next_before of the page before.")
    ] = None,
    as_json: JsonOption = False,
) -> Answer:
    """Show who read what from which node, and when, the newest first.

    Reads stay on record for 30 days (DCF_ACCESS_DAYS; 0: none is noted), 200,000 at most.
    """
    from dcf.cli.memory.experiment import show_access
    from dcf.cli.settings import Settings

    settings = Settings.from_env(os.environ)
    return asyncio.run(show_access(settings, node, since=since, by=by, limit=limit, before=before))


def prune(
    node: NodeArgument,
    yes: SureOption = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Remove a node and all below it, with their entries; without --yes show what that is."""
    from dcf.cli.memory.scope import prune_node
    from dcf.cli.settings import Settings

    return asyncio.run(prune_node(Settings.from_env(os.environ), project, node, sure=yes))


def backup(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where to; memory_backup.jsonl.gz in it.")
    ],
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint",
            metavar="NAME",
            help="Which one.",
            show_default="that of DCF_NODE, or the only one",
        ),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Write a checkpoint to a file: its nodes and entries with all their versions.

    The file takes the place of the one before at once, whole or not at all. One that this memory
    never had, as of another checkpoint, is not replaced. It has the key of the
    memory, if that has one. What stands in the root of the project stays there.
    """
    from dcf.cli.memory.scope_snapshots import back_up
    from dcf.cli.settings import Settings

    return asyncio.run(back_up(Settings.from_env(os.environ), project, checkpoint, folder))


def restore(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="What `backup` wrote to.")],
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="NAME", help="Another name for it.", show_default="as it was called"
        ),
    ] = None,
    what_is_whole: Annotated[
        bool,
        typer.Option("--what-is-whole", help="Of a damaged file, restore what is not damaged."),
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Put a checkpoint back from a file, all of it or nothing.

    If there is an equal checkpoint of its name already, nothing is written. Another one is
    never written over. A file that is damaged is refused, with what is wrong in which line.
    """
    from dcf.cli.memory.scope_snapshots import put_back
    from dcf.cli.settings import Settings

    settings = Settings.from_env(os.environ)
    return asyncio.run(
        put_back(settings, project, folder, checkpoint=checkpoint, what_is_whole=what_is_whole)
    )
