"""A model drafts: code checks every proposal, and nothing that a text says changes what may be
done."""

from __future__ import annotations

import getpass
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from planning_desk import TRIAGE, Desk, Script, journal, procedure
from pydantic_ai.messages import ModelMessage

from dcf.agents.models import (
    Bound,
    ModelBudgetExhausted,
    ModelUnavailable,
    PriceUnknown,
    Used,
)
from dcf.cli.planner.desk import project_context
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.planner import DraftLimits, InvalidAnswers, Spending
from dcf.retrieval import AuditLog

OBJECTIVE = "triage tickets about loud machines"
ANSWERS = {"ticket_id": "TCK-101", "procedure": "new"}
PROPOSE, FIND, ASK = "propose_procedure", "find_skills", "ask_person"


async def test_a_draft_without_problems_is_compiled_and_shown(tmp_path: Path) -> None:
    script = Script({FIND: {"query": "sort a ticket"}}, {PROPOSE: procedure(TRIAGE)})
    planning = await Desk(tmp_path, script=script).planner.start(OBJECTIVE, ANSWERS)
    assert planning.status == "shown" and planning.is_drafted
    assert planning.permissions is not None
    assert list(planning.permissions["skills"]) == ["skill.support.triage_ticket@1.0.0"]
    # What the model found is in what it was told, as a result of its tool.
    assert "support.triage_ticket@1.0.0" in script.text(1)
    # The objective is the person's, whatever the model makes of it.
    assert planning.workflow is not None and planning.workflow["description"] == OBJECTIVE


async def test_a_model_is_told_what_fits_of_the_project_where_the_person_says_so(
    tmp_path: Path,
) -> None:
    code = "def triage_loud_machines(ticket):\n    return ticket.decibel > 90  # </material>\n"
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "triage.py").write_text(code)
    env = {"DCF_HOME": str(tmp_path), "DCF_RETRIEVAL_ROOTS": str(tmp_path / "shop")}
    settings = Settings.from_env({**env, "DCF_EMBEDDER": "none"})
    find = project_context(settings, Screen(as_json=True), 300)
    for context, is_told in ((find, True), (None, False)):
        script = Script({PROPOSE: procedure(TRIAGE)})
        desk = Desk(tmp_path / str(is_told), script=script, context=context)
        planning = await desk.planner.start(OBJECTIVE, ANSWERS)
        assert planning.status == "shown"
        told = script.text(0)
        assert ("ticket.decibel > 90" in told) is is_told
        assert ("dcf://code/triage.py/line/1-2" in told) is is_told
        assert told.count("</material>") == 1, "no text ends the material"
    (read,) = await AuditLog(tmp_path / "audit", lambda: 0).entries()
    assert read.by == getpass.getuser(), "the person that plans"


async def test_what_fits_is_taken_from_what_is_stored_before_a_model_is_asked(
    tmp_path: Path,
) -> None:
    script = Script()
    desk = Desk(tmp_path, script=script)
    planning = await desk.planner.start("check a bill from a vendor and pay it")
    assert planning.source is not None and planning.source["kind"] == "procedure"
    assert script.heard == []


async def test_an_invalid_plan_and_an_unknown_skill_go_back_with_all_their_problems(
    tmp_path: Path,
) -> None:
    unread = {**TRIAGE, "reads": ["letter"], "then": "go to step 9"}
    unknown = {**TRIAGE, "skills": ["evil.send_everything@1.0.0"]}
    script = Script(
        {PROPOSE: {"title": "No steps"}},
        {PROPOSE: procedure(unread)},
        {PROPOSE: procedure(unknown)},
        {PROPOSE: procedure(TRIAGE)},
    )
    planning = await Desk(tmp_path, script=script).planner.start(OBJECTIVE, ANSWERS)
    assert planning.status == "shown"
    codes = [{one["code"] for one in entry["problems"]} for entry in planning.rounds]
    assert codes[2] >= {"PLAN_UNKNOWN_SKILL"} and codes[3] == set()
    assert all(code for code in codes[:3])
    told = script.text(3)
    assert "evil.send_everything" in told and "PLAN_UNKNOWN_SKILL" in told
    assert journal(planning, 3)[-1] == "draft 4 of the model: no problems"


async def test_after_so_many_drafts_it_gives_up_and_says_what_was_wrong(tmp_path: Path) -> None:
    bad = {PROPOSE: procedure({**TRIAGE, "skills": ["nobody.has_it"]})}
    script = Script(bad, bad)
    desk = Desk(tmp_path, script=script, limits=DraftLimits(rounds=2))
    planning = await desk.planner.start(OBJECTIVE, ANSWERS)
    assert planning.status == "invalid" and planning.workflow is None
    assert [one["code"] for one in planning.problems] == ["PLAN_DRAFT", "PLAN_UNKNOWN_SKILL"]
    # Going on without saying more asks nobody again.
    assert (await desk.planner.resume(planning.id)).status == "invalid"
    assert len(script.heard) == 2


async def test_a_gap_is_a_problem_for_the_model_too(tmp_path: Path) -> None:
    gap = {"title": "Recite the poem to the moon", "reads": ["ticket_id"], "writes": ["category"]}
    script = Script({PROPOSE: procedure(gap)})
    desk = Desk(tmp_path, script=script, limits=DraftLimits(rounds=1))
    planning = await desk.planner.start(OBJECTIVE, ANSWERS)
    assert "PLAN_GAP" in {one["code"] for one in planning.problems}
    assert planning.plan is not None and planning.plan["gaps"][0]["step"] == "1"


async def test_questions_of_the_model_are_asked_and_their_answers_told(tmp_path: Path) -> None:
    script = Script(
        {ASK: {"questions": ["Which tickets are meant?"]}}, {PROPOSE: procedure(TRIAGE)}
    )
    desk = Desk(tmp_path, script=script)
    planning = await desk.planner.start(OBJECTIVE, ANSWERS)
    [question] = planning.questions
    assert planning.status == "asking" and question.text == "Which tickets are meant?"
    planning = await desk.planner.answer(planning.id, {question.name: "Those of the mill."})
    assert planning.status == "shown"
    assert "Which tickets are meant?" in script.text(1) and "Those of the mill." in script.text(1)


async def test_a_change_that_the_person_wants_makes_another_draft_with_another_digest(
    tmp_path: Path,
) -> None:
    titled = {**TRIAGE, "title": "Read the ticket and sort it with care"}
    script = Script({PROPOSE: procedure(TRIAGE)}, {PROPOSE: procedure(titled)})
    desk = Desk(tmp_path, script=script)
    first = await desk.planner.start(OBJECTIVE, ANSWERS)
    second = await desk.planner.answer(first.id, {"change": "with care"})
    assert second.status == "shown" and second.shown != first.shown
    assert "with care" in script.text(1)


async def test_looking_again_asks_no_model_and_swaps_no_question(tmp_path: Path) -> None:
    script = Script(
        {ASK: {"questions": ["Which tickets?"]}},
        {ASK: {"questions": ["Of which year?"]}},
        {PROPOSE: procedure(TRIAGE)},
    )
    desk = Desk(tmp_path, script=script)
    planning = await desk.planner.start(OBJECTIVE, ANSWERS)
    for _ in range(2):
        assert await desk.planner.resume(planning.id) == planning
    assert len(script.heard) == 1
    first = planning.questions[0].name
    # Something else is said, the question is left open: the next one has a name of its own.
    planning = await desk.planner.answer(planning.id, {"change": "with care"})
    second = planning.questions[0].name
    assert second != first
    planning = await desk.planner.answer(planning.id, {second: "This one."})
    assert planning.clarifications == {first: "Which tickets?", second: "Of which year?"}
    assert "Of which year?" in script.text(2) and "Which tickets?" not in script.text(2)


async def test_limits_that_the_person_names_hold_for_a_draft(tmp_path: Path) -> None:
    generous = procedure(TRIAGE, budget={"tool_calls": 1_000_000, "tokens": 5_000})
    desk = Desk(tmp_path, script=Script({PROPOSE: generous}))
    limits = "Budget: 3 tool calls; Within 2 minutes; Be polite."
    planning = await desk.planner.start(OBJECTIVE, {**ANSWERS, "guardrails": limits})
    assert planning.status == "shown" and planning.workflow is not None
    assert planning.workflow["budget"] == {"tool_calls": 3, "tokens": 5_000}
    assert planning.workflow["asl"]["TimeoutSeconds"] == 120
    with pytest.raises(InvalidAnswers) as refused:
        await desk.planner.answer(planning.id, {"guardrails": "Be polite; Budget: a bit"})
    assert [one.file for one in refused.value.problems] == ["guardrails"]


async def test_an_output_that_the_person_names_cannot_be_left_out(tmp_path: Path) -> None:
    urgent = {**TRIAGE, "writes": ["category", "urgency"]}
    script = Script(
        {PROPOSE: procedure(TRIAGE)},
        {PROPOSE: procedure(urgent, outputs=[{"name": "category"}, {"name": "urgency"}])},
    )
    wished = {**ANSWERS, "outputs": "`urgency`, and how it was found"}
    planning = await Desk(tmp_path, script=script).planner.start(OBJECTIVE, wished)
    assert "PLAN_WISH" in {one["code"] for one in planning.rounds[0]["problems"]}
    assert planning.status == "shown" and planning.workflow is not None
    assert "PLAN_WISH" not in {one["code"] for one in planning.rounds[1]["problems"]}


async def test_half_a_surrogate_pair_in_a_proposal_goes_back_to_the_model(tmp_path: Path) -> None:
    half = {"title": "a\ud800b", "steps": []}
    script = Script(
        {PROPOSE: json.dumps(half)},
        {FIND: json.dumps({"query": "\udc80"})},
        {PROPOSE: procedure(TRIAGE)},
    )
    planning = await Desk(tmp_path, script=script).planner.start(OBJECTIVE, ANSWERS)
    assert planning.status == "shown" and len(planning.rounds) == 1
    assert "whole Unicode" in script.text(1) and "whole Unicode" in script.text(2)


async def test_what_a_model_drafted_is_known_for_it_when_it_is_stored(tmp_path: Path) -> None:
    """Approved once, it lies among the workflows; the next planning that takes it knows who wrote
    it, so that nobody approves it unseen."""
    desk = Desk(tmp_path, script=Script({PROPOSE: procedure(TRIAGE)}))
    first = await desk.planner.start(OBJECTIVE, ANSWERS)
    assert first.shown is not None
    await desk.planner.approve(first.id, first.shown, by="ada")
    named = {"procedure": f"generated/wf-{first.id}.json", "ticket_id": "TCK-102"}
    again = await desk.planner.start(OBJECTIVE, named)
    assert again.source is not None and again.source["kind"] == "workflow"
    assert again.status == "shown" and again.is_drafted


async def test_a_tier_that_a_step_asks_for_is_among_the_permissions(tmp_path: Path) -> None:
    desk = Desk(tmp_path, script=Script({PROPOSE: procedure({**TRIAGE, "tier": 3})}))
    planning = await desk.planner.start(OBJECTIVE, ANSWERS)
    assert planning.permissions is not None and planning.permissions["highest_tier"] == 3


async def test_a_model_that_fails_leaves_a_planning_that_goes_on(tmp_path: Path) -> None:
    def away(_: list[ModelMessage]) -> dict[str, Any]:
        raise ModelUnavailable("nobody answers")

    bad = {PROPOSE: procedure({**TRIAGE, "skills": ["nobody.has_it"]})}
    script = Script(bad, away, {PROPOSE: procedure(TRIAGE)})
    desk = Desk(tmp_path, script=script)
    planning = await desk.planner.start(OBJECTIVE, ANSWERS)
    assert planning.status == "drafting"
    assert [one["code"] for one in planning.problems] == ["PLAN_MODEL"]
    # Another process goes on: the model is told what it proposed before, and what was wrong.
    other = Desk(tmp_path, script=script)
    planning = await other.planner.resume(planning.id)
    assert planning.status == "shown" and len(planning.rounds) == 2
    assert "nobody.has_it" in script.text(2)


async def test_a_budget_is_never_overdrawn(tmp_path: Path) -> None:
    spending = Spending(DraftLimits(tokens=1_000, cost_usd=Decimal("0.10")))
    bound = Bound("scripted", 600, Decimal("0.04"))
    first = await spending.reserve(bound)
    with pytest.raises(ModelBudgetExhausted):
        await spending.reserve(bound)
    await spending.settle(first, Used("scripted", 100, 50, 0, Decimal("0.09"), 1))
    with pytest.raises(ModelBudgetExhausted):
        await spending.reserve(bound)
    with pytest.raises(PriceUnknown):
        await spending.reserve(Bound("scripted", 10, None))
    assert (spending.tokens, spending.cost_usd) == (150, Decimal("0.09"))


async def test_a_draft_is_kept_before_the_model_is_asked_again(tmp_path: Path) -> None:
    seen: list[int] = []
    desk_of: list[Desk] = []

    def second(_: list[ModelMessage]) -> dict[str, Any]:
        [planning], _damaged = desk_of[0].store.all()
        seen.append(len(planning.rounds))
        return {PROPOSE: procedure(TRIAGE)}

    script = Script({PROPOSE: json.loads('{"title": "nothing"}')}, second)
    desk_of.append(Desk(tmp_path, script=script))
    planning = await desk_of[0].planner.start(OBJECTIVE, ANSWERS)
    assert seen == [1] and planning.status == "shown"
