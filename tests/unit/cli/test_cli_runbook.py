"""Answers to what a runbook leaves open: checked, kept beside it, and used again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from dcf.cli.runbook import NOTHING_SAID, Answering, read_draft, runbook_in
from dcf.cli.screen import Screen
from dcf.cli.trouble import BadInput
from dcf.sop import answers_file

_RUNBOOK = "# Stop it\n\n1. Stop the service\n\nTODO: the order.\n"


def _runbook(folder: Path) -> tuple[Path, str]:
    file = folder / "stop.md"
    file.write_text(_RUNBOOK, encoding="utf-8")
    draft, _ = asyncio.run(read_draft(runbook_in(file), file, NOTHING_SAID, Screen(as_json=True)))
    (question,) = draft.questions
    return file, question.id


def test_an_answer_is_kept_beside_the_runbook_and_used_again(tmp_path: Path) -> None:
    file, name = _runbook(tmp_path)
    said = tmp_path / "said.yaml"
    said.write_text(f"'{name}': guardrail\n", encoding="utf-8")
    asyncio.run(read_draft(runbook_in(file), file, Answering({}, said), Screen(as_json=True)))
    assert answers_file(file) == tmp_path / "stop.answers.yaml"
    again, _ = asyncio.run(read_draft(runbook_in(file), file, NOTHING_SAID, Screen(as_json=True)))
    assert [rule.text for rule in again.sop.guardrails] == ["TODO: the order."]
    assert again.answered == (name,) and not again.questions


@pytest.mark.parametrize("given", [{"nobody": "note"}, {"": "perhaps"}])
def test_an_answer_to_nothing_and_one_that_is_not_offered_are_refused(
    tmp_path: Path, given: dict[str, str]
) -> None:
    file, name = _runbook(tmp_path)
    with pytest.raises(BadInput) as refused:
        said = Answering({key or name: one for key, one in given.items()})
        asyncio.run(read_draft(runbook_in(file), file, said, Screen(as_json=True)))
    assert [one.code for one in refused.value.problems] == ["CLI_ANSWERS"]
    assert not answers_file(file).exists()
