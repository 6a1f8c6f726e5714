"""Which version of a skill is taken, and what is said of the choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from small_market import small_market

from dcf.evidence import Record
from dcf.guidelines import Guidelines, SkillRecommendation
from dcf.planner import PlannedStep, compile_sop
from dcf.sop import Sop, Step, Transfer, Value

OLD, MIDDLE, NEW = (f"skill.shop.charge@{version}" for version in ("1.0.0", "1.1.0", "2.0.0"))


@dataclass(frozen=True)
class Measures:
    """Records by manifest id, for every type of task."""

    found: Mapping[str, Record]

    def records(self, task_type: str) -> Mapping[str, Record]:
        return self.found if task_type == "shop.charge" else {}


def chosen(folder: Path, skill: str = "", **changed: Any) -> PlannedStep:
    reads = (Transfer("order_id", "order_id"), Transfer("amount_cents", "amount_cents"))
    step = Step("1", "Charge the card", reads=reads, skills=(skill,) if skill else ())
    inputs = (Value("order_id"), Value("amount_cents", "integer"))
    plan = compile_sop(Sop("Sell", "Paid", (step,), inputs), small_market(folder, **changed))
    assert plan.document is not None
    return plan.steps[0]


def advice(**said: Any) -> Guidelines:
    one = SkillRecommendation(condition="charging", task_type="shop.charge", **said)
    return Guidelines(skill_recommendations=(one,))


def test_without_measures_the_newest(tmp_path: Path) -> None:
    step = chosen(tmp_path)

    assert step.skills == ("shop.charge@2.0.0",)
    assert step.why.endswith("the newest version")


def test_in_a_range_the_newest_of_it(tmp_path: Path) -> None:
    assert chosen(tmp_path, "shop.charge@^1").skills == ("shop.charge@1.1.0",)
    assert chosen(tmp_path, "shop.charge@1.0.0").skills == ("shop.charge@1.0.0",)


def test_what_succeeded_most_with_numbers(tmp_path: Path) -> None:
    found = {OLD: Record(90, 10, 100), MIDDLE: Record(60, 40, 100), NEW: Record(30, 70, 100)}

    step = chosen(tmp_path, measured=Measures(found))

    assert step.skills == ("shop.charge@1.0.0",)
    assert "tried 100 times, 90% right" in step.why
    assert not step.explored


def test_an_exploration_is_told_and_follows_its_seed(tmp_path: Path) -> None:
    found = {OLD: Record(6, 4, 10), MIDDLE: Record(5, 5, 10)}
    steps = [
        chosen(tmp_path, measured=Measures(found), seed=f"planning {number}")
        for number in (*range(12), *range(12))
    ]

    assert steps[:12] == steps[12:]
    assert any(step.explored and "to learn about it" in step.why for step in steps)
    assert not all(step.explored for step in steps)
    (choice,) = steps[0].choices
    assert {row["version"] for row in choice["standings"]} == {OLD, MIDDLE, NEW}
    assert f"exploring: {choice['exploration']:.0%} of plannings" in steps[0].why


def test_without_a_seed_nothing_is_explored_and_that_is_told(tmp_path: Path) -> None:
    step = chosen(tmp_path, measured=Measures({OLD: Record(6, 4, 10)}))

    assert not step.explored
    assert step.why.endswith("exploring is switched off")


def test_where_nothing_was_measured_nothing_is_explored(tmp_path: Path) -> None:
    steps = [chosen(tmp_path, seed=str(number)) for number in range(6)]

    assert {step.skills for step in steps} == {("shop.charge@2.0.0",)}


def test_what_a_person_wrote_wins_over_measures(tmp_path: Path) -> None:
    found = {OLD: Record(90, 10, 100), NEW: Record(30, 70, 100)}
    said = advice(prefer="shop.charge@1.1.0", reason="the bank asks for it", written_by="person")

    step = chosen(tmp_path, measured=Measures(found), guidelines=said, seed="7")

    assert step.skills == ("shop.charge@1.1.0",)
    assert "of a person: the bank asks for it" in step.why


def test_what_a_person_avoids_is_not_taken(tmp_path: Path) -> None:
    said = advice(avoid=NEW, reason="double charges", written_by="person")

    step = chosen(tmp_path, guidelines=said)

    assert step.skills == ("shop.charge@1.1.0",)
    assert "2.0.0 is avoided" in step.why
    assert "double charges" in step.why


@pytest.mark.parametrize("source", [{"insight": "insight-1"}, {"written_by": "agent"}, {}])
def test_other_advice_does_not_end_measuring(tmp_path: Path, source: dict[str, str]) -> None:
    found = {OLD: Record(9, 1, 10), MIDDLE: Record(8, 2, 10)}
    said = advice(prefer=OLD, avoid=MIDDLE, confidence=1.0, evidence={"workflows": 99}, **source)
    taken = {
        chosen(tmp_path, measured=Measures(found), guidelines=said, seed=str(number)).skills[0]
        for number in range(40)
    }
    # What it is against as well, and what nobody measured.
    assert taken == {"shop.charge@1.0.0", "shop.charge@1.1.0", "shop.charge@2.0.0"}

    worse = advice(prefer=NEW, confidence=1.0, **source)
    measured = {OLD: Record(90, 10, 100), NEW: Record(30, 70, 100)}
    step = chosen(tmp_path, measured=Measures(measured), guidelines=worse)
    assert step.skills == ("shop.charge@1.0.0",)


@pytest.mark.parametrize(
    ("source", "who"),
    [({"insight": "insight-1"}, "an earlier reflection"), ({}, "an agent, unverified")],
)
def test_other_advice_counts_where_nothing_is_measured(
    tmp_path: Path, source: dict[str, str], who: str
) -> None:
    step = chosen(tmp_path, guidelines=advice(prefer=OLD, **source))

    assert step.skills == ("shop.charge@1.0.0",)
    assert f"of {who}" in step.why


@pytest.mark.parametrize(
    ("quick", "wins"),
    [
        (Record(980, 20, 1_000), True),  # at most some three points less
        (Record(840, 160, 1_000), False),  # less
        (Record(49, 1, 50), False),  # nobody knows
    ],
)
def test_speed_breaks_ties_only(tmp_path: Path, quick: Record, wins: bool) -> None:
    found = {OLD: Record(985, 15, 1_000), NEW: quick}
    said = advice(prefer=NEW, goal="speed", insight="insight-1", reason="a quarter of the time")

    step = chosen(tmp_path, measured=Measures(found), guidelines=said)

    assert (step.skills == ("shop.charge@2.0.0",)) is wins
    assert ("a quarter of the time" in step.why) is wins
    # It is somebody's word only if a reflection did not measure it.
    word = advice(prefer=NEW, goal="speed", written_by="agent")
    step = chosen(tmp_path, measured=Measures(found), guidelines=word)
    assert step.skills == ("shop.charge@1.0.0",)


def test_a_step_that_names_a_version_is_obeyed(tmp_path: Path) -> None:
    step = chosen(tmp_path, "shop.charge@2.0.0", guidelines=advice(avoid=NEW, written_by="person"))

    assert step.skills == ("shop.charge@2.0.0",)
    assert step.named


@pytest.mark.parametrize("named", ["shop.charge@2.0.0", "shop.charge@^2"])
def test_of_a_version_without_a_choice_it_is_told_what_was_measured(
    tmp_path: Path, named: str
) -> None:
    step = chosen(tmp_path, named, measured=Measures({NEW: Record(38, 3, 41)}))

    assert step.skills == ("shop.charge@2.0.0",)
    assert "tried 41 times, 93% right" in step.why
