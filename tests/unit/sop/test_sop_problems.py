"""Every mistake is one problem with its line, and all of them are told at once."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_procedures import lines
from written import REFUND, changed, line_of

from dcf.sop import Condition, parse, parse_markdown
from dcf.sop.checks import conditions
from dcf.sop.checks.conditions import covers

MISTAKES = [
    ("# Refund a customer\n", "\n", "SOP_TITLE", 1),
    ("The customer has the money back, or knows why not.\n", "\n", "SOP_OBJECTIVE", 1),
    ("go to step 3\n", "go to step 33\n", "SOP_JUMP", "step 33"),
    ("Otherwise go to step 4", "Otherwise go to step 4.1", "SOP_JUMP_SCOPE", "step 4.1"),
    ("2. Wait 1 day", "2. Done\n      - Then go to step 6", "SOP_JUMP_SCOPE", "Then go to step 6"),
    ("5. Pay the", "4. Pay the", "SOP_NUMBER", "4. Pay"),
    ("If rejected, go to step 6", "If rejected, call Bob", "SOP_DIRECTION", "call Bob"),
    ("`total` is over 100", "`total` is high 100", "SOP_CONDITION", "is high"),
    ("`total` is over 100", "`total` is over 1,000", "SOP_CONDITION", "1,000"),
    ("Within 2 hours", "Within 2 months", "SOP_DURATION", "2 months"),
    ("Retry up to 3 times", "Retry a lot", "SOP_RETRY", "Retry a lot"),
    ("2. Wait 1 day", "2. Wait for it", "SOP_WAIT", "Wait for it"),
    (
        "For each `article` in `articles`, 2 at a time",
        "For each article",
        "SOP_LOOP_ITEMS",
        "For each",
    ),
    ("2 at a time", "2 at lunch", "SOP_LOOP_PACE", "2 at lunch"),
    ("Approval by finance", "Approval soon", "SOP_APPROVAL", "Approval soon"),
    ("Reads: `order_id`", "Reads: `ordr_id`", "SOP_UNKNOWN_NAME", "ordr_id"),
    ("Reads: `order_id`", "Reads: the order", "SOP_NAME", "Reads: the order"),
    ("Reads: `order_id`", "Reads: `refund_id`", "SOP_READ_EARLY", "Reads: `refund_id`"),
    ("Writes: `refund_id`", "Writes: `other`", "SOP_OUTPUT", "The refund's number"),
    ("Skill: orders.lookup_order", "Skil: orders.lookup_order", "SOP_LABEL", "Skil:"),
    ("Skill: orders.lookup_order", "Skill: look it up!", "SOP_SKILL", "look it up!"),
    ("## Inputs", "## Imputs", "SOP_SECTION", "## Imputs"),
    ("- `order_id` (text)", "- `order id` (text)", "SOP_NAME", "order id"),
    ("- `order_id` (text)", "- `order_id` (texts of all kinds)", "SOP_VALUE", "all kinds"),
    ("- `order_id` (text)", "- `order_id` (text, default 3)", "SOP_VALUE", "default 3"),
    ("Skill: orders", "Tier: 9\n   - Skill: orders", "SOP_TIER", "Tier: 9"),
    ("6. Stop with", "6. Done\n   - Then finish\n7. Stop with", "SOP_UNREACHABLE", "7. Stop"),
    ("5. Pay the", "5. Finish\n5a. Pay the", "SOP_AFTER_END", "5a. Pay"),
    ("   2. Wait 1 day", "   - Branch: empty", "SOP_NESTED", "Branch: empty"),
    (
        "4. For each `article` in `articles`, 2 at a time:",
        "4. Look",
        "SOP_NESTED",
        "1. Look at the",
    ),
    ("Skill: orders", "Role: a\n   - Role: b\n   - Skill: orders", "SOP_TWICE", "Role: b"),
    (
        "   - Otherwise go",
        "   - If `total` is over 200, stop\n   - Otherwise go",
        "SOP_CONTRADICTION",
        "200",
    ),
    ("over 100,", "over 100 and `total` is below 50,", "SOP_CONTRADICTION", "below 50"),
    ("Then finish", "Then go on to step 5 or 6", "SOP_PHRASE", "5 or 6"),
    ("## Steps", "```\n## Steps", "SOP_MARKDOWN", "```"),
    ("## Steps", "<!-- ## Steps", "SOP_MARKDOWN", "<!--"),
]


@pytest.mark.parametrize(("old", "new", "code", "at"), MISTAKES)
def test_one_mistake_is_one_problem(old: str, new: str, code: str, at: str | int) -> None:
    text = changed(REFUND, (old, new))
    # A second 4 above 4 is found where it stands twice.
    if code == "SOP_NUMBER":
        text = text.replace("go to step 4", "go to step 5").replace("6. Stop", "5. Stop")
        text = text.replace("go to step 6", "go to step 5")
    reading = parse(text, "sop.md")
    line = at if isinstance(at, int) else line_of(text, at)
    errors = [one for one in reading.problems if one.is_error]
    assert [(one.code, one.line) for one in errors] == [(code, line)], list(map(str, errors))
    assert reading.sop is None
    assert all(one.message and one.hint and one.file == "sop.md" for one in errors)


LANES = """\
# T

O

## Steps

1. At the same time:
   - Branch: Ana
     1. Look
        - Writes: `ok`
   - Branch: Ben
     1. At the same time:
        - Keep the last `ok`
        1. Look
           - Writes: `ok`
        2. Look as well
           - Writes: `ok`
"""


def test_branches_that_write_one_name_are_told_with_both_lines() -> None:
    [problem] = parse(LANES, "sop.md").problems
    assert (problem.code, problem.line) == ("SOP_JOIN", 15)
    assert "'Ana' (line 10) and 'Ben' (line 15) of step 1 write 'ok'" in problem.message
    assert parse(LANES.replace("- Branch: Ana", "- Keep every `ok`\n   - Branch: Ana"), "").sop


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ("- Keep the first `ok` and `other`", "SOP_JOIN"),
        ("- Keep the first `ok`\n   - Keep the last `ok`", "SOP_TWICE"),
    ],
)
def test_a_rule_is_for_one_name_that_branches_write(rules: str, code: str) -> None:
    text = LANES.replace("- Branch: Ana", f"{rules}\n   - Branch: Ana")
    assert [one.code for one in parse(text, "").problems] == [code]


def test_a_rule_stands_in_the_step_with_the_branches() -> None:
    text = LANES.replace(
        "     1. Look\n        -", "     1. Look\n        - Keep every `ok`\n        -"
    )
    assert {one.code for one in parse(text, "").problems} == {"SOP_JOIN", "SOP_KIND"}


def test_five_mistakes_are_five_problems() -> None:
    text = changed(
        REFUND,
        ("Retry up to 3 times", "Retry a lot"),
        ("go to step 3\n", "go to step 33\n"),
        ("Within 2 hours", "Within 2 months"),
        ("Reads: `article.sku`", "Reads: `articel.sku`"),
        ("Writes: `refund_id`", "Writes: `other`"),
    )
    problems = parse(text, "sop.md").problems
    assert [(one.code, one.line) for one in problems] == [
        ("SOP_OUTPUT", line_of(text, "The refund's number")),
        ("SOP_RETRY", line_of(text, "a lot")),
        ("SOP_JUMP", line_of(text, "33")),
        ("SOP_DURATION", line_of(text, "2 months")),
        ("SOP_UNKNOWN_NAME", line_of(text, "articel")),
    ]


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("", "SOP_TITLE", 1),
        ("# T\n\nO\n\n## Steps\n1. A\x00\n", "SOP_CHARACTER", 6),
        ("# T\n\nO\n\n## Steps\n1. A \u202eB\n", "SOP_CHARACTER", 6),
        ("---\ntitle: T\n---\n# T\n\nO\n\n## Steps\n1. A\n", "SOP_MARKDOWN", 1),
        ("# T\n\nO\n\n## Steps\n1. A\n" + "x" * 1_000_000, "SOP_LIMIT", 1),
        ("# T\n\nO\n\n## Steps\n" + "".join(f"{n}. A\n" for n in range(1, 2_002)), "SOP_LIMIT", 1),
    ],
)
def test_texts_that_are_no_procedure(text: str, code: str, line: int) -> None:
    assert (code, line) in [(one.code, one.line) for one in parse_markdown(text, "a.md").problems]


def test_deep_nesting_is_refused() -> None:
    deep = "".join(f"{' ' * n}1. For each `x` in `items`\n" for n in range(400))
    problems = parse_markdown(f"# T\n\nO\n\n## Inputs\n- items\n\n## Steps\n{deep}").problems
    assert "SOP_LIMIT" in [one.code for one in problems]
    too_deep = "".join(f"{' ' * n}1. For each `x` in `items`\n" for n in range(12))
    problems = parse_markdown(f"# T\n\nO\n\n## Inputs\n- items\n\n## Steps\n{too_deep}").problems
    assert "SOP_LIMIT" in [one.code for one in problems]
    brackets = "(" * 200 + "`a`" + ")" * 200
    problems = parse_markdown(f"# T\n\nO\n\n## Steps\n1. If {brackets}, stop\n").problems
    assert "SOP_CONDITION" in [one.code for one in problems]


@pytest.mark.parametrize(
    "line",
    [
        "- If " + "`a` is 1 and " * 20_000 + "`a` is 1, stop",
        "- If " + "x " * 100_000 + ", go to step 1",
        "- Retry on " + "A, " * 50_000 + "B up to 3 times",
        "- Reads: " + "a, " * 50_000 + "b",
        "- " + "* " * 100_000,
        "- " + "**" * 100_000,
        "- " + '"' * 100_001,
        "- Within " + "1 day " * 20_000,
        "- If " + ", go" * 30_000,
        "- approval by " + "a or " * 50_000,
        "- on " + "A " * 50_000 + "go",
        "“" * 100_000,
        '\\"' * 100_000,
        "- If `a` is" + " " * 1_900 + "y, b",
        "- If this fails with x" + " " * 1_900 + "y",
        "- Skill: " + "a" * 500_000,
        "\n# a" + " " * 100_000 + "b",
        "\n## Roles\n- a" + " " * 100_000 + "b",
    ],
)
def test_long_lines_do_not_take_long(line: str) -> None:
    begun = time.process_time()
    parse_markdown(f"# T\n\nO\n\n## Steps\n1. A\n   {line}\n")
    assert time.process_time() - begun < 4.0


@pytest.mark.parametrize("text", ["\n" * 50_000 + "x", "---\r\n" + "a: b\r\n" * 50_000 + "x"])
def test_a_text_without_an_end_is_read_once(text: str) -> None:
    """With a way back at each line this would take the power of the number of lines."""
    assert parse(text).sop is None


def test_a_branch_is_compared_only_with_those_of_its_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared = 0

    def counted(earlier: Condition, later: Condition) -> bool:
        nonlocal compared
        compared += 1
        return covers(earlier, later)

    monkeypatch.setattr(conditions, "covers", counted)
    for test in ("is {0}", "is over {1}"):
        branches = "".join(
            f"   - If `a` {test.format(n, 1_000 - n)}, go to step 2\n" for n in range(1_000)
        )
        problems = parse_markdown(
            f"# T\n\nO\n\n## Inputs\n- `a` (number)\n\n## Steps\n1. Is it?\n{branches}2. A\n"
        ).problems
        assert problems == ()
    assert compared < 10_000


def test_many_jumps_do_not_take_long() -> None:
    steps = "".join(
        f"{n}. Do\n   - Writes: `v{n}`\n   - If `v{n}` is 1, go to step {2000 - n}\n"
        for n in range(1, 1_500)
    )
    begun = time.process_time()
    parse_markdown(f"# T\n\nO\n\n## Steps\n{steps}")
    assert time.process_time() - begun < 5.0


@given(st.lists(lines, max_size=12).map("\n".join), st.sampled_from(["a.md", "a.yaml", ""]))
@settings(max_examples=150, deadline=None)
def test_no_text_raises(text: str, file: str) -> None:
    parse(f"# T\n\nO\n\n## Inputs\n{text}\n\n## Steps\n{text}\n1. A\n{text}\n   {text}", file)
    parse(text, file)
