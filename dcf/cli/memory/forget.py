"""``dcf memory forget``: a text of a block, a block, or a passage of the archive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dcf.cli.answer import Answer
from dcf.cli.asking import confirm
from dcf.cli.memory.entries import block_entry, passage_entry
from dcf.cli.memory.given_text import given_text
from dcf.cli.memory.naming import agent_named
from dcf.cli.memory.opening import opened, person
from dcf.cli.memory.remember import DEFAULT_LABEL
from dcf.cli.memory.wording import one_line
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.wording import counted
from dcf.memory import Actor, Agent, Memory, UnknownPassage


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What is to be forgotten: the ``text`` in the block ``label`` (None: ``human``), that whole
    block if there is no text, or the passage with this id. A block that others hold is let go by
    this agent only, with ``detach``."""

    text: str | None = None
    label: str | None = None
    passage: str | None = None
    detach: bool = False
    reason: str = ""
    sure: bool = False


async def forget(settings: Settings, name: str, order: Forgetting, screen: Screen) -> Answer:
    """Take something out of an agent's memory, and say how it comes back.

    Raises a MemoryProblem, and NotSo unless it was confirmed; then nothing changed.
    """
    by = person(order.reason or "told by `dcf memory forget`")
    async with opened(settings) as memory:
        agent = await agent_named(memory, name)
        if order.passage is not None:
            return await _passage(memory, agent, order, by, screen)
        if order.text is not None:
            return await _text(memory, agent, order, by)
        return await _block(memory, agent, order, by, screen)


async def _passage(
    memory: Memory, agent: Agent, order: Forgetting, by: Actor, screen: Screen
) -> Answer:
    passage = await memory.passages.get(str(order.passage))
    if passage.agent_id != agent.id:
        raise UnknownPassage(passage_id=f"{passage.id} in the archive of {agent.name}")
    lost = f"passage {passage.id}: {one_line(passage.text)}"
    _ask(lost, order, screen)
    await memory.passages.delete(passage.id, by=by)
    back = await _way_back(memory, agent, passage.id)
    return _gone(agent, lost, back, {"passage": passage_entry(passage)})


async def _text(memory: Memory, agent: Agent, order: Forgetting, by: Actor) -> Answer:
    label, text = order.label or DEFAULT_LABEL, given_text(str(order.text))
    block = await memory.blocks.read(agent.id, label)
    rest = without_line(block.value, text)
    if rest is not None:
        changed = await memory.blocks.write(agent.id, label, rest, by=by, expected=block.revision)
    else:
        changed = await memory.blocks.replace(
            agent.id, label, text, "", by=by, expected=block.revision
        )
    back = await _way_back(memory, agent, block.id)
    fields: dict[str, Any] = {"block": block_entry(changed), "text": text}
    return _gone(agent, f"{one_line(text)!r} in {label}", back, fields)


async def _block(
    memory: Memory, agent: Agent, order: Forgetting, by: Actor, screen: Screen
) -> Answer:
    label = str(order.label)
    block = await memory.blocks.read(agent.id, label)
    size = len(block.value.encode())
    lost = f"block {label} ({counted(size, 'byte', 'bytes')}): {one_line(block.value)}"
    _ask(lost, order, screen)
    before = await memory.events.last()
    if order.detach:
        await memory.blocks.detach(agent.id, label, by=by)
    else:
        await memory.blocks.delete(agent.id, label, by=by, expected=block.revision)
    done = await memory.events.list(agent_id=agent.id, label=label, limit=2)
    numbers = [event.seq for event in done if event.seq > before]
    events = " ".join(f"--event {seq}" for seq in sorted(numbers))
    return _gone(agent, lost, f"dcf memory rollback {events}", {"block": block_entry(block)})


def _ask(lost: str, order: Forgetting, screen: Screen) -> None:
    if not order.sure:
        screen.say(f"This removes {lost}")
    confirm("Forget it?", screen, sure=order.sure)


async def _way_back(memory: Memory, agent: Agent, entity_id: str) -> str:
    """The command that undoes the last change of a row."""
    for event in await memory.events.list(agent_id=agent.id, limit=10):
        if event.entity_id == entity_id:
            return f"dcf memory rollback --event {event.seq}"
    return f"dcf memory history {agent.name}"


def _gone(agent: Agent, lost: str, back: str, fields: dict[str, Any]) -> Answer:
    said = [f"{agent.name} has forgotten {lost}", f"The way back: {back}"]
    return Answer({"agent": agent.name, **fields, "way_back": back}, said, "forgotten")


def without_line(held: str, text: str) -> str | None:
    """``held`` without the one place where ``text`` makes up whole lines, and without an empty line
    in its place; None if there is no such place, or several."""
    framed, lines = f"\n{held}\n", f"\n{text}\n"
    # One may begin with the line end of another.
    first = framed.find(lines)
    if first < 0 or framed.find(lines, first + 1) >= 0:
        return None
    return framed.replace(lines, "\n")[1:].removesuffix("\n")
