"""What all example workflows have in common, and what they show together."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dcf.skills import SkillCatalog
from dcf.workflow import load

WORKFLOWS = Path(__file__).parents[3] / "workflows"
FILES = sorted(WORKFLOWS.glob("*.json"))
ALL_INPUTS = sorted((WORKFLOWS / "inputs").glob("*.json"))
LONGEST_WAIT_S = 5
_WORKFLOW_OF = {
    "order": "order-processing",
    "ticket": "support-ticket",
    "research": "market-research",
    "delivery": "delivery-watch",
    "return": "order-return",
    "search": "tree-search",
}
INPUTS = [file for file in ALL_INPUTS if file.stem.partition("-")[0] in _WORKFLOW_OF]
"""The others are for the procedures in ``workflows/sops``."""

each_workflow = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
each_input = pytest.mark.parametrize("file", INPUTS, ids=lambda file: file.stem)


def read(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))


def states(machine: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every state at any depth."""
    for name, state in machine["States"].items():
        yield name, state
        for inner in (*state.get("Branches", ()), state.get("ItemProcessor")):
            if inner is not None:
                yield from states(inner)


def properties(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every property at any depth."""
    for name, inner in schema.get("properties", {}).items():
        yield name, inner
        yield from properties(inner)
    if "items" in schema:
        yield from properties(schema["items"])


ALL_STATES = [state for file in FILES for _, state in states(read(file)["asl"])]


def test_there_are_at_least_five() -> None:
    assert len(FILES) >= 5


def test_together_they_use_all_eight_state_types() -> None:
    types = {state["Type"] for state in ALL_STATES}

    assert types == {"Task", "Pass", "Choice", "Wait", "Succeed", "Fail", "Parallel", "Map"}


@pytest.mark.parametrize(
    "field",
    [
        "InputPath",
        "Parameters",
        "ResultSelector",
        "ResultPath",
        "OutputPath",
        "Retry",
        "Catch",
        "TimeoutSeconds",
        "HeartbeatSeconds",
        "ItemSelector",
        "MaxConcurrency",
        "ErrorPath",
        "CausePath",
        "Seconds",
        "SecondsPath",
    ],
)
def test_together_they_show(field: str) -> None:
    assert any(field in state for state in ALL_STATES)


@pytest.mark.parametrize("text", ["$$.Execution", "$$.Map.Item", "States.Format", "States.MathAdd"])
def test_together_they_read(text: str) -> None:
    assert any(text in json.dumps(state) for state in ALL_STATES)


@each_workflow
def test_it_is_valid_without_a_warning(file: Path, catalog: SkillCatalog) -> None:
    document = load(file.read_text("utf-8"), file=file.name, catalog=catalog)

    assert document.warnings == ()


@each_workflow
def test_it_says_what_it_is(file: Path) -> None:
    raw = read(file)

    assert raw["workflow_id"] == raw["workflow_name"] == file.stem
    assert re.fullmatch(r"\d+\.\d+\.\d+", raw["version"])
    assert len(raw["description"]) > 80
    assert raw["tags"]


@each_workflow
def test_every_property_of_its_input_is_described(file: Path) -> None:
    schema = read(file)["workflow_input_schema"]

    bare = [name for name, inner in properties(schema) if not inner.get("description")]
    # What an address or an item holds is said by its parent and its own type.
    assert bare == []
    assert schema["additionalProperties"] is False


@each_workflow
def test_every_task_tells_an_agent_what_to_do_and_with_which_skills(file: Path) -> None:
    tasks = {name: state for name, state in states(read(file)["asl"]) if state["Type"] == "Task"}

    assert tasks
    for name, task in tasks.items():
        assert len(task.get("Comment", "")) > 20, name
        assert task["AgentBinding"]["skills"], name


@each_workflow
def test_it_imports_exactly_the_skills_it_uses(file: Path) -> None:
    raw = read(file)
    used = {
        f"skill://{skill}"
        for _, state in states(raw["asl"])
        for skill in state.get("AgentBinding", {}).get("skills", ())
    }

    assert {entry["uri"] for entry in raw["skill_imports"]} == used


@each_workflow
def test_it_does_not_make_its_readers_wait(file: Path) -> None:
    waits = [state for _, state in states(read(file)["asl"]) if state["Type"] == "Wait"]

    assert all(wait.get("Seconds", 0) <= LONGEST_WAIT_S for wait in waits)


@each_workflow
def test_it_has_an_input_and_a_row_in_the_readme(file: Path) -> None:
    assert any(_WORKFLOW_OF[one.stem.partition("-")[0]] == file.stem for one in INPUTS)
    assert f"]({file.name})" in (WORKFLOWS / "README.md").read_text("utf-8")


@each_input
def test_an_input_satisfies_the_schema_of_its_workflow(file: Path, catalog: SkillCatalog) -> None:
    name = f"{_WORKFLOW_OF[file.stem.partition('-')[0]]}.json"
    document = load((WORKFLOWS / name).read_text("utf-8"), file=name, catalog=catalog)

    assert document.check_input(read(file)) == []


@pytest.mark.parametrize("file", ALL_INPUTS, ids=lambda file: file.stem)
def test_the_readme_says_what_comes_out_of_an_input(file: Path) -> None:
    assert f"](inputs/{file.name})" in (WORKFLOWS / "README.md").read_text("utf-8")


def test_the_readme_names_no_input_that_does_not_exist() -> None:
    named = re.findall(r"\]\(inputs/([^)]+)\)", (WORKFLOWS / "README.md").read_text("utf-8"))

    assert {WORKFLOWS / "inputs" / name for name in named} == set(ALL_INPUTS)
