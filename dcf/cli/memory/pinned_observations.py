"""``dcf memory observations pin`` and ``unpin``: what is told before others."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.cli.answer import Answer
from dcf.cli.memory.observations import id_in, observation_entry, observations_table
from dcf.cli.memory.opening import opened, person
from dcf.cli.settings import Settings
from dcf.cli.wording import counted


async def pin_observations(
    settings: Settings, names: Sequence[str], *, pinned: bool, reason: str
) -> Answer:
    """Pin observations, or let go of their pins; all or none. Raises UnknownObservation,
    AmbiguousObservation."""
    word = "pinned" if pinned else "unpinned"
    by = person(reason or f"told by `dcf memory observations {word.removesuffix('ned')}`")
    async with opened(settings) as memory:
        found = [await memory.observations.get(id_in(name)) for name in names]
        change = memory.observations.pin if pinned else memory.observations.unpin
        now = await change(*(one.id for one in found), by=by)
    fields = {"observations": [observation_entry(one) for one in now]}
    if now == tuple(found):
        return Answer(fields, [f"Nothing to change: all of it is {word}."], "unchanged")
    number = counted(len(now), "observation", "observations")
    return Answer(fields, [observations_table(now), f"{number} {word}"], word)
