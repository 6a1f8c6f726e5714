"""``memory``: what agents remember."""

from __future__ import annotations

import typer

from dcf.cli.commands.memory_agents import register_agents
from dcf.cli.commands.memory_blocks import register_blocks
from dcf.cli.commands.memory_observation_extraction import register_observation_extraction
from dcf.cli.commands.memory_observation_files import register_observation_files
from dcf.cli.commands.memory_observations import register_observations
from dcf.cli.commands.memory_past import register_past
from dcf.cli.commands.memory_scope import register_scope
from dcf.cli.commands.memory_serving import register_serving
from dcf.cli.commands.memory_tending import register_tending
from dcf.cli.commands.memory_threads import register_threads
from dcf.cli.commands.memory_transfer import register_transfer


def register(app: typer.Typer) -> None:
    """Add the group ``memory`` with its commands."""
    memory = typer.Typer(
        help="What agents remember: blocks, archive, observations, search, history, backups.",
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    register_agents(memory)
    register_blocks(memory)
    register_past(memory)
    observations = register_observations(memory)
    register_observation_files(observations)
    register_observation_extraction(observations)
    register_tending(memory)
    register_threads(memory)
    register_scope(memory)
    register_serving(memory)
    register_transfer(memory)
    app.add_typer(memory, name="memory")
