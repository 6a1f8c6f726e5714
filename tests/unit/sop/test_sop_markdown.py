"""What people write in Markdown, and what is understood."""

from __future__ import annotations

import pytest
from written import REFUND, changed, line_of

from dcf.sop import (
    CONTINUE,
    Approval,
    Budget,
    Comparison,
    Constant,
    Finish,
    GoTo,
    Loop,
    Name,
    Retry,
    Sop,
    Step,
    Stop,
    Transfer,
    Wait,
    parse,
    parse_markdown,
    print_markdown,
)
from dcf.sop.findings import Findings
from dcf.sop.markdown.document import read_markdown


def read(text: str) -> Sop:
    reading = parse(text, "sop.md")
    assert reading.problems == (), [str(one) for one in reading.problems]
    assert reading.sop is not None
    return reading.sop


def only_step(*lines: str, inputs: str = "a b c items status total pause due") -> Step:
    """The first step of a procedure whose steps are ``lines`` and one more."""
    declared = "".join(f"- {name}\n" for name in inputs.split())
    body = "\n".join(lines)
    return read(f"# T\n\nO\n\n## Inputs\n{declared}\n## Steps\n{body}\n9. Last\n").steps[0]


def test_a_whole_procedure_is_read() -> None:
    sop = read(REFUND)
    assert sop.title == "Refund a customer"
    assert sop.objective == "The customer has the money back, or knows why not."
    assert [one.name for one in sop.inputs] == ["order_id", "articles"]
    assert sop.inputs[1].type == "array"
    assert [one.name for one in sop.inputs[1].members] == ["sku"]
    assert [(one.number, one.kind) for one in sop.all_steps()] == [
        ("1", "task"),
        ("2", "decision"),
        ("3", "approval"),
        ("4", "loop"),
        ("4.1", "task"),
        ("4.2", "wait"),
        ("5", "task"),
        ("6", "end"),
    ]
    look, much, agree, each, pay, stop = sop.steps
    assert look.title == "Look the order up"
    assert look.text == "The number is on the parcel."
    assert look.writes == (Transfer("total", "total"), Transfer("order.state", "status"))
    assert look.retries == (Retry(3, 30, 2.0),)
    assert look.handlers[0].errors == ("OrderUnknown",)
    assert much.branches[0].condition == Comparison(Name("total"), ">", Constant(100))
    assert (much.branches[0].then, much.then) == (GoTo("3"), GoTo("4"))
    assert agree.approval == Approval(("finance",))
    assert agree.deadline == 7200
    assert agree.handlers[0].errors == ("DCF.ApprovalRejected",)
    assert each.loop == Loop("articles", "article", 2)
    assert each.steps[1].wait == Wait(86_400)
    assert pay.then == Finish()
    assert stop.then == Stop("NotRefunded", "no order `order_id`")
    starts = ("1. Look the", "2. Is", "3. App", "4. For", "5. Pay", "6. Stop")
    assert [one.line for one in sop.steps] == [line_of(REFUND, start) for start in starts]
    assert much.branches[0].line == line_of(REFUND, "is over 100")


@pytest.mark.parametrize(
    ("line", "then"),
    [
        ("If `a` is 1, go to step 9", GoTo("9")),
        ("If `a` is 1 then go back to step 1.", GoTo("1")),
        ("If `a` is 1: goto 9", GoTo("9")),
        ("**If** `a` is 1, skip to step 9", GoTo("9")),
        ("if `a` is 1, continue", CONTINUE),
        ("If `a` is 1, end the procedure", Finish()),
        ("If `a` is 1, stop with Broken", Stop("Broken")),
        ("If `a` is 1, fail with `own.error`: it is `a`", Stop("own.error", "it is `a`")),
        ('If `a` is 1, stop: "otherwise, no"', Stop("", "otherwise, no")),
    ],
)
def test_conditions_say_where_to_go(line: str, then: object) -> None:
    [branch] = only_step("1. Is it?", f"   - {line}").branches
    assert branch.condition == Comparison(Name("a"), "==", Constant(1))
    assert branch.then == then


def test_one_sentence_may_say_it_all() -> None:
    step = only_step(
        "1. If `a` is 1, go to step 9, otherwise if `b` is 2, finish; else go to step 2", "2. X"
    )
    assert step.kind == "decision"
    assert [branch.then for branch in step.branches] == [GoTo("9"), Finish()]
    assert step.then == GoTo("2")


def test_a_paragraph_may_say_it_over_two_lines() -> None:
    step = only_step(
        "1. Charge the card. Be careful.",
        "",
        "   Ask nobody. If this fails with CardDeclined or Card.Lost,",
        "   go to step 9. Retry up to two times. Smile.",
    )
    assert step.text == "Be careful.\nAsk nobody. Smile."
    assert step.handlers[0].errors == ("CardDeclined", "Card.Lost")
    assert step.handlers[0].line == step.line + 2
    assert step.retries == (Retry(2),)


@pytest.mark.parametrize(
    ("line", "member", "value"),
    [
        ("Skills: a.b, `c.d@^1` and e@1.0.0", "skills", ("a.b", "c.d@^1", "e@1.0.0")),
        ("**Role:** head clerk", "role", "head clerk"),
        ("Reads: `total` as `amount`", "reads", (Transfer("total", "amount"),)),
        ("Retry: twice", "retries", (Retry(2),)),
        (
            "Retry on Busy, A.B up to 3 times, waiting half an hour, growing by 1.5, "
            "at most 2 hours",
            "retries",
            (Retry(3, 1800, 1.5, 7200, ("Busy", "A.B")),),
        ),
        ("Within 1 day and 12 hours", "deadline", 129_600),
        ("Time limit: 90s", "deadline", 90),
        ("Needs approval by ana or ben", "approval", Approval(("ana", "ben"))),
        ("Approval: anybody", "approval", Approval(())),
        ("Tier: 2", "tier", 2),
        (
            "Budget: 20 tool calls, 1.50 USD and 10 minutes",
            "budget",
            Budget(tool_calls=20, cost_usd=1.5, wall_time_s=600),
        ),
    ],
)
def test_lines_under_a_task_say_how_it_is_done(line: str, member: str, value: object) -> None:
    step = only_step("1. Do it", f"   - {line}")
    assert getattr(step, member) == value
    assert (step.kind, step.text) == ("task", "")


@pytest.mark.parametrize(
    ("title", "wait"),
    [
        ("Wait 1 day", Wait(86_400)),
        ("Wait for two weeks.", Wait(1_209_600)),
        ("Wait until `due`", Wait(until=Name("due"))),
        ("Wait until 2026-03-01T09:00:00Z", Wait(until="2026-03-01T09:00:00Z")),
        ("Wait `pause` seconds", Wait(Name("pause"))),
    ],
)
def test_waits(title: str, wait: Wait) -> None:
    step = only_step(f"1. {title}")
    assert (step.kind, step.wait) == ("wait", wait)


@pytest.mark.parametrize("title", ["At the same time:", "In parallel", "Do these simultaneously"])
def test_numbers_below_a_parallel_step_are_its_lanes(title: str) -> None:
    step = only_step(f"1. {title}", "   1. Left", "   2. Right")
    assert step.kind == "parallel"
    assert [[one.number for one in lane.steps] for lane in step.lanes] == [["1.1"], ["1.2"]]


def test_lanes_of_several_steps_have_a_title() -> None:
    step = only_step(
        "1. Prepare both sides",
        "   - Branch: Left",
        "     1. A",
        "     2. B",
        "        - Then go to step 1",
        "   - Branch: Right",
        "     a. C",
    )
    assert step.kind == "parallel"
    assert [lane.title for lane in step.lanes] == ["Left", "Right"]
    assert [one.number for lane in step.lanes for one in lane.steps] == ["1.1.1", "1.1.2", "1.2a"]
    assert step.lanes[0].steps[1].then == GoTo("1.1.1")


@pytest.mark.parametrize(
    "text",
    [
        "If the customer is angry, be polite.",
        "Stop the machine before the cover is opened.",
        "Finish the surface with oil.",
        "Continue to stir.",
        "- check the label",
        "- Note: take the short form",
        "On Mondays the office is closed.",
    ],
)
def test_other_prose_is_text_of_the_step(text: str) -> None:
    step = only_step("1. Do it", "", f"   {text}")
    assert (step.text, step.kind, step.then) == (text, "task", CONTINUE)


def test_a_backslash_makes_anything_text() -> None:
    step = only_step("1. \\Wait 1 day", "   - \\Skill: x", "", "   \\If this fails, stop.")
    assert (step.title, step.kind) == ("Wait 1 day", "task")
    assert step.text == "- Skill: x\nIf this fails, stop."


def test_how_far_lines_are_indented_does_not_matter() -> None:
    deep = only_step("1. For each `x` in `items`:", "    1. A", "        - Role: r")
    flat = only_step("1. For each `x` in `items`:", "  1. A", "    - Role: r")
    tabbed = only_step("1. For each `x` in `items`:", "\t1. A", "\t\t- Role: r")
    assert deep == flat == tabbed
    assert only_step("1. A", "- Role: r") == only_step("1. A", "  - Role: r")


@pytest.mark.parametrize(
    "marks", [("1.", "2."), ("1)", "2)"), ("Step 1:", "Step 2:"), ("3.1", "3a.")]
)
def test_numbers_stay_as_they_are_written(marks: tuple[str, str]) -> None:
    sop = read(f"# T\n\nO\n\n## Steps\n{marks[0]} A\n{marks[1]} B\n")
    numbers = [mark.removeprefix("Step ").rstrip(".):") for mark in marks]
    assert [step.number for step in sop.steps] == numbers


def test_text_of_a_decision_that_sounds_like_a_case_reads_back_as_text() -> None:
    said = Step("1", "Full?", "decision", "Look. If the weather is fine, eat outside.")
    procedure = Sop("Look", "Look", (said,))
    assert read_markdown(print_markdown(procedure), Findings("")) == procedure


def test_what_stands_behind_the_marks_of_a_fence_is_no_comment() -> None:
    """CommonMark 4.5: it is the fence's info string, whatever stands in it."""
    objective = "Look at it:\n~~~ html <!-- not closed\n<p>\n~~~"
    procedure = Sop("Look", objective, (Step("1", "Look", text="```<!-- x -->\ny\n```"),))
    assert parse(print_markdown(procedure), "x.md").sop == procedure


def test_line_ends_a_byte_order_mark_and_comments_change_nothing() -> None:
    with_comment = changed(REFUND, ("## Steps\n", "<!-- 1. no\nstep -->\n---\n\n## Steps\n"))
    assert read("\ufeff" + with_comment.replace("\n", "\r\n")) == read(REFUND)
    assert read(REFUND.replace("\n", "\r")) == read(REFUND)


def test_guardrails_hold_limits_of_the_run() -> None:
    rules = "## Guardrails\n- Within 2 days\n- Budget: 5 USD\n- Never lie.\n\n## Steps\n"
    sop = read(changed(REFUND, ("## Steps\n", rules)))
    assert (sop.deadline, sop.budget) == (172_800, Budget(cost_usd=5.0))
    assert [rule.text for rule in sop.guardrails] == ["Never lie."]


def test_other_sections_are_notes() -> None:
    sop = read(changed(REFUND, ("## Steps\n", "## Background\n\nOld.\n\n## Steps\n")))
    assert [(note.title, note.text) for note in sop.notes] == [("Background", "Old.")]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("- `n` (whole number, default 3): Count", ("integer", False, 3, None, ())),
        ("- n (yes/no, optional) - Flag", ("boolean", False, None, None, ())),
        (
            '- **n** (one of "a", b or c, example b): Pick',
            ("string", True, None, "b", ("a", "b", "c")),
        ),
        ("- n: Text", ("string", True, None, None, ())),
        ('- `n` (record, example {"a": [1, 2]}): It', ("object", True, None, {"a": [1, 2]}, ())),
    ],
)
def test_inputs_say_type_and_values(written: str, expected: tuple[object, ...]) -> None:
    [value] = read(f"# T\n\nO\n\n## Inputs\n{written}\n\n## Steps\n1. A\n").inputs
    assert value.name == "n"
    assert (value.type, value.required, value.default, value.example, value.enum) == expected


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        ("Pause\n   - Wait: 1 day", "wait"),
        ("Let it cool\n   - Wait 2 hours", "wait"),
        ("Ask finance\n   - Approval: finance", "approval"),
        ("The board approves the sale\n   - Approval: board\n   - Within 2 days", "approval"),
        ("Get the go-ahead\n   - Approval: board", "approval"),
        ("Pay the money back\n   - Approval: board", "task"),
        ("Send the approval to the customer\n   - Approval: board", "task"),
        ("Ask finance. Show the bill.\n   - Approval: finance", "task"),
        ("Ask finance\n   - Approval: finance\n   - Role: clerk", "task"),
        ("Ask the carrier where it is\n   - Approval: finance", "task"),
    ],
)
def test_a_step_that_is_nothing_but_a_wait_or_an_approval_is_read_as_that(
    step: str, kind: str
) -> None:
    found = parse_markdown(f"# A\n\n## Objective\n\nB.\n\n## Steps\n\n1. {step}\n")

    assert found.sop is not None, found.problems
    assert found.sop.steps[0].kind == kind
    assert parse_markdown(print_markdown(found.sop)).sop == found.sop


def test_work_that_is_taken_for_a_wait_is_told() -> None:
    text = "# A\n\n## Objective\n\nB.\n\n## Steps\n\n1. Ship the parcel\n   - Wait 1 day\n"

    assert [(one.code, one.severity) for one in parse_markdown(text).problems] == [
        ("SOP_KIND_GUESSED", "warning")
    ]


def test_a_step_that_is_no_loop_collects_nothing_and_a_fixed_value_is_an_input() -> None:
    text = (
        "# A\n\n## Objective\n\nB.\n\n## Steps\n\n1. Look\n   - Collects: `price`\n"
        '2. Tell\n   - Reads: team = "purchasing"\n'
    )
    problems = parse_markdown(text).problems

    assert [(one.code, one.line) for one in problems] == [("SOP_KIND", 10), ("SOP_NAME", 12)]
    assert "For each" in (problems[0].hint or "")
    assert "default" in (problems[1].hint or "")
