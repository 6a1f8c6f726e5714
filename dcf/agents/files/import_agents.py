"""Taking the agents of a file into a memory."""

from __future__ import annotations

from datetime import UTC, datetime

from dcf.agents.files.agent_file import AgentFile, FileAgent, FileMessage
from dcf.agents.files.kept import is_old_prompt, kept_agents, kept_block
from dcf.memory import (
    Actor,
    Agent,
    Arrival,
    Arrivals,
    ArrivingMessage,
    Memory,
    OnNameTaken,
    take_in,
)
from dcf.memory.rules import kept_time


async def import_agents(
    memory: Memory, file: AgentFile, *, by: Actor, on_name_taken: OnNameTaken = "suffix"
) -> tuple[Agent, ...]:
    """The agents of ``file``, made in one transaction with all that is theirs, under new ids.

    A name that is taken gets a number behind it, or with ``refuse`` raises AgentExists. Raises
    InvalidEntry too.
    """
    arrivals = Arrivals(
        agents=[
            Arrival(new, blocks=agent.blocks, messages=_messages(agent))
            for new, agent in zip(kept_agents(file), file.agents, strict=True)
        ],
        blocks={block.id: kept_block(block) for block in file.blocks},
    )
    return await take_in(memory, arrivals, by=by, on_name_taken=on_name_taken)


def _messages(agent: FileAgent) -> list[ArrivingMessage]:
    return [
        ArrivingMessage(
            message.new,
            created_at=_time(message),
            archived=not message.in_context or is_old_prompt(seq, message),
        )
        for seq, message in enumerate(agent.messages, start=1)
    ]


def _time(message: FileMessage) -> int | None:
    """When the message was made, if the file says so in a way that can be read."""
    try:
        at = datetime.fromisoformat(message.extra.get("created_at", ""))
        return kept_time(at if at.tzinfo else at.replace(tzinfo=UTC))
    except (TypeError, ValueError):
        return None
