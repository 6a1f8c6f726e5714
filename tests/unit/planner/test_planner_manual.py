"""Steps that a person does: from a procedure to a workflow and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from small_market import small_market

from dcf.planner import compile_sop, decompile
from dcf.sop import Constant, Step, Transfer, check, parse, print_markdown

TEXT = """# Bring it back

## Objective

The replica answers.

## Inputs

- `node` (text)

## Outputs

- `ticket` (text)

## Guardrails

- Never touch the primary.

## Steps

1. Restart `node` by hand
   - Kind: manual
   - Role: dba or sre
   - Within 2 hours
   - If this fails with DCF.ManualTaskFailed, stop with NotRestarted
2. Is it healthy again?
   - Choices: yes, no
   - Writes: `healthy`, `ticket`
   - If `healthy` is no, go to step 1
3. How did it go?
   - Choices: well, "badly, or late"
   - Writes: `mood`
   - If `mood` is "badly, or late", stop with Late
"""


def steps(text: str = TEXT) -> tuple[Step, ...]:
    sop = parse(text, "x.md").sop
    assert sop is not None
    return sop.steps


def compiled(tmp_path: Path) -> dict[str, Any]:
    sop = parse(TEXT, "x.md").sop
    assert sop is not None
    plan = compile_sop(sop, small_market(tmp_path))
    assert plan.document is not None, [str(one) for one in plan.problems]
    assert plan.gaps == ()  # no skill is looked for
    return plan.document


def test_a_step_with_choices_is_one_that_a_person_does() -> None:
    first, second, third = steps()

    assert (first.kind, first.people, first.deadline) == ("manual", ("dba", "sre"), 7200)
    assert (second.kind, second.choices) == ("manual", ("yes", "no"))
    assert third.choices == ("well", "badly, or late")


def test_it_becomes_a_task_for_those_people_and_goes_on_by_their_answer(tmp_path: Path) -> None:
    states = compiled(tmp_path)["asl"]["States"]

    assert states["RestartNodeByHand"] == {
        "Type": "Task",
        "Comment": "Restart `node` by hand\nThese rules hold throughout:\n"
        "- Never touch the primary.",
        "AgentBinding": {"task_type": "manual", "manual": {"by": ["dba", "sre"]}},
        "Arguments": {"node": "{% $node %}"},
        "TimeoutSeconds": 7200,
        "Catch": [
            {
                "ErrorEquals": ["DCF.ManualTaskFailed"],
                "Assign": {"failure": "{% $states.errorOutput %}"},
                "Next": "NotRestarted",
            }
        ],
        "Next": "IsItHealthyAgain",
    }
    asked = states["IsItHealthyAgain"]
    assert asked["AgentBinding"]["manual"] == {
        "choices": ["yes", "no"],
        "result": {
            "type": "object",
            "properties": {"ticket": {"type": "string"}},
            "required": ["ticket"],
        },
    }
    # Yes and no are true and false, as everywhere in procedures.
    assert asked["Assign"] == {
        "healthy": "{% $states.result.answer = 'yes' %}",
        "ticket": "{% $states.result.ticket %}",
    }
    assert states["HowDidItGo"]["Assign"] == {"mood": "{% $states.result.answer %}"}


def test_told_without_the_words_it_compiles_to_the_same_states(tmp_path: Path) -> None:
    document = compiled(tmp_path)
    told = decompile({name: part for name, part in document.items() if name != "plan"}).sop

    first, second, _ = told.steps
    assert (first.kind, first.people, first.deadline) == ("manual", ("dba", "sre"), 7200)
    assert second.writes == (
        Transfer("answer", "healthy"),
        Transfer("ticket", "ticket", type="string"),
    )
    again = compile_sop(told, small_market(tmp_path)).document
    assert again is not None
    for name in ("RestartNodeByHand", "IsItHealthyAgain", "HowDidItGo"):
        was, now = (one["asl"]["States"][name] for one in (document, again))
        for field in ("TimeoutSeconds", "Assign", "Catch", "Next"):
            assert now.get(field) == was.get(field), (name, field)
        people = [one["AgentBinding"]["manual"] for one in (was, now)]
        assert people[0].get("by") == people[1].get("by")
        assert people[0].get("choices") == people[1].get("choices")
        assert people[0].get("result") == people[1].get("result")


def test_what_is_reported_has_the_type_that_the_step_says(tmp_path: Path) -> None:
    line = (
        "   - Writes: `healthy`, `ticket` (whole number), `seen` (list of texts), `why` as `note`"
    )
    sop = parse(TEXT.replace("   - Writes: `healthy`, `ticket`", line), "x.md").sop
    assert sop is not None
    document = compile_sop(sop, small_market(tmp_path)).document
    assert document is not None
    asked = document["asl"]["States"]["IsItHealthyAgain"]["AgentBinding"]["manual"]["result"]
    assert asked["properties"] == {
        "ticket": {"type": "integer"},
        "seen": {"type": "array", "items": {"type": "string"}},
        "why": {},
    }

    states = {name: part for name, part in document.items() if name != "plan"}
    told = parse(print_markdown(decompile(states).sop), "told.md").sop
    assert told is not None
    assert told.steps[1].writes == (Transfer("answer", "healthy"), *sop.steps[1].writes[1:])


def test_what_no_type_says_of_a_report_is_told_in_words() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}}}
    binding = {"task_type": "manual", "manual": {"result": schema | {"required": ["n"]}}}
    assigned = {"n": "{% $states.result.n %}"}
    count = {"Type": "Task", "AgentBinding": binding, "Assign": assigned, "End": True}

    told = decompile({"QueryLanguage": "JSONata", "StartAt": "Count", "States": {"Count": count}})

    (step,) = told.sop.steps
    assert step.writes == (Transfer("n", "n", type="integer"),)
    assert step.text == 'What is reported has to fit {"n": {"type": "integer", "minimum": 3}}.'


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("   - Choices: yes, no, yes", "SOP_TWICE"),
        ("   - Choices: ,", "SOP_EMPTY"),
        ("   - Choices: yes, no\n   - Skill: shop.price", "SOP_KIND"),
        ('   - Choices: yes, no\n   - Writes: `a`\n   - If `a` is "yes", stop', "SOP_TYPE"),
        ("   - Choices: yes, no, late\n   - Writes: `a`\n   - If `a` is yes, stop", "SOP_TYPE"),
        ('   - Choices: "a', "SOP_QUOTE"),
        ("   - Choices: yes, no\n   - Writes: `a` (text)", "SOP_KIND"),
        ("   - Kind: manual\n   - Writes: `a` (letters)", "SOP_VALUE"),
        ("   - Skill: a.b\n   - Writes: `a` (text)", "SOP_KIND"),
        ("   - Runs: `ls -l`", "SOP_COMMAND"),
        ("   - Skill: a.b\n   - Runs: `ls | wc`", "SOP_COMMAND"),
        ("   - Skill: a.b\n   - Runs: `ls {{folder}}`", "SOP_COMMAND"),
    ],
)
def test_what_cannot_be_meant_is_told(line: str, code: str) -> None:
    text = f"# T\n\n## Objective\n\nO.\n\n## Steps\n\n1. Look at it\n{line}\n"

    assert code in [one.code for one in parse(text, "x.md").problems]


@pytest.mark.parametrize(("kind", "codes"), [("manual", []), ("task", ["SOP_APPROVAL"])])
def test_what_a_person_reads_may_speak_of_approval(kind: str, codes: list[str]) -> None:
    steps = f"1. Tell them.\n   - Kind: {kind}\n   - The board must approve it.\n"
    text = f"# T\n\n## Objective\n\nO.\n\n## Steps\n\n{steps}"

    assert [one.code for one in parse(text, "x.md").problems] == codes


def test_the_type_of_an_answer_is_known_to_conditions() -> None:
    sop = parse(TEXT, "x.md").sop
    assert sop is not None
    assert check(sop) == ()
    assert sop.steps[1].branches[0].condition.right == Constant(False)  # type: ignore[union-attr]
