"""``dcf memory remember``: a text for a block, or for the archive."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dcf.cli.answer import Answer
from dcf.cli.memory.entries import block_entry, passage_entry
from dcf.cli.memory.given_text import given_text
from dcf.cli.memory.naming import agent_named
from dcf.cli.memory.opening import opened, person
from dcf.cli.memory.wording import fill_bar
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.memory import Actor, Agent, Block, BlockFields, Memory, NewBlock, NewPassage, OnLimit
from dcf.problem import Problem

DEFAULT_LABEL = "human"


@dataclass(frozen=True, slots=True)
class Remembering:
    """What is to be remembered, and where: on a new line of the block ``label``, in place of the
    text ``old`` in it, as all of it (``rewrite``), as a block that is ``new``, or in the archive
    (``passage``). ``expected`` is the revision that the block must have; ``limit`` and
    ``soft_limit`` its limits from now on, in bytes, and ``on_limit`` what they do."""

    text: str
    label: str = DEFAULT_LABEL
    old: str | None = None
    rewrite: bool = False
    new: bool = False
    expected: int | None = None
    limit: int | None = None
    soft_limit: int | None = None
    on_limit: OnLimit | None = None
    passage: bool = False
    tags: tuple[str, ...] = ()
    salience: float = 0.5
    reason: str = ""


async def remember(settings: Settings, name: str, order: Remembering) -> Answer:
    """Keep a text. Raises a MemoryProblem, BadInput; then nothing changed."""
    by = person(order.reason or "told by `dcf memory remember`")
    order = replace(order, text=given_text(order.text))
    _demand_text(order)
    async with opened(settings) as memory:
        agent = await agent_named(memory, name)
        if order.passage:
            return await _archived(memory, agent, order, by)
        block = await _written(memory, agent, order, by)
    size = len(block.value.encode())
    show: list[str] = [f"{agent.name}/{block.label}: {fill_bar(size, block.hard_limit)}"]
    if block.warning:
        show.append(f"warning: {block.warning}")
    return Answer({"agent": agent.name, "block": block_entry(block)}, show)


async def _archived(memory: Memory, agent: Agent, order: Remembering, by: Actor) -> Answer:
    new = NewPassage(order.text, order.tags, order.salience, source="dcf memory remember")
    [passage] = await memory.passages.insert(agent.id, new, by=by)
    fields = {"agent": agent.name, "passage": passage_entry(passage)}
    return Answer(fields, [f"{passage.id} is in the archive of {agent.name}."])


async def _written(memory: Memory, agent: Agent, order: Remembering, by: Actor) -> Block:
    blocks, label, expected = memory.blocks, order.label, order.expected
    if order.new:
        new = await memory.labels.new(label, order.text)
        limits = _limits(order, new)
        return await blocks.create(agent.id, replace(new, **limits), by=by)
    limits = _limits(order, await blocks.read(agent.id, label))
    if limits and not order.text and order.old is None and not order.rewrite:
        return await blocks.change(agent.id, label, by=by, expected=expected, **limits)
    if order.old is not None:
        return await blocks.replace(
            agent.id, label, order.old, order.text, by=by, expected=expected, fields=limits
        )
    write = blocks.write if order.rewrite else blocks.append
    return await write(agent.id, label, order.text, by=by, expected=expected, fields=limits)


def _demand_text(order: Remembering) -> None:
    """Raises BadInput where there is nothing to remember, and nothing else to do."""
    limits = (order.limit, order.soft_limit, order.on_limit)
    does_more = order.rewrite or order.new or order.old is not None or any(limits)
    if order.text.strip() or does_more:
        return
    hint = "--rewrite with it empties a block, --replace OLD takes OLD out"
    raise BadInput([Problem("CLI_TEXT", "there is no text to remember", hint=hint, file="TEXT")])


def _limits(order: Remembering, block: Block | NewBlock) -> BlockFields:
    """The limits that were given. The soft one moves with the hard one, unless it is given too."""
    limits: BlockFields = {}
    if order.on_limit is not None:
        limits["on_limit"] = order.on_limit
    if order.limit is not None:
        limits["hard_limit"] = order.limit
        limits["soft_limit"] = _moved(block.soft_limit, block.hard_limit, order.limit)
    if order.soft_limit is not None:
        limits["soft_limit"] = order.soft_limit
    return limits


def _moved(soft: int | None, hard: int | None, limit: int) -> int | None:
    """The soft limit in the same proportion to another hard one."""
    if soft is None:
        return None
    return soft * limit // hard if hard else min(soft, limit)
