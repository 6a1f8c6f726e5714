"""A planning from an objective to an approved workflow, without a model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from planning_desk import ROOT, Desk, journal

from control_plane import Disconnected
from dcf.guidelines import Guidelines
from dcf.guidelines import Warning as Caution
from dcf.planner import (
    STEPS,
    Guide,
    InvalidAnswers,
    Planning,
    PlanningConflict,
    PlanningDamaged,
    ShownOtherwise,
    UnknownPlanning,
    WorkflowChanged,
    WrongStatus,
    blank_questions,
    command_steps,
    permissions_of,
    write_command_draft,
)
from dcf.problem import has_errors
from dcf.skills import SkillCatalog, generate_all
from dcf.sop import draft

OBJECTIVE = "check a bill from a vendor and pay it"
INVOICE = {"invoice_id": "INV-2001"}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def test_without_an_objective_that_is_what_is_asked(desk: Desk) -> None:
    planning = await desk.planner.start("  ")
    assert planning.status == "asking"
    assert [one.name for one in planning.questions] == ["objective"]
    planning = await desk.planner.answer(planning.id, {"objective": OBJECTIVE})
    assert planning.source is not None and planning.source["id"] == "sops/supplier-invoice.md"


async def test_one_word_is_never_enough_and_that_is_said(desk: Desk) -> None:
    planning = await desk.planner.start("invoice")
    assert planning.status == "unmatched"
    [problem] = planning.problems
    assert "fewer than 2 telling words" in problem["message"]
    assert "sops/supplier-invoice.md" in problem["message"]


async def test_what_the_run_needs_is_asked_before_anything_is_shown(desk: Desk) -> None:
    planning = await desk.planner.start(OBJECTIVE)
    assert planning.status == "asking" and planning.shown is None
    required = [one for one in planning.questions if one.required]
    assert [(one.name, one.example) for one in required] == [("invoice_id", "INV-2001")]
    planning = await desk.planner.answer(planning.id, INVOICE)
    assert planning.status == "shown"
    assert planning.input == INVOICE
    allowed = planning.permissions
    assert allowed is not None
    assert (allowed["risk"], allowed["egress"]) == ("medium", "internet")
    assert allowed["secrets"] == ["BANK_API_KEY"]
    assert len(allowed["approvals"]) == 2


async def test_an_answer_of_another_type_is_read_as_json_and_checked(desk: Desk) -> None:
    told = {**INVOICE, "limit_cents": "many"}
    planning = await desk.planner.start(OBJECTIVE, told)
    assert planning.status == "invalid"
    assert [(one["code"], one["file"]) for one in planning.problems] == [
        ("PLAN_ANSWER", "limit_cents")
    ]
    planning = await desk.planner.answer(planning.id, {"limit_cents": "250000"})
    assert planning.status == "shown" and planning.input["limit_cents"] == 250_000


async def test_what_nothing_stored_does_says_what_it_needs(desk: Desk) -> None:
    planning = await desk.planner.start("organise a chess tournament")
    [problem] = planning.problems
    assert planning.status == "unmatched"
    assert "0.38" in problem["message"] and planning.nearest[0]["id"] in problem["message"]
    assert "DCF_MODEL_PLANNER" in problem["hint"] and "--from-sop" in problem["hint"]
    assert planning.workflow is None


async def test_two_that_fit_alike_are_asked_about_and_the_answer_holds(desk: Desk) -> None:
    planning = await desk.planner.start("give a shopper their money back")
    [question] = planning.questions
    assert question.name == "procedure" and "sops/customer-refund.md" in question.choices
    planning = await desk.planner.answer(planning.id, {"procedure": "sops/customer-refund.md"})
    assert planning.source is not None and planning.source["id"] == "sops/customer-refund.md"
    planning = await desk.planner.answer(planning.id, {"procedure": "nonsense"})
    assert planning.status == "invalid" and planning.source is None


async def test_guardrails_of_the_person_reach_every_task(desk: Desk) -> None:
    rule = "Nobody pays on a Sunday."
    planning = await desk.planner.start(OBJECTIVE, {**INVOICE, "guardrails": rule})
    assert planning.workflow is not None
    tasks = [
        state
        for state in planning.workflow["asl"]["States"].values()
        if (state.get("AgentBinding") or {}).get("skills")
    ]
    assert tasks and all(rule in state["Comment"] for state in tasks)


async def test_a_stored_workflow_is_taken_as_it_is(desk: Desk) -> None:
    given = json.loads((ROOT / "workflows/inputs/order-normal.json").read_text())
    planning = await desk.planner.start("process an order of the shop", {"input": given})
    assert planning.status == "shown" and planning.input == given
    stored = json.loads((ROOT / "workflows/order-processing.json").read_text())
    assert planning.workflow is not None and planning.workflow["asl"] == stored["asl"]


async def test_approval_keeps_the_workflow_that_was_shown(desk: Desk) -> None:
    planning = await desk.planner.start(OBJECTIVE, INVOICE)
    assert planning.shown is not None
    approved = await desk.planner.approve(planning.id, planning.shown, by="ada")
    file = desk.workflows / "generated" / f"wf-{planning.id}.json"
    assert json.loads(file.read_text()) == planning.workflow
    assert approved.approval is not None and approved.approval["by"] == "ada"
    # Again changes nothing.
    again = await desk.planner.approve(planning.id, planning.shown, by="ada")
    assert again.revision == approved.revision
    running, path = await desk.planner.begin(planning.id)
    assert path == file and running.status == "running"
    assert [step["name"] for step in running.steps() if step["done"]] == list(STEPS[:6])


async def test_another_digest_than_that_of_what_was_shown_approves_nothing(desk: Desk) -> None:
    planning = await desk.planner.start(OBJECTIVE, INVOICE)
    before = planning.shown
    assert before is not None
    changed = await desk.planner.answer(planning.id, {"invoice_id": "INV-2002"})
    assert changed.shown != before
    with pytest.raises(ShownOtherwise):
        await desk.planner.approve(planning.id, before, by="ada")
    with pytest.raises(WrongStatus):
        await desk.planner.begin(planning.id)
    assert not (desk.workflows / "generated").exists()


async def test_skills_that_changed_after_they_were_shown_void_the_approval(desk: Desk) -> None:
    planning = await desk.planner.start(OBJECTIVE, INVOICE)
    assert planning.shown is not None
    await desk.planner.approve(planning.id, planning.shown, by="ada")
    desk.skills = _with_risk(desk.skills, "finance.schedule_payment", "high")
    with pytest.raises(ShownOtherwise):
        await desk.planner.begin(planning.id)
    shown = await desk.planner.resume(planning.id)
    assert shown.status == "shown" and shown.approval is None
    assert shown.permissions is not None and shown.permissions["risk"] == "high"
    with pytest.raises(ShownOtherwise):
        await desk.planner.approve(planning.id, planning.shown, by="ada")


async def test_a_kept_workflow_that_somebody_changed_does_not_run(desk: Desk) -> None:
    planning = await desk.planner.start(OBJECTIVE, INVOICE)
    assert planning.shown is not None
    await desk.planner.approve(planning.id, planning.shown, by="ada")
    file = desk.workflows / "generated" / f"wf-{planning.id}.json"
    file.write_text(file.read_text().replace("Schedule", "Skip"))
    with pytest.raises(WorkflowChanged):
        await desk.planner.begin(planning.id)


async def test_a_plan_that_is_changed_after_its_approval_is_approved_again(desk: Desk) -> None:
    first = await desk.planner.start(OBJECTIVE, INVOICE)
    assert first.shown is not None
    await desk.planner.approve(first.id, first.shown, by="ada")
    changed = await desk.planner.answer(first.id, {"guardrails": "Nobody pays on a Sunday."})
    # What was kept of the first approval is no procedure to choose from.
    assert changed.status == "shown" and changed.shown not in (None, first.shown)
    assert changed.shown is not None
    await desk.planner.approve(first.id, changed.shown, by="ada")
    running, file = await desk.planner.begin(first.id)
    assert json.loads(file.read_text()) == changed.workflow == running.workflow


async def test_of_two_approvals_a_kill_leaves_one_that_can_begin(desk: Desk) -> None:
    """Killed between the second approval and the file, which is still that of the first."""
    planning = await desk.planner.start(OBJECTIVE, INVOICE)
    assert planning.shown is not None
    await desk.planner.approve(planning.id, planning.shown, by="ada")
    file = desk.workflows / "generated" / f"wf-{planning.id}.json"
    old = file.read_bytes()
    changed = await desk.planner.answer(planning.id, {"guardrails": "Nobody pays on a Sunday."})
    assert changed.shown is not None
    await desk.planner.approve(planning.id, changed.shown, by="ada")
    file.write_bytes(old)
    await desk.planner.begin(planning.id)
    assert json.loads(file.read_text()) == changed.workflow
    # What somebody else put there is never written over.
    file.write_text(file.read_text().replace("Sunday", "Monday"))
    with pytest.raises(WorkflowChanged):
        await desk.planner.begin(planning.id)


async def test_a_run_that_never_began_is_shown_again_when_its_skills_changed(desk: Desk) -> None:
    """Killed after the planning was saved as running, and before the run was submitted."""
    planning = await desk.planner.start(OBJECTIVE, INVOICE)
    assert planning.shown is not None
    await desk.planner.approve(planning.id, planning.shown, by="ada")
    running, _ = await desk.planner.begin(planning.id)
    assert running.status == "running"
    desk.skills = _with_risk(desk.skills, "finance.schedule_payment", "high")
    # One that is there goes on with the skills it began with.
    assert (await desk.planner.begin(planning.id, is_there=True))[0].status == "running"
    with pytest.raises(ShownOtherwise):
        await desk.planner.begin(planning.id, is_there=False)
    shown = desk.store.read(planning.id)
    assert shown.status == "shown" and shown.run is None and shown.shown is not None
    await desk.planner.approve(planning.id, shown.shown, by="ada")
    assert (await desk.planner.begin(planning.id))[0].status == "running"


async def test_another_process_goes_on_where_one_was_killed(desk: Desk, tmp_path: Path) -> None:
    planning = await desk.planner.start(OBJECTIVE, INVOICE)
    assert planning.shown is not None
    await desk.planner.approve(planning.id, planning.shown, by="ada")
    # Killed between the approval and the workflow's file.
    (desk.workflows / "generated" / f"wf-{planning.id}.json").unlink()
    other = Desk(tmp_path)
    running, file = await other.planner.begin(planning.id)
    assert json.loads(file.read_text()) == running.workflow


async def test_of_two_changes_of_one_revision_one_is_refused(desk: Desk) -> None:
    planning = await desk.planner.start(OBJECTIVE)
    await desk.planner.answer(planning.id, INVOICE, expected=planning.revision)
    with pytest.raises(PlanningConflict):
        await desk.planner.answer(planning.id, {"invoice_id": "INV-9"}, expected=planning.revision)
    assert desk.store.read(planning.id).input == INVOICE


async def test_nothing_of_a_planning_is_lost_on_its_way_to_disk(desk: Desk) -> None:
    planning = await desk.planner.start(OBJECTIVE, INVOICE)
    assert desk.store.read(planning.id) == planning
    assert Planning.from_json(json.loads(json.dumps(planning.to_json()))) == planning


async def test_what_is_no_planning_says_so(desk: Desk) -> None:
    await desk.planner.start(OBJECTIVE)
    (desk.store.folder / "torn1.json").write_text('{"id": "torn1"')
    for id_ in ("nobody", "../../etc", "A"):
        with pytest.raises(UnknownPlanning):
            desk.store.read(id_)
    with pytest.raises(PlanningDamaged):
        desk.store.read("torn1")
    found, damaged = desk.store.all()
    assert [one.id for one in found] == ["plan0001"] and len(damaged) == 1


@pytest.mark.parametrize(
    "damage",
    [{"workflow": None}, {"approval": None}, {"permissions": []}, {"status": "done"}],
    ids=lambda one: next(iter(one)),
)
async def test_an_approved_planning_that_lacks_what_was_approved_is_damaged(
    desk: Desk, damage: dict[str, Any]
) -> None:
    planning = await desk.planner.start(OBJECTIVE, INVOICE)
    assert planning.shown is not None
    await desk.planner.approve(planning.id, planning.shown, by="ada")
    file = desk.store.folder / f"{planning.id}.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **damage}))
    with pytest.raises(PlanningDamaged):
        await desk.planner.begin(planning.id)


@pytest.mark.parametrize(
    "answers",
    [
        {"objective": "pay a bill \udcff"},
        {"invoice_id": "INV-\ud800"},
        {"input": {"invoice_id": "\ud800"}},
        {"in\ud800": "x"},
    ],
    ids=["objective", "answer", "input", "name"],
)
async def test_half_a_surrogate_pair_is_the_persons_mistake(
    desk: Desk, answers: dict[str, Any]
) -> None:
    objective = str(answers.get("objective", OBJECTIVE))
    with pytest.raises(InvalidAnswers) as refused:
        await desk.planner.start(objective, answers)
    [problem] = refused.value.problems
    assert "UTF-8" in problem.message and str(problem).encode()
    assert desk.store.all() == ([], [])


async def test_which_value_an_argument_takes_is_asked_and_kept(desk: Desk) -> None:
    text = """\
# Charge a bill

The bill is paid.

## Inputs

- `order_id` (text)
- `customer_id` (text)
- `bill_amount_cents` (whole number)
- `currency` (text, one of "EUR")

## Steps

1. Charge the card
   - Skill: orders.charge_payment
"""
    given = {"order_id": "O-1", "customer_id": "C-1", "currency": "EUR"}
    given["bill_amount_cents"] = "700"
    planning = await desk.planner.start("", given, procedure=("bill.md", text))
    [question] = planning.questions
    assert (planning.status, question.name) == ("asking", "bind.1.amount_cents")
    assert question.choices == ("bill_amount_cents", "none")

    refused = await desk.planner.answer(planning.id, {question.name: "none"})
    assert (refused.status, "amount_cents" in _arguments(refused)) == ("shown", False)

    bound = await desk.planner.answer(planning.id, {question.name: "bill_amount_cents"})
    assert (bound.status, bound.problems) == ("shown", ())
    assert _arguments(bound)["amount_cents"] == "{% $bill_amount_cents %}"


def _arguments(planning: Planning) -> dict[str, str]:
    assert planning.workflow is not None
    states = planning.workflow["asl"]["States"].values()
    [arguments] = [one["Arguments"] for one in states if one["Type"] == "Task"]
    found: dict[str, str] = arguments
    return found


async def test_a_procedure_that_is_not_text_is_refused(desk: Desk) -> None:
    with pytest.raises(InvalidAnswers):
        await desk.planner.start("", procedure=("sop", "# Pay \ud800"))


async def test_answers_that_cannot_be_used_are_all_named(desk: Desk) -> None:
    with pytest.raises(InvalidAnswers) as refused:
        await desk.planner.start("x" * 5_000, {"guardrails": 7, "note": "y" * 30_000})
    assert {one.file for one in refused.value.problems} == {"guardrails", "note", "objective"}
    assert desk.store.all() == ([], [])


async def test_a_graph_that_is_away_is_said_and_stops_nothing(tmp_path: Path) -> None:
    class Away:
        async def __aenter__(self) -> Any:
            raise Disconnected("nobody listens there")

        async def __aexit__(self, *_: object) -> None:
            return None

    async def guidelines() -> tuple[Guidelines, str]:
        caution = Caution(warning="banks are shut on Sundays", severity="high", workaround="wait")
        return Guidelines(revision=4, warnings=(caution,)), "agent planner"

    desk = Desk(tmp_path, guide=Guide(guidelines, Away, clock=lambda: 1))  # type: ignore[arg-type]
    planning = await desk.planner.start(OBJECTIVE, INVOICE)
    assert planning.status == "shown"
    assert planning.guidance["revision"] == 4
    assert planning.guidance["items"]["warnings"][0]["warning"] == "banks are shut on Sundays"
    [note] = planning.guidance["notes"]
    assert "the graph is away" in note


async def test_the_journal_tells_the_steps_in_words(desk: Desk) -> None:
    planning = await desk.planner.start(OBJECTIVE, INVOICE)
    assert journal(planning, 3) == ["stored: sops/supplier-invoice.md (score 0.46 of 0.38)"]
    assert "finance.read_invoice" in journal(planning, 2)[0]
    assert journal(planning, 5) == ["no problems"]


def test_the_permissions_have_the_files_that_states_which_ask_for_context_are_told_of() -> None:
    catalog = SkillCatalog.load(ROOT / "generated")
    skills = [
        replace(one, permissions=replace(one.permissions, files=(f"src/{one.name}",)))
        for one in [one for one in catalog if not one.dependencies][:2]
    ]
    asking, silent = (
        {"Type": "Task", "AgentBinding": {"skills": [one.manifest_id]}, "End": True}
        for one in skills
    )
    asking["AgentBinding"]["context"] = {}
    states = {"A": {**asking, "Next": "B"}, "B": silent}
    allowed = permissions_of({"asl": {"StartAt": "A", "States": states}}, SkillCatalog(skills))
    assert allowed.to_json()["files"] == [f"src/{skills[0].name}"]


def _with_risk(catalog: SkillCatalog, name: str, risk: str) -> SkillCatalog:
    changed = []
    for one in catalog:
        if one.name == name:
            permissions = replace(one.permissions, risk_level=risk)
            one = replace(one, permissions=permissions, digest=f"{one.digest[:-4]}beef")
        changed.append(one)
    return SkillCatalog(changed)


STRANGER = """# Swap the pump

1. Close the valve
2. Take the pump out
   - If it is stuck, call the plumber and stop.
3. Put the new one in

TODO: who has the key?
"""


async def test_any_runbook_is_planned_with_its_questions(desk: Desk) -> None:
    planning = await desk.planner.start("", procedure=("pump.md", STRANGER))

    assert planning.status == "shown" and planning.plan is not None
    runbook = planning.plan["runbook"]
    [asked] = runbook["questions"]
    [question] = [one for one in planning.questions if one.name == asked["id"]]
    assert (question.required, question.default) == (False, "note")
    assert any("done by a person" in line for line in runbook["report"])

    answered = await desk.planner.answer(planning.id, {asked["id"]: "guardrail"})
    assert answered.status == "shown" and answered.shown != planning.shown
    assert answered.plan is not None and answered.plan["runbook"]["answered"] == [asked["id"]]
    assert not answered.questions and not answered.problems

    wrong = await desk.planner.answer(planning.id, {asked["id"]: "perhaps"})
    assert wrong.status == "invalid"
    assert [(one["code"], one["file"]) for one in wrong.problems] == [("PLAN_ANSWER", asked["id"])]


async def test_what_no_skill_covers_a_person_does_unless_it_is_strict(desk: Desk) -> None:
    text = "# Moon\n\n## Objective\n\nIt hears.\n\n## Steps\n\n1. Recite the poem to the moon\n"
    planning = await desk.planner.start("", procedure=("moon.md", text))
    assert planning.status == "shown" and planning.plan is not None
    assert [gap["step"] for gap in planning.plan["gaps"]] == ["1"]
    assert [step["kind"] for step in planning.plan["steps"]] == ["manual"]

    for name, given in (("moon.md", text), ("pump.md", STRANGER)):
        strict = await desk.planner.start("", procedure=(name, given), strict=True)
        assert strict.status == "invalid"


async def test_a_stored_runbook_is_found_with_the_answers_beside_it(desk: Desk) -> None:
    sops = desk.workflows / "sops"
    (sops / "swap-the-pump.md").write_text(STRANGER)
    planning = await desk.planner.start("swap the pump of the boiler room")
    assert planning.source is not None and planning.source["id"] == "sops/swap-the-pump.md"
    assert planning.plan is not None
    [asked] = planning.plan["runbook"]["questions"]

    (sops / "swap-the-pump.answers.yaml").write_text(f'"{asked["id"]}": "guardrail"\n')
    again = await desk.planner.start("swap the pump of the boiler room")
    assert again.plan is not None and again.plan["runbook"]["answered"] == [asked["id"]]
    _, unread = await desk.planner.bench.stored()
    assert unread == []


async def test_blanks_that_people_would_see_are_said_with_their_lines(desk: Desk) -> None:
    text = "# Drain\n\n1. Drain the node `<node>`\n2. Tell `<owner>` about `<node>`\n"
    planning = await desk.planner.start("", procedure=("drain.md", text))

    assert planning.status == "shown"
    asked = {one.name: (one.text, one.required) for one in planning.questions}
    assert asked["node"] == ("line 3: What stands for node", False)
    assert asked["owner"] == ("line 4: What stands for owner", False)
    assert [one.name for one in blank_questions(planning)] == ["node", "owner"]
    [problem] = planning.problems
    assert (problem["code"], problem["severity"]) == ("WF_INPUT_BLANK", "warning")
    assert "node (line 3, " in problem["message"] and "owner (line 4, " in problem["message"]

    told = await desk.planner.answer(planning.id, {"node": "n1", "owner": "Ana"})
    assert (told.status, told.problems) == ("shown", ()) and blank_questions(told) == []


CLOCK = """# Look at the clock of a node

## Steps

1. Say which
   ```bash
   printf '%s' <node>
   ```
2. Look at the clock
   ```bash
   date -u
   ```
3. Tidy up
   ```bash
   ls | xargs rm
   ```
"""


def runs_in(planning: Planning) -> list[str]:
    """The programs that the workflow would run."""
    assert planning.workflow is not None
    return [
        state["Arguments"]["argv"][0]
        for state in planning.workflow["asl"]["States"].values()
        if state["Type"] == "Task" and state["AgentBinding"].get("skills")
    ]


async def test_commands_become_tasks_only_when_somebody_says_so(desk: Desk, tmp_path: Path) -> None:
    """From a text that somebody brings, and from one that is stored."""
    steps = command_steps(draft(CLOCK, "clock.md").sop)
    sources, generated = tmp_path / "skills_src", tmp_path / "generated"
    assert write_command_draft(sources, generated, steps).problems == []
    (desk.workflows / "sops" / "clock.md").write_text(CLOCK)
    wish = "look at the clock of a node and say which it is"
    for objective, procedure in (("", ("clock.md", CLOCK)), (wish, None)):
        lacking = await desk.planner.start(objective, {"commands": "yes"}, procedure=procedure)
        assert lacking.status == "shown" and runs_in(lacking) == []
        assert "PLAN_COMMANDS" in [one["code"] for one in lacking.problems]

    assert not has_errors(generate_all(sources, generated).problems)
    desk.skills = SkillCatalog.load(generated)
    for objective, procedure in (("", ("clock.md", CLOCK)), (wish, None)):
        unasked = await desk.planner.start(objective, procedure=procedure)
        assert unasked.status == "shown" and runs_in(unasked) == []
        refused = await desk.planner.start(objective, {"commands": "no"}, procedure=procedure)
        assert runs_in(refused) == []

        asked = await desk.planner.start(objective, {"commands": "yes"}, procedure=procedure)
        # The value that a command takes has to be there.
        assert [one.name for one in asked.questions if one.required] == ["node"]
        planning = await desk.planner.answer(asked.id, {"node": "n1"})
        assert planning.status == "shown" and runs_in(planning) == ["printf", "date"]
        assert planning.plan is not None and planning.plan["commands"]["bound"] is True
        [left] = planning.plan["commands"]["left"]
        assert (left["line"], left["why"]) == (15, "a pipe")


async def test_a_wish_for_commands_is_yes_or_no(desk: Desk) -> None:
    with pytest.raises(InvalidAnswers) as refused:
        await desk.planner.start("", {"commands": "rm"}, procedure=("clock.md", CLOCK))
    assert [one.message for one in refused.value.problems] == ["is neither yes nor no"]
