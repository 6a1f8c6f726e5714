"""``dcf memory rollback``: a block, an agent, a consolidation or single changes taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from rich.text import Text

from dcf.cli.answer import Answer
from dcf.cli.asking import confirm
from dcf.cli.memory.changes import fragments, heading
from dcf.cli.memory.entries import event_entry
from dcf.cli.memory.naming import id_of, names_of
from dcf.cli.memory.opening import opened, person
from dcf.cli.memory.show import block_then, demand_moment
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.cli.wording import counted
from dcf.memory import Actor, Event, Memory
from dcf.problem import Problem

_DIGITS = 18
"""Of a number that SQLite can have."""
_MOST = 100_000
"""Changes that one stretch may have."""


@dataclass(frozen=True, slots=True)
class RollbackOrder:
    """What goes back: an agent, or its block ``label``, to just after event ``to``; or what a
    ``consolidation`` did; or the changes ``events``."""

    agent: str | None = None
    label: str | None = None
    to: int = 0
    consolidation: str | None = None
    events: tuple[range, ...] = ()
    dry_run: bool = False
    sure: bool = False
    reason: str = ""


def stretches_in(given: Sequence[str]) -> tuple[range, ...]:
    """Changes, each given by its number, as in ``15``, or several by the first and the last, as in
    ``15-18``. Raises BadInput with all that are neither."""
    stretches: list[range] = []
    problems = []
    for one in given:
        first, to, last = one.partition("-")
        ends = (first, last if to else first)
        if not all(end.isascii() and end.isdigit() and len(end) <= _DIGITS for end in ends):
            message = f"{one!r} is neither the number of a change nor two of them"
            hint = "as in --event 15 or --event 15-18; `dcf memory history` has the numbers"
            problems.append(Problem("CLI_EVENT", message, hint=hint, file="--event"))
            continue
        stretch = range(int(ends[0]), int(ends[1]) + 1)
        if 0 < len(stretch) <= _MOST:
            stretches.append(stretch)
            continue
        message = f"{one!r} has {max(len(stretch), 0):,} changes, not 1 to {_MOST:,}"
        hint = "the smaller number comes first, as in --event 15-18"
        problems.append(Problem("CLI_EVENT", message, hint=hint, file="--event"))
    if problems:
        raise BadInput(problems)
    return tuple(stretches)


async def roll_back(settings: Settings, order: RollbackOrder, screen: Screen) -> Answer:
    """Take changes back, once that is confirmed. Raises RollbackRefused with everything in the
    way, and then nothing changed."""
    by = person(order.reason or "asked for by `dcf memory rollback`")
    async with opened(settings) as memory:
        target = await _target(memory, order)
        await _demand_events(memory, order.events)
        await demand_moment(memory, order.to, "--to")
        tried = await _go_back(memory, order, target, by, dry_run=True)
        agents = await names_of(memory)
        if order.dry_run or not tried:
            return _answer(tried, agents, "would go back" if tried else "nothing to take back")
        if not order.sure:
            for line in _lines(tried, agents, tried=True):
                screen.human.print(line)
        confirm(f"Take {counted(len(tried), 'row', 'rows')} back?", screen, sure=order.sure)
        done = await _go_back(memory, order, target, by, dry_run=False)
        return _answer(done, await names_of(memory), "went back")


async def _target(memory: Memory, order: RollbackOrder) -> str:
    """The id of what goes back."""
    if order.agent is None:
        return ""
    agent_id = await id_of(memory, order.agent)
    return agent_id if order.label is None else await block_then(memory, agent_id, order.label)


async def _demand_events(memory: Memory, stretches: tuple[range, ...]) -> None:
    """Raises BadInput with the changes that there are not, or no longer."""
    problems = []
    for stretch in stretches:
        found = await memory.events.list(before=stretch.stop, limit=len(stretch))
        there = {event.seq for event in found}
        missing = [seq for seq in stretch if seq not in there]
        for seq in missing[:_NAMED]:
            hint = "`dcf memory history` lists them; old ones are given up after a while"
            problems.append(Problem("CLI_EVENT", f"there is no change {seq}", hint=hint))
    if problems:
        raise BadInput(problems)


async def _go_back(
    memory: Memory, order: RollbackOrder, target: str, by: Actor, *, dry_run: bool
) -> tuple[Event, ...]:
    events = memory.events
    if order.events:
        return await events.undo(*chain(*order.events), by=by, dry_run=dry_run)
    if order.consolidation is not None:
        return await events.roll_back_consolidation(order.consolidation, by=by, dry_run=dry_run)
    back = events.roll_back_agent if order.label is None else events.roll_back_block
    return await back(target, order.to, by=by, dry_run=dry_run)


def _answer(events: tuple[Event, ...], agents: dict[str, str], said: str) -> Answer:
    changes = [event_entry(event) for event in events]
    if not events:
        return Answer({"events": []}, [f"{said.capitalize()}."], "unchanged")
    status = "tried" if said.startswith("would") else "rolled_back"
    tried = status == "tried"
    show = [*_lines(events, agents, tried=tried), f"{counted(len(events), 'row', 'rows')} {said}."]
    if status == "rolled_back":
        undo = " ".join(f"--event {event.seq}" for event in events[:_NAMED])
        show += [f"That can be undone: dcf memory rollback {undo}"] * (len(events) <= _NAMED)
    return Answer({"events": changes}, show, status)


_NAMED = 10


def _lines(events: tuple[Event, ...], agents: dict[str, str], *, tried: bool) -> list[Text]:
    return [
        line
        for event in events
        for line in (heading(event, agents, tried=tried), *fragments(event))
    ]
