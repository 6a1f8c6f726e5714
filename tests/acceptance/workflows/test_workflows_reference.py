"""The examples of ``docs/reference/workflow.md`` are valid and do what the page says."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from dcf import asl
from dcf.skills import SkillCatalog
from dcf.workflow import load

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "workflow.md"
_BLOCK = re.compile(r"^```json (\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = _BLOCK.findall(PAGE.read_text("utf-8"))


def of_kind(*kinds: str) -> list[str]:
    return [text for kind, text in BLOCKS if kind in kinds]


def machine_of(state: dict[str, Any]) -> dict[str, Any]:
    """A machine around one state: what it points at are empty states."""
    targets = [rule["Next"] for rule in state.get("Catch", ())]
    return {
        "StartAt": "It",
        "States": {"It": state} | {name: {"Type": "Succeed"} for name in targets},
    }


def stories() -> list[tuple[Any, Any, Any, Any]]:
    """Each ``given``, the state after it, what its tools answered, and what it ``gives``."""
    found = []
    story: dict[str, Any] = {}
    for kind, text in BLOCKS:
        story = {"given": None} if kind == "given" else story
        story[kind] = json.loads(text)
        if kind == "gives":
            answered = story.get("answered")
            found.append((story["given"], story["state"], answered, story["gives"]))
    return found


def test_the_page_has_examples_of_every_kind() -> None:
    assert len(of_kind("workflow")) == 2
    assert len(of_kind("state")) == 5
    assert len(stories()) == 3


@pytest.mark.parametrize("text", of_kind("workflow"))
def test_its_workflows_are_valid(text: str, catalog: SkillCatalog) -> None:
    assert load(text, file="example.json", catalog=catalog).warnings == ()


@pytest.mark.parametrize("text", of_kind("state"))
def test_its_states_are_valid(text: str, catalog: SkillCatalog) -> None:
    machine = json.dumps(machine_of(json.loads(text)))

    assert load(machine, file="example.json", catalog=catalog).warnings == ()


@pytest.mark.parametrize(("given", "state", "answered", "gives"), stories())
def test_its_states_put_out_what_it_says(given: Any, state: Any, answered: Any, gives: Any) -> None:
    ended = asl.interpret(
        asl.parse(machine_of(state)),
        given,
        call_task=lambda call: asl.TaskSucceeded(answered),
        clock=asl.VirtualClock(),
        rng=random.Random(0),
    )

    assert ended.output == gives


def test_every_error_name_it_explains_is_one_that_the_errors_page_has() -> None:
    page = PAGE.read_text("utf-8")
    errors = (PAGE.parent / "errors.md").read_text("utf-8")

    named = set(re.findall(r"`((?:DCF|States)\.[A-Z][A-Za-z]+)`", page))
    assert named - {"States.Format", "States.JsonToString"} <= set(
        re.findall(r"`((?:DCF|States)\.[A-Z][A-Za-z]+)`", errors)
    )
