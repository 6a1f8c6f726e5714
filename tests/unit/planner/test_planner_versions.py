"""Which version of a skill is taken, and what is said of the choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

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
    assert "90% of 100 outcomes" in step.why
    assert not step.explored


def test_an_exploration_is_told_and_follows_its_seed(tmp_path: Path) -> None:
    found = {OLD: Record(6, 4, 10), MIDDLE: Record(5, 5, 10)}
    steps = [
        chosen(tmp_path, measured=Measures(found), random=Random(seed))
        for seed in (*range(12), *range(12))
    ]

    assert steps[:12] == steps[12:]
    assert any(step.explored and "to learn about it" in step.why for step in steps)
    assert not all(step.explored for step in steps)


def test_a_guideline_wins_over_measures(tmp_path: Path) -> None:
    found = {OLD: Record(90, 10, 100), NEW: Record(30, 70, 100)}
    said = advice(prefer="shop.charge@1.1.0", reason="the bank asks for it")

    step = chosen(tmp_path, measured=Measures(found), guidelines=said)

    assert step.skills == ("shop.charge@1.1.0",)
    assert "the bank asks for it" in step.why


def test_what_a_guideline_avoids_is_not_taken(tmp_path: Path) -> None:
    step = chosen(tmp_path, guidelines=advice(avoid=NEW, reason="double charges"))

    assert step.skills == ("shop.charge@1.1.0",)
    assert "2.0.0 is avoided" in step.why
    assert "double charges" in step.why


def test_a_step_that_names_a_version_is_obeyed(tmp_path: Path) -> None:
    step = chosen(tmp_path, "shop.charge@2.0.0", guidelines=advice(avoid=NEW))

    assert step.skills == ("shop.charge@2.0.0",)
    assert step.named
