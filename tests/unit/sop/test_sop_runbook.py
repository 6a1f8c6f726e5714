"""Runbooks of strangers become drafts: valid procedures that lose and invent nothing."""

from __future__ import annotations

import pytest

from dcf.sop import GoTo, NoDraft, Stop, check, draft, parse

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
