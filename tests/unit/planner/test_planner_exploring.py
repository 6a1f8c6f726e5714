"""Plannings that explore: each for itself, again the same, and only where that is not off."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path

from planning_desk import Desk, catalog

from dcf.evidence import Record
from dcf.guidelines import Guidelines
from dcf.knowledge import RunFact
from dcf.planner import Guide, Planner, Planning, history_of
from dcf.skills import SkillCatalog

TASK = "support.triage_ticket"
OLD, NEW = f"skill.{TASK}@1.0.0", f"skill.{TASK}@9.0.0"
PROCEDURE = f"""# Sort a ticket

Objective: The ticket is sorted.

## Inputs

- `ticket_id` (text): the ticket

## Steps

1. Read the ticket and sort it.
   - Skills: `{TASK}`
   - Reads: `ticket_id`
   - Writes: `category`
"""


class History:
    """Both versions did well, the old one a little better."""

    async def runs(
        self, *, workflow: str | None = None, since: int | None = None
    ) -> AsyncIterator[RunFact]:
        for one in ():
            yield one

    async def records(
        self, task_type: str, since: int | None = None, *, now: int
    ) -> Mapping[str, Record]:
        return {OLD: Record(8, 2, 10), NEW: Record(7, 3, 10)} if task_type == TASK else {}


async def no_guidelines() -> tuple[Guidelines, str]:
    return Guidelines(), "none"


def desk(folder: Path, *, explore: bool = True) -> Desk:
    found = catalog().resolve(TASK)
    newer = replace(found, manifest_id=NEW, version="9.0.0")
    made = Desk(folder)
    made.skills = SkillCatalog([*catalog(), newer])
    guide = Guide(no_guidelines, history_of(History()), clock=made.clock)
    names = iter(f"plan{number}" for number in range(1, 100))
    made.planner = Planner(
        made.planner.bench, made.store, clock=made.clock, new_id=lambda: next(names),
        guide=guide, explore=explore,
    )  # fmt: skip
    return made


async def planned(one: Desk) -> Planning:
    return await one.planner.start("", {"ticket_id": "TCK-1"}, procedure=("sort.md", PROCEDURE))


def taken(planning: Planning) -> tuple[str, bool, str]:
    assert planning.plan is not None
    (step,) = planning.plan["steps"]
    return step["skills"][0], step["explored"], step["why"]


async def test_some_plannings_explore_and_each_takes_the_same_again(tmp_path: Path) -> None:
    one = desk(tmp_path)
    plannings = [await planned(one) for _ in range(12)]
    explored = [planning for planning in plannings if taken(planning)[1]]
    assert 0 < len(explored) < 12
    for planning in (explored[0], next(each for each in plannings if each not in explored)):
        assert planning.guidance["explores"] is True
        again = await one.planner.answer(planning.id, {"guardrails": "Be polite."})
        assert taken(again) == taken(planning)
        assert "exploring: " in taken(again)[2]


async def test_switched_off_all_take_the_recommended_one(tmp_path: Path) -> None:
    one = desk(tmp_path, explore=False)
    plannings = [await planned(one) for _ in range(12)]
    assert {taken(planning)[:2] for planning in plannings} == {(f"{TASK}@1.0.0", False)}
    assert taken(plannings[0])[2].endswith("exploring is switched off")
    # Whoever goes on with it elsewhere does not explore either.
    elsewhere = desk(tmp_path)
    again = await elsewhere.planner.answer(plannings[3].id, {"guardrails": "Be polite."})
    assert (again.explores, taken(again)[1]) == (False, False)
