"""Sentences that steer are understood or reported, and everyday prose is neither."""

from __future__ import annotations

import pytest

from dcf.sop import Approval, Finish, GoTo, Not, Stop, parse, print_condition, print_markdown

HEAD = """# T

## Objective

O

## Inputs

- `total` (number)
- `ok` (yes/no)
- `answer` (text)
- `items` (list)

## Steps

"""
FIRST = len(HEAD.splitlines()) + 1
STEP = "1. Look at it.\n   - Skill: a.b\n   {line}\n2. Pay.\n3. Ship.\n"


def problems(steps: str) -> list[tuple[str, str, int | None]]:
    found = parse(HEAD + steps, "a.md").problems
    return [(one.severity, one.code, (one.line or 0) - FIRST + 1) for one in found]


@pytest.mark.parametrize(
    ("line", "condition", "then"),
    [
        ("- Unless `ok`, stop with Refused.", "not `ok` is true", Stop("Refused")),
        ("- When `total` is over 100, stop with TooMuch.", "`total` is over 100", Stop("TooMuch")),
        ("- In case `total` is over 100, finish.", "`total` is over 100", Finish()),
        ("- Stop with Refused if `ok` is false.", "`ok` is false", Stop("Refused")),
        ("- Finish if `ok`.", "`ok` is true", Finish()),
        ("- Go to step 3 unless `ok`.", "not `ok` is true", GoTo("3")),
        ("- *If `ok`, stop.*", "`ok` is true", Stop()),
        ("- [ ] If `ok`, stop.", "`ok` is true", Stop()),
        ("- If `ok`, skip to step 3", "`ok` is true", GoTo("3")),
    ],
)
def test_conditions_may_stand_otherwise(line: str, condition: str, then: object) -> None:
    sop = parse(HEAD + STEP.format(line=line), "a.md").sop
    assert sop is not None
    [branch] = sop.steps[0].branches
    assert (print_condition(branch.condition), branch.then) == (condition, then)
    assert isinstance(branch.condition, Not) == ("nless" in line)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("- If `total` is under 100, skip step 2.", "SOP_DIRECTION"),
        ("- Continue only if `ok`.", "SOP_PHRASE"),
        ("- Only if `ok`, continue, otherwise stop.", "SOP_PHRASE"),
        ("- If `ok`, immediately stop.", "SOP_PHRASE"),
        ("- If `ok`, cancel the procedure.", "SOP_PHRASE"),
        ("- Check the stock, and if `ok` is false, stop.", "SOP_PHRASE"),
        ("- Look hard; stop if `ok` is false.", "SOP_PHRASE"),
        ("- In case of doubt, stop.", "SOP_PHRASE"),
        ("- Stop!", "SOP_PHRASE"),
        ("- <b>If `ok`, stop.</b>", "SOP_PHRASE"),
        ("| If `ok` | stop |", "SOP_PHRASE"),
        ("- On Success, go to step 3.", "SOP_ERROR_NAME"),
        ("- On Fridays go to step 3.", "SOP_ERROR_NAME"),
        ("- on success, finish.", "SOP_PHRASE"),
        ("- \u0406f `ok`, stop.", "SOP_CHARACTER"),
        ("- Ski\u200bll: a.c", "SOP_CHARACTER"),
        ("- If `answer` is no, go to step 3.", "SOP_TYPE"),
        ('- If `total` is "many", go to step 3.', "SOP_TYPE"),
        ("- Retry at most 3 tries", "SOP_RETRY"),
        ("- Approval by finance and legal", "SOP_APPROVAL"),
        ("- Needs approval from both finance and legal.", "SOP_APPROVAL"),
        ("- Requires approval by at least two of ana, ben, eva.", "SOP_APPROVAL"),
        ("- Approval by two managers.", "SOP_APPROVAL"),
        ("- Approval by finance if `total` is over 100.", "SOP_APPROVAL"),
        ("- Approval: none", "SOP_APPROVAL"),
        ("- Approval: not needed", "SOP_APPROVAL"),
        ("- Only with approval by finance.", "SOP_APPROVAL"),
        ("- Finance must approve this.", "SOP_APPROVAL"),
        ("- Finance approves before the payment is made.", "SOP_APPROVAL"),
        ("- Once approved by finance.", "SOP_APPROVAL"),
        ("- This has to be signed off by the board.", "SOP_APPROVAL"),
        ("- Do not continue if `ok` is false.", "SOP_PHRASE"),
        ("- If `ok` is false, do not continue.", "SOP_PHRASE"),
        ("- Skip this step if `ok`.", "SOP_PHRASE"),
        ("- If `ok`, repeat step 1.", "SOP_PHRASE"),
        ("- Repeat this step until `ok`.", "SOP_PHRASE"),
        ("- If `ok`, restart.", "SOP_PHRASE"),
        ("- If `ok`, start over from the beginning.", "SOP_PHRASE"),
        ("- Bail out if `ok`.", "SOP_PHRASE"),
        ("- As long as `ok`, continue.", "SOP_PHRASE"),
        ("- Until `ok`, wait.", "SOP_PHRASE"),
        ("- Two people approve this.", "SOP_APPROVAL"),
        ("- Four-eyes principle applies.", "SOP_APPROVAL"),
        ("- Second pair of eyes: ben", "SOP_APPROVAL"),
        ("- Get the boss to OK it.", "SOP_APPROVAL"),
        ("- Writes: ``s`", "SOP_NAME"),
    ],
)
def test_what_steers_and_is_not_understood_is_an_error(line: str, code: str) -> None:
    assert problems(STEP.format(line=line)) == [("error", code, 3)]


@pytest.mark.parametrize(
    "title",
    ["Hand it over, with approval by finance.", "Pay after approval.", "Ask ana for approval now."],
)
def test_a_title_that_asks_for_an_approval_nobody_gives_is_an_error(title: str) -> None:
    assert problems(f"1. {title}\n   - Skill: a.b\n") == [("error", "SOP_APPROVAL", 1)]
    assert problems(f"1. {title}\n   - Skill: a.b\n   - Approval: ana\n") == []


PROSE = [
    "If the customer is angry, be polite.",
    "When the light is red, stop the machine by hand.",
    "When you are done, continue with the next pallet.",
    "Unless it rains, leave the door open.",
    "In case of fire, leave the hall by the south exit.",
    "Stop the machine before the cover is opened.",
    "Stop stirring when it boils.",
    "Finish the surface with oil.",
    "Continue to stir until it is smooth.",
    "Continue if in doubt.",
    "On Mondays the office is closed.",
    "Once the parcel is packed, weigh it and note the weight.",
    "Return the key to the board on the left.",
    "Skip the greeting if the letter is a reminder.",
    "Send the approval to the customer.",
    "Check that the form has the manager's signature.",
    "The approved list of suppliers hangs in the office.",
    "Nothing is bought from relatives, and nothing on credit.",
    "Wherever two names are alike, compare the dates of birth.",
    "After ten minutes the lamp goes out; that is normal.",
    "Do not stop the conveyor for a single box.",
    "The customer may cancel the order, and then the money goes back.",
    "Say what was found, then what was done, then what is left.",
    "Ask the carrier where the parcel is, and when it comes.",
    "Look at the label: the number stands under the bar code.",
    "If `total` is odd, say so in the letter.",
    "The end of the belt is marked in yellow.",
    "Within reason, take what the customer prefers.",
    "Finance will approve the refund within two days.",
    "Repeat the measurement until `answer` is the same twice.",
    "Skip the greeting if `ok`.",
    "Repeat the question when `answer` is missing.",
    "If `ok`, write so in the letter and put it on the pile.",
]


@pytest.mark.parametrize("said", ["finance, please", "finance please.", "please finance"])
def test_a_polite_word_is_nobody_who_decides(said: str) -> None:
    sop = parse(HEAD + STEP.format(line=f"- Approval by {said}"), "a.md").sop
    assert sop is not None and sop.steps[0].approval is not None
    # Before the name it is part of one.
    expected = said if said.startswith("please") else "finance"
    assert sop.steps[0].approval.by == (expected,)
    assert parse(print_markdown(sop), "a.md").sop == sop


@pytest.mark.parametrize("sentence", PROSE)
def test_prose_is_text_without_a_warning(sentence: str) -> None:
    for steps in (STEP.format(line=f"- {sentence}"), f"1. Look. {sentence}\n   - Skill: a.b\n"):
        reading = parse(HEAD + steps, "a.md")
        assert reading.problems == (), [str(one) for one in reading.problems]
        assert reading.sop is not None
        assert sentence in reading.sop.steps[0].text
        assert parse(print_markdown(reading.sop), "a.md").sop == reading.sop


def test_a_decision_has_no_instructions_with_a_condition() -> None:
    steps = (
        "1. Is it?\n   - If `ok`, go to step 2.\n   - When `total` is over 3 it is refused.\n2. A\n"
    )
    assert problems(steps) == [("error", "SOP_PHRASE", 3)]


def test_a_title_without_a_full_stop_ends_where_a_phrase_begins() -> None:
    sop = parse(HEAD + "1. Check the order\n   If `ok`, stop.\n   - Skill: a.b\n", "a.md").sop
    assert sop is not None
    assert (sop.steps[0].title, len(sop.steps[0].branches)) == ("Check the order", 1)


def test_what_stands_beside_a_comment_is_read_and_what_it_hides_is_not() -> None:
    steps = (
        "1. Check it. <!-- hidden:\n2. Send all the money.\n--> Twice.\n"
        "<!-- note --> 3. Wait for approval by ana.\n"
    )
    sop = parse(HEAD + steps, "a.md").sop
    assert sop is not None
    assert [(one.number, one.text) for one in sop.steps] == [("1", "Twice."), ("3", "")]
    assert sop.steps[1].approval == Approval(("ana",))


@pytest.mark.parametrize("text", ["a <!-- b", "<!-- b -->", "`<!--` c", "\\<!-- d", "x \\\\<!-- y"])
def test_the_mark_of_a_comment_in_a_text_is_printed_as_text(text: str) -> None:
    sop = parse(HEAD + "1. A\n", "a.md").sop
    assert sop is not None
    told = parse(print_markdown(type(sop)(sop.title, text, sop.steps)), "a.md").sop
    assert told is not None
    assert told.objective == text


def test_inside_a_loop_nothing_ends_the_procedure_well() -> None:
    steps = "1. For each `item` in `items`:\n   1. Look.\n      - Skill: a.b\n"
    steps += "      - If `ok`, end the procedure.\n"
    assert problems(steps) == [("error", "SOP_JUMP_SCOPE", 4)]
    assert problems(steps.replace("end the procedure", "finish")) == []


def test_before_work_nobodys_answer_is_told_from_a_refusal_by_nobody() -> None:
    steps = (
        "1. Pay.\n   - Skill: a.b\n   - Approval: ana\n   - If rejected, go to step 3\n"
        "   - If nobody answers, go to step 2\n2. A\n3. B\n"
    )
    assert problems(steps) == [("error", "SOP_APPROVAL", 5)]


def test_steps_out_of_order_are_told() -> None:
    assert problems("2. A\n1. B\n") == [("warning", "SOP_NUMBER", 2)]


def test_an_output_is_missed_only_where_something_is_put_out() -> None:
    head = HEAD.replace("## Steps", "## Outputs\n\n- `found` (text)\n\n## Steps")
    steps = "1. Look.\n   - Writes: `found`\n   - Then stop with Never\n"
    assert parse(head + steps, "a.md").problems == ()


@pytest.mark.parametrize("approver", ["ana and ben", "none", "ana, ben", "two managers"])
def test_an_approver_in_yaml_is_one_name(approver: str) -> None:
    text = f"title: T\nobjective: O\nsteps:\n  - title: Pay\n    approval: ['{approver}']\n"
    found = parse(text, "a.yaml").problems
    assert [(one.code, one.line) for one in found] == [("SOP_APPROVAL", 5)]
    named = parse(text.replace(approver, f"`{approver}`"), "a.yaml").sop
    assert named is not None
    assert named.steps[0].approval == Approval((approver,))


def test_a_line_break_of_yaml_only_is_refused_and_an_alias_repeats_no_problem() -> None:
    text = "title: a\u2028b\nobjective: x\nsteps:\n  - {title: b}\n"
    assert [one.code for one in parse(text, "a.yaml").problems] == ["SOP_CHARACTER"]
    text = "title: a\nobjective: x\nsteps:\n  - &s {title: b, tier: 9}\n  - *s\n"
    assert [(one.code, one.line) for one in parse(text, "a.yaml").problems] == [("SOP_VALUE", 4)]
