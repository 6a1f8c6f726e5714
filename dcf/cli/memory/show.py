"""``dcf memory show``: the blocks of an agent, one block, its context, its conversation."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.text import Text

from dcf.cli.answer import Answer
from dcf.cli.memory.entries import agent_entry, block_entry, message_entry, passage_entry
from dcf.cli.memory.naming import agent_named, id_of
from dcf.cli.memory.opening import opened
from dcf.cli.memory.wording import fill_bar, moment, one_line
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, NotSo
from dcf.cli.wording import counted
from dcf.memory import Agent, Block, Memory, Message
from dcf.problem import Problem


async def show_blocks(settings: Settings, name: str) -> Answer:
    """All blocks of an agent: how full, from where, how often changed."""
    async with opened(settings) as memory:
        agent = await agent_named(memory, name)
        held = [
            (block, await _others(memory, agent, block)) for block in await _blocks(memory, agent)
        ]
    fields = {
        "agent": agent_entry(agent),
        "blocks": [block_entry(block, shared_with=others) for block, others in held],
    }
    show: list[Any] = [Text(agent.name, "bold")]
    for block, others in held:
        show += _block_lines(block, others)
    if not held:
        show.append(f"{agent.name} has no blocks; `dcf memory remember --new` makes one")
    return Answer(fields, show)


async def show_block(settings: Settings, name: str, label: str, at: int | None) -> Answer:
    """One block with its whole text, now or just after event ``at``."""
    async with opened(settings) as memory:
        if at is not None:
            return await _past(memory, await id_of(memory, name), label, at)
        agent = await agent_named(memory, name)
        block = await memory.blocks.read(agent.id, label)
        others = await _others(memory, agent, block)
    show = [*_heading(block, others), Text(block.value)]
    return Answer({"block": block_entry(block, shared_with=others)}, show)


async def show_context(settings: Settings, name: str, budget: int | None) -> Answer:
    """What stands before the agent when its turn comes. Raises ContextTooSmall."""
    async with opened(settings) as memory:
        agent = await agent_named(memory, name)
        context = await memory.contexts.assemble(agent.id, budget=budget)
    spoken = sum(message.tokens for message in context.messages)
    fields = {
        "agent": agent.name,
        "system": context.system,
        "messages": [message_entry(message) for message in context.messages],
        "tokens": {
            "system": context.tokens - spoken,
            "messages": spoken,
            "total": context.tokens,
            "budget": context.budget,
        },
        "overflow": list(context.overflow),
        "unfinished": list(context.unfinished),
    }
    show: list[Any] = [Text(context.system)]
    show += [line for message in context.messages for line in _message_lines(message)]
    show.append(
        Text(
            f"{context.tokens - spoken:,} tokens of instructions and blocks + {spoken:,} of"
            f" {counted(len(context.messages), 'message', 'messages')} ="
            f" {context.tokens:,} of {context.budget:,}",
            "dim",
        )
    )
    if context.overflow:
        left = counted(len(context.overflow), "message does", "messages do")
        show.append(f"{left} not fit: the next turn has a summary in their place")
    return Answer(fields, show)


async def show_messages(settings: Settings, name: str, limit: int) -> Answer:
    """The newest messages of an agent's conversation."""
    async with opened(settings) as memory:
        agent = await agent_named(memory, name)
        messages = await memory.messages.list(agent.id, limit=limit, newest=True)
        total = await memory.messages.count(agent.id)
    fields = {
        "agent": agent.name,
        "messages": [message_entry(message) for message in messages],
        "total": total,
    }
    show = [line for message in messages for line in _message_lines(message)]
    show.append(Text(f"{len(messages)} of {counted(total, 'message', 'messages')}", "dim"))
    return Answer(fields, show)


async def show_message(settings: Settings, name: str, number: str) -> Answer:
    """One message of an agent's conversation. Raises BadInput, UnknownAgent, UnknownMessage."""
    if not (number.isascii() and number.isdigit()):
        said = f"{number!r} is not the number of a message"
        hint = "messages are numbered from 1; `dcf memory show AGENT --messages` shows them"
        raise BadInput([Problem("CLI_MESSAGE_NUMBER", said, hint=hint, file="URI")])
    async with opened(settings) as memory:
        agent = await agent_named(memory, name)
        message = await memory.messages.get(agent.id, int(number))
    return Answer(
        {"agent": agent.name, "message": message_entry(message)},
        [Text(agent.name, "bold"), *_message_lines(message)],
    )


async def show_passage(settings: Settings, passage_id: str) -> Answer:
    """One passage of an archive. Raises UnknownPassage."""
    async with opened(settings) as memory:
        passage = await memory.passages.get(passage_id)
        agent = await memory.agents.get(passage.agent_id)
    tags = f"  {', '.join(passage.tags)}" if passage.tags else ""
    head = Text.assemble((agent.name, "bold"), (f"  {moment(passage.created_at)}{tags}", "dim"))
    fields = {"agent": agent.name, "passage": passage_entry(passage)}
    return Answer(fields, [head, Text(passage.text)])


async def show_entry(settings: Settings, entry_id: str) -> Answer:
    """One entry of a node. Raises UnknownEntry."""
    async with opened(settings) as memory:
        entry = await memory.nodes.entry(entry_id)
        node = await memory.nodes.get(entry.node_id)
    about = f"  {entry.kind}, {moment(entry.created_at)}"
    head = Text.assemble((node.called, "bold"), (about, "dim"))
    return Answer({"node": node.called, "entry": asdict(entry)}, [head, Text(entry.text)])


async def demand_moment(memory: Memory, seq: int, option: str) -> None:
    """Raises BadInput where there was no change ``seq`` yet."""
    last = await memory.events.last()
    if seq > last:
        message = f"there is no change {seq}; the newest is {last}"
        hint = "`dcf memory history` lists them"
        raise BadInput([Problem("CLI_EVENT", message, hint=hint, file=option)])


async def _past(memory: Memory, agent_id: str, label: str, at: int) -> Answer:
    await demand_moment(memory, at, "--at")
    block_id = await block_then(memory, agent_id, label)
    text = await memory.events.text(block_id, at)
    if text is None:
        hint = f"`dcf memory history` says when {label} was made, and when it went"
        raise NotSo("memory_no_text_then", f"there was no {label} after event {at}", hint)
    return Answer({"label": label, "block_id": block_id, "at": at, "value": text}, [Text(text)])


async def block_then(memory: Memory, agent_id: str, label: str) -> str:
    """The id of the block that is, or was last, ``label`` for the agent. Raises NotSo."""
    for event in await memory.events.list(agent_id=agent_id, label=label, limit=1_000):
        if event.entity == "block":
            return event.entity_id
        change = event.change.get("created") or event.change.get("deleted") or {}
        if "block_id" in change:
            return str(change["block_id"])
    # A block that it holds and never wrote to.
    return (await memory.blocks.read(agent_id, label)).id


async def _blocks(memory: Memory, agent: Agent) -> tuple[Block, ...]:
    return await memory.blocks.list(agent.id)


async def _others(memory: Memory, agent: Agent, block: Block) -> int:
    holders = {holder for holder, _ in await memory.blocks.holders(block.id)}
    return len(holders - {agent.id})


_FROM = {
    "new": "made here",
    "global": "made for all",
    "project": "from a project",
    "imported": "from an agent file",
}


def _heading(block: Block, others: int) -> list[Text]:
    size = len(block.value.encode())
    about = [block.type, _FROM[block.provenance], f"revision {block.revision}"]
    if block.read_only:
        about.append("read-only")
    if others:
        about.append(f"shared with {counted(others, 'other', 'others')}")
    bar = fill_bar(size, block.hard_limit)
    over = block.soft_limit is not None and size > block.soft_limit
    return [
        Text.assemble((f"{block.label:<16}", "bold"), (bar, "yellow" if over else "")),
        Text(f"  {', '.join(about)}, {moment(block.updated_at)}", "dim"),
    ]


def _block_lines(block: Block, others: int) -> list[Text]:
    lines = _heading(block, others)
    if block.value:
        lines.append(Text(f"  {one_line(block.value)}"))
    return lines


def _message_lines(message: Message) -> list[Any]:
    calls = [f"{part.get('kind')} {part.get('tool')}" for part in message.parts if part.get("tool")]
    head = f"{message.seq:>5} {message.role}"
    about = f"  {message.tokens:,} tokens, {moment(message.created_at)}"
    if message.archived_at is not None:
        about += ", archived"
    lines = [line for text in (*calls, message.content) for line in text.splitlines()]
    return [
        Text.assemble((head, "bold"), (about, "dim")),
        *(Text(f"      {line}".rstrip()) for line in lines),
    ]
