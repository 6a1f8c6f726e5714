"""Answers to the questions of a runbook, kept in a file beside it.

A file of its own: the command line writes it, and whoever looks through a folder of procedures
reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from dcf.problem import Problem
from dcf.sop.runbook.drafted import Draft

_SUFFIX = ".answers.yaml"


def answers_file(file: Path) -> Path:
    """Where the answers to the questions of the runbook in ``file`` are kept."""
    return file.with_suffix(_SUFFIX)


def has_answers(file: Path) -> bool:
    """Whether ``file``, by its name, keeps answers and is no procedure."""
    return file.name.endswith(_SUFFIX)


def unfit_answers(draft: Draft, said: Mapping[str, str]) -> list[Problem]:
    """What of ``said`` answers nothing that ``draft`` asks, or is none of the answers offered."""
    asked = {one.id: one for one in draft.questions}
    problems = []
    for name, answer in said.items():
        if name in asked:
            offered = " | ".join(asked[name].answers)
            message = f"{answer!r} is none of the answers to question {name}"
            problems.append(Problem("SOP_ANSWERS", message, hint=offered))
        elif name not in draft.answered:
            ids = ", ".join(asked) or "nothing is asked"
            problems.append(Problem("SOP_ANSWERS", f"there is no question {name!r}", hint=ids))
    return problems


def answers_in(text: str) -> dict[str, str] | None:
    """The answers by the ids of questions; None for a text that keeps none."""
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
        return None
    return {str(name): one for name, one in value.items()}
