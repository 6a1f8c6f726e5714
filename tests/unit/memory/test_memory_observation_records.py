"""Observations as records: all of them, page by page, whatever is written meanwhile."""

from __future__ import annotations

from dcf.memory import Actor, Filter, Memory, NewObservation, Origin

MANY = 230


def numbered(number: int, run: str = "r1") -> NewObservation:
    return NewObservation("change", f"change {number}", Origin("run", run), at=number)


async def test_what_is_there_all_the_time_is_read_once(memory: Memory, by: Actor) -> None:
    """Pages are cut by ids: neither what is seen again nor the end of a page that is taken away
    moves another one."""
    made = await memory.observations.observe(
        Origin("run", "r1"), "1", *map(numbered, range(MANY)), by=by
    )
    assert made is not None
    read, gone = [], set()
    async for record in memory.observations.records():
        read.append(record.observation.id)
        if len(read) == 100:
            gone = {record.observation.id}
            await memory.observations.forget(Filter(ids=[record.observation.id]), by=by)
            again = [numbered(number, "r2") for number in range(MANY)]
            again.pop(record.observation.at)
            await memory.observations.observe(Origin("run", "r2"), "1", *again, by=by)
    assert sorted(set(read) - gone) == sorted({one.id for one in made} - gone)
    assert len(read) == len(set(read))
