"""Runbooks of strangers become drafts: valid procedures that lose and invent nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dcf.sop import (
    Approval,
    Finish,
    GoTo,
    Join,
    NoDraft,
    Stop,
    Wait,
    check,
    draft,
    parse,
    print_markdown,
)

REPOSITORY = Path(__file__).parents[3]

ROTATION = """\
# Rotate the signing key

**Owner:** identity

## Before you begin

- [ ] Tell the people on duty

## Procedure

1. Make a new key
   `openssl genrsa -out new.pem 4096`
2. Upload it:
   1. Log in
   2. Choose the file
3. Restart the gateways **one by one**
   - If a gateway does not answer in 5 minutes, roll back (see [Rollback](#rollback)) and stop.
4. Delete the old key

> **Warning**: never do step 4 before all gateways run.

## Rollback

1. Put the old key back
2. Restart all gateways
"""


def test_a_section_that_a_jump_leads_to_is_done_after_no_other_step() -> None:
    sop = draft(ROTATION, "rotate.md").sop
    titles = [step.title for step in sop.steps]
    last = titles.index("Delete the old key")
    assert titles[last + 1 :] == ["Put the old key back", "Restart all gateways"]
    back = sop.steps[last + 1].number
    loop = next(step for step in sop.steps if step.kind == "loop")
    # A turn of the loop cannot jump out of it: it fails, and the loop goes there.
    (asked,) = (step for step in loop.steps if step.choices)
    assert isinstance(asked.branches[0].then, Stop)
    assert [(one.errors, one.then) for one in loop.handlers] == [
        ((asked.branches[0].then.error,), GoTo(back))
    ]
    assert not [one for one in check(sop) if one.is_error]


def test_a_warning_is_a_rule_and_each_sentence_is_in_one_place() -> None:
    found = draft(ROTATION, "rotate.md")
    assert [rule.text for rule in found.sop.guardrails] == [
        "**Warning**: never do step 4 before all gateways run."
    ]
    at = {(one.line, one.place) for one in found.sentences}
    assert {(7, "step"), (17, "condition"), (20, "guardrail"), (24, "step")} <= at
    lines = [line for line, row in enumerate(ROTATION.split("\n"), 1) if row.strip(" #`")]
    covered = [line for one in found.sentences for line in range(one.line, one.last_line + 1)]
    assert sorted(set(covered)) == lines


def test_commands_are_kept_and_marked_and_their_placeholders_are_inputs() -> None:
    block = "   ```console\n   $ kubectl drain $NODE\n   done\n   ```\n"
    text = f"# Empty a node\n\n1. Empty it:\n\n{block}"
    found = draft(text, "drain.md")
    (step,) = found.sop.steps
    assert [(one.text, one.line, one.destructive) for one in step.commands] == [
        ("kubectl drain $NODE", 6, True)
    ]
    assert [one.name for one in found.sop.inputs] == ["node"]
    assert [one.source for one in step.reads] == ["node"]


def test_what_parse_reads_is_read_by_parse() -> None:
    text = "# Lock\n\n## Objective\n\nIt is locked.\n\n## Steps\n\n1. Lock the door\n"
    found = draft(text, "lock.md")
    assert found.exact and not found.questions
    assert found.sop == parse(text, "lock.md").sop


@pytest.mark.parametrize(
    ("text", "code"), [("", "SOP_EMPTY"), ("\n---\n", "SOP_EMPTY"), ("a\x00b", "SOP_CHARACTER")]
)
def test_a_text_without_words_is_refused(text: str, code: str) -> None:
    with pytest.raises(NoDraft) as refused:
        draft(text, "x.md")
    assert [one.code for one in refused.value.problems] == [code]


DECISIONS = """\
# Disk full

## Diagnosis

1. Look at the disk
2. Is it the log?
   - Yes: delete old logs and go to step 4
   - No: continue
3. If no log is large, escalate to the storage team. Otherwise clean up for each folder.
4. Get approval from the release manager.
5. Wait 5 minutes
6. Repeat until the disk is below half.
"""


def test_what_a_person_decides_is_asked_and_branched_on() -> None:
    sop = draft(DECISIONS, "disk.md").sop
    by_title = {step.title: step for step in sop.all_steps()}
    asked = by_title["Is it the log?"]
    assert asked.choices == ("yes", "no")
    approval = by_title["Get approval from the release manager"]
    assert approval.kind == "approval" and approval.approval is not None
    assert approval.approval.by == ("release manager",)
    deleting = by_title["delete old logs"]
    assert (deleting.number, deleting.then) == (f"{asked.number}.1", GoTo(approval.number))
    assert by_title["escalate to the storage team"].then == Finish()
    assert by_title["Wait 5 minutes"].wait == Wait(300)
    again = by_title["The disk is below half?"]
    assert GoTo(by_title["Wait 5 minutes"].number) in (again.then, again.branches[0].then)
    assert [(one.name, one.type) for one in sop.inputs] == [("folders", "array")]


def test_an_answer_is_applied_and_stays_when_lines_move() -> None:
    text = "# Stop it\n\n1. Stop the service\n\nTODO: the order.\n"
    (question,) = draft(text, "stop.md").questions
    assert (question.line, question.assumed) == (5, "note")
    moved = text.replace("# Stop it\n", "# Stop it\n\nIt is slow.\n")
    assert [one.id for one in draft(moved, "stop.md").questions] == [question.id]
    answered = draft(moved, "stop.md", {question.id: "step"})
    assert not answered.questions and answered.answered == (question.id,)
    assert [step.title for step in answered.sop.steps] == ["Stop the service", "TODO: the order"]


def test_a_flowchart_is_read_where_there_are_no_other_steps() -> None:
    chart = "```mermaid\ngraph TD\n  A[Look at the disk] --> B{Is it full?}\n"
    chart += "  B -->|Yes| C[Delete logs]\n  B -->|No| D[Close the alert]\n  C --> A\n```\n"
    sop = draft(f"# Disk\n\nIt may be full.\n\n{chart}", "disk.md").sop
    look, asked, delete, close = sop.steps
    assert (asked.title, asked.choices) == ("Is it full?", ("yes", "no"))
    assert asked.branches[0].then == GoTo(delete.number)
    assert (asked.then, delete.then) == (GoTo(close.number), GoTo(look.number))
    told = draft(f"# Disk\n\n1. Look at the disk\n\n{chart}", "disk.md")
    assert [step.title for step in told.sop.steps] == ["Look at the disk"]


_PIECES = st.sampled_from(
    """\
# Title
## Rollback
## If it is down
Overview
1. Check it
2. Run `a b`
3a. Look
3.2 Do it
- [ ] Tell them
- If it is, stop.
- Yes: go to step 1
- No → escalate
Otherwise roll back.
> **Warning**: never
```sh
rm -rf $DATA
```
| Step | Who |
|---|---|
| do | me |
Repeat until done.
Restart each node one by one:
:::note
:::
<!-- hidden -->
***

Text. More te\u200bxt here
  - Look
    key: value
Go to step 9.
[a](#rollback)
get approval from Ana
Retry for every thing in turn
\t\\""".splitlines()
)


@settings(max_examples=60, deadline=None)
@example([(0, "1. Restart each node one by one:"), (0, "2. - Yes: go to step 1")])
@given(st.lists(st.tuples(st.integers(0, 6), _PIECES), min_size=1, max_size=25))
def test_any_markdown_becomes_a_procedure_that_loses_and_invents_no_word(
    rows: list[tuple[int, str]],
) -> None:
    text = "# A\n" + "\n".join(" " * indent + piece for indent, piece in rows)
    found = draft(text, "any.md")
    assert not [one for one in check(found.sop) if one.is_error]
    if found.exact:
        return
    covered = Counter(word for one in found.sentences for word in _words(one.text))
    assert covered == Counter(_words(text.replace("\u200b", "")))


def _words(text: str) -> list[str]:
    """Without the numbers of steps and the marks of checkboxes, which are no words."""
    return re.findall(r"[^\W_\d]{2,}", text)


_WRITTEN = re.compile(r"^```markdown file=(\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def _procedures() -> Iterator[tuple[str, str]]:
    """Every procedure that this project has: examples, and those in its documentation."""
    for path in sorted((REPOSITORY / "workflows" / "sops").glob("*.md")):
        yield path.name, path.read_text(encoding="utf-8")
    for page in sorted((REPOSITORY / "docs").rglob("*.md")):
        blocks = re.findall(
            r"^```markdown file=(\S+)\n(.*?)^```$",
            page.read_text("utf-8"),
            re.DOTALL | re.MULTILINE,
        )
        yield from ((f"{page.name}:{name}", text) for name, text in blocks)


def test_every_procedure_that_is_read_is_read_as_before() -> None:
    read = {name: (parse(text, name).sop, text) for name, text in _procedures()}
    exact = {name: text for name, (sop, text) in read.items() if sop is not None}
    assert len(exact) > 10
    for name, text in exact.items():
        found = draft(text, name)
        assert found.exact and found.sop == read[name][0], name
        lines = {line for one in found.sentences for line in range(one.line, one.last_line + 1)}
        missing = [at for at, row in enumerate(text.split("\n"), 1) if re.search(r"\w", row)]
        assert not set(missing) - lines, name


LANES = """\
# T

O

## Steps

1. At the same time:
   - Branch: Ana
     1. Look
        - Writes: `ok`
   - Branch: Ben
     1. Look as well
        - Writes: `ok`
"""


def test_what_several_branches_write_is_asked_and_all_kept_until_then() -> None:
    found = draft(LANES, "a.md")
    [question] = found.questions
    assert (question.line, question.assumed) == (13, "every")
    assert set(question.answers) == {"first", "last", "every"}
    assert (found.exact, found.sop.steps[0].joins) == (True, (Join("ok", "every"),))

    answered = draft(LANES, "a.md", {question.id: "last"})
    assert (answered.questions, answered.answered) == ((), (question.id,))
    assert answered.sop.steps[0].joins == (Join("ok", "last"),)


def test_a_stop_says_at_what_and_a_list_for_what() -> None:
    text = '# R\n\n1. Look\n   - If a "gate" says `no`, stop.\n2. For each gateway, restart it\n'
    sop = draft(text, "gates.md").sop

    (asks,) = [step for step in sop.all_steps() if step.branches]
    (branch,) = asks.branches
    # Backticks would make a name of a value of it.
    assert branch.then == Stop("Stopped", "A \"gate\" says 'no'?")
    (gateways,) = sop.inputs
    assert (gateways.name, gateways.description) == (
        "gateways",
        "One for each turn of: For each gateway, restart it",
    )
    assert parse(print_markdown(sop), "told.md").sop == sop


@pytest.mark.parametrize(
    "text",
    [
        "Ensure each step builds on the ones before",
        "Include tests as part of each step that adds something",
        "Note the time for each step",
    ],
)
def test_what_holds_for_each_step_is_done_once(text: str) -> None:
    sop = draft(f"# Write a plan\n\n1. {text}\n2. Send the plan\n", "plan.md").sop
    assert [step.kind for step in sop.all_steps()] == ["manual", "manual"]
    assert sop.inputs == ()


@pytest.mark.parametrize(
    ("rule", "before"),
    [
        ("The change needs the approval of the duty manager.", "Move the traffic away"),
        ("Replacing the switch requires the consent of the duty manager.", "Move the traffic away"),
        ("No work without the permission of the duty manager.", "Move the traffic away"),
        ("Unplugging the switch needs the approval of the duty manager.", "Unplug the switch"),
    ],
)
def test_consent_to_the_whole_is_asked_for_first_and_to_a_step_before_it(
    rule: str, before: str
) -> None:
    """That the last step names who agreed, and what, does not make it the step in question."""
    text = f"""# Replace the switch

## Rules

{rule}

## Procedure

- Move the traffic away
- Unplug the switch
- Tell the duty manager that the change is over
"""
    steps = draft(text).sop.steps
    asked = next(at for at, step in enumerate(steps) if step.kind == "approval")
    assert steps[asked].approval == Approval(("duty manager",))
    assert steps[asked + 1].title == before


OWN_FORM = """# Replace the switch

It is done at night. The change needs the approval of the duty manager.

## Steps

1. Move the traffic away
2. Unplug the switch
"""


def test_consent_in_the_objective_of_our_own_form_is_asked_for_before_all() -> None:
    found = draft(OWN_FORM)
    first, second = found.sop.steps
    assert found.exact and second.approval is None
    assert first.approval == Approval(("duty manager",))
    [question] = found.questions
    assert (question.line, question.assumed) == (3, "duty manager")
    nobody = draft(OWN_FORM, answers={question.id: "nobody"})
    assert [step.approval for step in nobody.sop.steps] == [None, None]
    assert nobody.answered == (question.id,)


def test_consent_that_a_step_of_our_own_form_asks_for_is_not_asked_twice() -> None:
    text = OWN_FORM.replace("2. Unplug", "2. Approval by duty manager\n3. Unplug")
    found = draft(text)
    assert found.questions == ()
    assert [step.kind for step in found.sop.steps] == ["task", "approval", "task"]
    assert found.sop.steps[0].approval is None


SCRIPT = """# Release

Do this on the release machine:

```bash
# Fetch the newest state
git fetch --all

# Set the version
./bump.sh <version>
{more}
# Upload them
make upload
```

Then tell the list.
"""


def test_comments_that_are_orders_are_the_steps_of_a_script() -> None:
    found = draft(SCRIPT.format(more=""))
    steps = {step.title: (step.number, step.line) for step in found.sop.all_steps()}
    assert steps == {
        "Do this on the release machine": ("1", 3),
        "Fetch the newest state": ("1.1", 6),
        "Set the version": ("1.2", 9),
        "Upload them": ("1.3", 12),
        "Then tell the list": ("2", 16),
    }
    [told] = [step for step in found.sop.all_steps() if step.title == "Set the version"]
    assert [command.text for command in told.commands] == ["./bump.sh <version>"]
    assert [value.name for value in found.sop.inputs] == ["version"]


@pytest.mark.parametrize(
    "more",
    [
        "for one in a b; do\n# Build it\nmake $one\ndone\n",
        "cat > notes <<EOF\n# Read this\nEOF\n",
        "if ready; then\n# Build them\nmake\nfi\n",
    ],
)
def test_a_script_with_blocks_of_the_shell_stays_whole(more: str) -> None:
    found = draft(SCRIPT.format(more=more))
    assert [step.title for step in found.sop.all_steps()] == [
        "Do this on the release machine",
        "Then tell the list",
    ]
