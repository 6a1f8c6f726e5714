"""``dcf memory observations``: what was seen is forgotten, pinned, put in other words, or into a
block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dcf.cli.answer import Answer
from dcf.cli.memory.entries import block_entry
from dcf.cli.memory.given_text import given_text
from dcf.cli.memory.naming import DEFAULT, agent_named
from dcf.cli.memory.observations import (
    ObservationsQuestion,
    in_full,
    observation_entry,
    observations_table,
    short,
)
from dcf.cli.memory.opening import opened, person
from dcf.cli.memory.wording import fill_bar
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.cli.wording import counted
from dcf.memory import Forgotten, ObservationDesk, Texts, way_back
from dcf.problem import Problem

_SHOWN = 50
"""Rows for people; --json has all."""


@dataclass(frozen=True, slots=True)
class ForgettingOrder:
    """Which observations go: these ``ids`` (or their beginnings, or addresses), or what ``asked``
    leaves. Unless it is ``sure`` it is only shown what would go."""

    ids: tuple[str, ...]
    asked: ObservationsQuestion
    sure: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PromotionOrder:
    """Which observations go into the block ``label`` of which agent."""

    ids: tuple[str, ...]
    label: str
    agent: str = DEFAULT
    dry_run: bool = False
    reason: str = ""


async def forget_observations(settings: Settings, order: ForgettingOrder) -> Answer:
    """Forget observations, or show what would be forgotten. Raises BadInput, IdsAndFilters,
    UnknownObservation, AmbiguousObservation, NothingChosen; then nothing changed."""
    order.asked.filter()
    by = person(order.reason or "told by `dcf memory observations forget`")
    async with opened(settings) as memory:
        done = await ObservationDesk(memory).forget(
            order.ids, order.asked.choice, by=by, dry_run=not order.sure
        )
    return _forgotten(done)


async def pin_observations(
    settings: Settings, names: Sequence[str], *, pinned: bool, reason: str
) -> Answer:
    """Pin observations, or let go of their pins; all or none. Raises UnknownObservation,
    AmbiguousObservation."""
    word = "pinned" if pinned else "unpinned"
    by = person(reason or f"told by `dcf memory observations {word.removesuffix('ned')}`")
    async with opened(settings) as memory:
        done = await ObservationDesk(memory).pin(names, pinned=pinned, by=by)
    now = done.now
    fields = {"observations": [observation_entry(one) for one in now]}
    if done.is_same:
        return Answer(fields, [f"Nothing to change: all of it is {word}."], "unchanged")
    number = counted(len(now), "observation", "observations")
    return Answer(fields, [observations_table(now), f"{number} {word}"], word)


async def edit_observation(settings: Settings, name: str, texts: Texts, reason: str) -> Answer:
    """Change what an observation says. Raises BadInput, a MemoryProblem; then nothing changed."""
    if texts == Texts():
        message = f"nothing says what {name} is to say"
        hint = "give one of --title, --subtitle, --fact, --no-facts and --narrative"
        raise BadInput([Problem("CLI_OBSERVATIONS_EDIT", message, hint=hint, file="ID")])
    if texts.narrative is not None:
        texts = replace(texts, narrative=given_text(texts.narrative))
    by = person(reason or "told by `dcf memory observations edit`")
    async with opened(settings) as memory:
        done = await ObservationDesk(memory).edit(name, texts, by=by)
    (now,) = done.now
    back = way_back([] if done.event is None else [done.event])
    fields = {"observation": observation_entry(now), "way_back": back}
    if back is None:
        return Answer(fields, [*in_full(now), "It says that already."], "unchanged")
    return Answer(fields, [*in_full(now), f"The way back: {back}"], "edited")


async def promote_observations(settings: Settings, order: PromotionOrder) -> Answer:
    """Put observations into a block. Raises a MemoryProblem, NotSo; then nothing changed."""
    by = person(order.reason or "told by `dcf memory observations promote`")
    async with opened(settings) as memory:
        agent = await agent_named(memory, order.agent)
        done = await ObservationDesk(memory).promote(
            order.ids, agent.id, order.label, by=by, dry_run=order.dry_run
        )
    block, back = done.block, way_back([] if done.event is None else [done.event])
    fields = {
        "agent": agent.name,
        "block": block_entry(block),
        "added": [observation_entry(one) for one in done.added],
        "already": [observation_entry(one) for one in done.already],
        "way_back": back,
    }
    where = f"{agent.name}/{block.label}"
    show: list[Any] = [f"{short(one)} is in {where} already." for one in done.already]
    if not done.added:
        return Answer(fields, show, "unchanged")
    show.append(observations_table(done.added))
    show += [f"warning: {block.warning}"] if block.warning else []
    number = counted(len(done.added), "observation", "observations")
    size = fill_bar(len(block.value.encode()), block.hard_limit)
    if back is None:
        return Answer(fields, [*show, f"{number} would be added to {where}: {size}"], "tried")
    show += [f"{number} added to {where}: {size}", f"The way back: {back}"]
    return Answer(fields, show, "promoted")


def _forgotten(done: Forgotten) -> Answer:
    gone = done.observations
    back = way_back(done.events)
    fields: dict[str, Any] = {
        "observations": [observation_entry(one) for one in gone],
        "way_back": back,
        "pinned": done.pinned,
    }
    left = f"{counted(done.pinned, 'is', 'are')} pinned and left alone: name it by its id"
    pinned = [left] if done.pinned else []
    if not gone:
        return Answer(fields, ["None of these: nothing is forgotten.", *pinned], "unchanged")
    show: list[Any] = [observations_table(gone[:_SHOWN]), *pinned]
    if len(gone) > _SHOWN:
        show.append(f"… {len(gone) - _SHOWN} more; --json has all")
    number = counted(len(gone), "observation", "observations")
    if back is None:
        show.append(f"{number} would be forgotten; --yes does it")
        return Answer(fields, show, "tried")
    return Answer(fields, [*show, f"{number} forgotten", f"The way back: {back}"], "forgotten")
