"""Skills for the steps of a runbook that names none: taken, asked about, drafted."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from planning_desk import ROOT, Desk, skill_search
from planning_desk import catalog as our_skills
from small_market import small_market

from benchmarks.runbook_skills import NONE, labelled
from dcf.planner import LEAST_OFFERED, PERSON, Bench, Gap, fitting, no_guide, write_drafts
from dcf.planner.compiling.skill_offers import with_skills
from dcf.problem import has_errors
from dcf.skills import SkillCatalog, generate_all
from dcf.sop import Draft, Source, draft

RUNBOOK = """# Look into a complaint

1. Check that the order is complete
2. Call the buyer
3. Charge the card of the customer
   `charge it`
{more}
"""
ORDER = "4. Print the label\n   `label <order_id>`\n"


def offered(folder: Path, more: str = "", answers: Mapping[str, str] | None = None) -> Draft:
    market = small_market(folder)
    said = answers or {}
    found = draft(RUNBOOK.format(more=more), "complaint.md", said)
    return with_skills(found, market.catalog, market.finder, market.results, 0.45, said)  # type: ignore[arg-type]


def kinds(found: Draft) -> dict[str, tuple[str, ...]]:
    return {step.number: step.skills for step in found.sop.all_steps() if step.kind == "task"}


def test_a_skill_is_taken_where_an_input_is_all_that_it_needs(tmp_path: Path) -> None:
    found = offered(tmp_path, ORDER)

    [question] = found.questions
    assert kinds(found) == {"1": ("shop.check",)}  # step 3 says how, by a command
    assert (question.assumed, question.answers) == ("shop.check", ("shop.check", PERSON))
    assert (question.line, question.text) == (3, "Check that the order is complete")


def test_what_it_needs_and_nobody_gives_is_asked_and_becomes_an_input(tmp_path: Path) -> None:
    [question] = offered(tmp_path).questions
    assert question.assumed == PERSON and "order_id then become inputs" in question.asks

    taken = offered(tmp_path, answers={question.id: "shop.check"})

    assert kinds(taken) == {"1": ("shop.check",)}
    assert [(one.name, one.type, one.required) for one in taken.sop.inputs] == [
        ("order_id", "string", True)
    ]
    assert (taken.questions, taken.answered) == ((), (question.id,))
    assert kinds(offered(tmp_path, answers={question.id: "shop.price"})) == {}


def test_a_person_keeps_a_step_that_somebody_left_to_them(tmp_path: Path) -> None:
    [question] = offered(tmp_path, ORDER).questions
    assert kinds(offered(tmp_path, ORDER, {question.id: PERSON})) == {}


@pytest.mark.parametrize("least", [LEAST_OFFERED["wordllama"]])
def test_a_wrong_skill_is_rare(least: float) -> None:
    """Of labelled steps, half of which no skill of ours does: fewer than 5 % of the offers are
    wrong, and two thirds of the steps that a skill does get it."""
    search, skills, rows = skill_search(), our_skills(), labelled()
    offers = [
        (skill, hit.manifest.name)
        for skill, step in rows
        if (hit := fitting(search.search(skills, step, 2), least)) is not None
    ]
    wrong = sum(skill != name for skill, name in offers)
    assert len(rows) >= 60 and sum(skill == NONE for skill, _ in rows) >= 30
    assert wrong / len(offers) < 0.05
    assert len(offers) - wrong >= sum(skill != NONE for skill, _ in rows) * 2 / 3


async def test_a_drafted_skill_is_that_of_its_step(tmp_path: Path) -> None:
    """One word is too little for a search; the name of the draft is enough."""
    shutil.copytree(ROOT / "skills_src", tmp_path / "skills_src")
    shutil.copytree(ROOT / "generated", tmp_path / "generated")
    desk = Desk(tmp_path)
    bench = Bench(**{**bench_parts(desk.planner.bench), "generated": tmp_path / "generated"})
    text = "# Mend the fridge\n\n1. Defrost\n2. Look at the seal, and then note `what` you saw\n"
    guide = no_guide(desk.clock)

    before = await bench.draft(Source(text, "fridge.md"), {})
    open_ = await bench.open_to_drafts(before)
    made = await bench.plan(open_, await guide.consult(), guide, {}, people=False)
    gaps: tuple[Gap, ...] = made.plan.gaps
    written = write_drafts(tmp_path / "skills_src", tmp_path / "generated", gaps)
    generated = generate_all(tmp_path / "skills_src", tmp_path / "generated")
    desk.skills = SkillCatalog.load(tmp_path / "generated")
    after = await bench.draft(Source(text, "fridge.md"), {})

    assert [gap.step.number for gap in gaps] == ["1", "2"]
    assert (written.problems, has_errors(generated.problems)) == ([], False)
    assert all("  tests:\n" in gap.skill_yaml() for gap in gaps)
    assert {step.number: step.skills for step in after.sop.all_steps()} == {
        gap.step.number: (gap.skill,) for gap in gaps
    }


def bench_parts(bench: Bench) -> dict[str, object]:
    names = ("catalog", "use_search", "generated", "workflows", "embedder", "matcher")
    return {name: getattr(bench, name) for name in names}
