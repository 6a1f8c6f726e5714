"""Drafts of missing skills run: whatever a procedure says of its data, a rehearsal finds the
arguments of every tool and comes to the end."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from dcf import asl
from dcf.agents.binding import bind
from dcf.planner import THRESHOLDS, Market, Plan, ToolResults, compile_sop, write_drafts
from dcf.problem import has_errors
from dcf.search import embedder_named
from dcf.skills import SkillCatalog, generate_all
from dcf.skills.discovery import SkillSearch
from dcf.sop import Sop, parse

ROOT = Path(__file__).parents[3]
SOPS = ROOT / "workflows" / "sops"
NEW_YEAR_2026 = 1_767_225_600.0
"""Before the moments that the procedures wait for."""
OVEN = """# Bake the bread

## Objective

Every oven has bread.

## Inputs

- `oven_ids` (list of texts, example ["O-1"])

## Outputs

- `hot_ovens` (list of texts)
- `minutes` (number)
- `loaves` (list of whole numbers)

## Steps

1. Heat the ovens
   - Reads: `oven_ids`
   - Writes: `hot_ovens`, `minutes`
2. Note how long it took
   - Reads: `hot_ovens`, `minutes`
   - Writes: `sheet`, `cold`, `grade`, `shift_minutes`
   - If `cold` is true, stop with OvenCold: "there is no bread"
   - If `grade` is not "good", go to step 1
   - If `minutes` is over `shift_minutes`, continue
3. Count what came out
   - For each `oven` in `hot_ovens`
   - Writes: `loaves`
   1. Open the oven door
      - Reads: `oven`
      - Writes: `loaves`
4. Tell the shops of it
   - Reads: `loaves`, `sheet.shop.name` as `shop`
"""


class Drafted:
    """What a procedure comes to with nothing but the drafts that its plan gave."""

    def __init__(self, text: str, name: str, folder: Path) -> None:
        sop = parse(text, name).sop
        assert sop is not None
        self.sop: Sop = sop
        self.folder = folder
        self.first = self._planned(SkillCatalog([]))
        made = write_drafts(folder / "skills_src", folder / "generated", self.first.gaps)
        assert made.problems == []
        generated = generate_all(folder / "skills_src", folder / "generated")
        assert not has_errors(generated.problems), generated.problems
        self.plan = self._planned(SkillCatalog.load(folder / "generated"))
        stub = json.loads((folder / "generated" / "stub" / "stub_config.json").read_text("utf-8"))
        self.tools = {
            f"{server}:{tool}": told
            for server, its in stub["servers"].items()
            for tool, told in its["tools"].items()
        }

    def _planned(self, catalog: SkillCatalog) -> Plan:
        finder = SkillSearch(self.folder / "index.db", embedder_named("none"))
        results = ToolResults.load(self.folder / "generated")
        return compile_sop(self.sop, Market(catalog, finder, results, THRESHOLDS["none"]))

    def run(self, given: Any) -> Any:
        """The end of a rehearsal: arguments are bound as it binds them, and tools answer as the
        stub does where no case fits."""
        assert self.plan.document is not None, [str(one) for one in self.plan.problems]
        catalog = SkillCatalog.load(self.folder / "generated")
        bindings = dict(_bindings(self.plan.document["asl"]))

        def call(task: asl.TaskCall) -> Any:
            binding = bindings[str(task.path[-1])]
            answers: dict[str, Any] = {}
            for ref in binding.get("skills", ()):
                for tool in catalog.resolve(ref).tools:
                    found = bind(tool.input_schema, [task.arguments, *answers.values()])
                    assert found.missing == (), (tool.name, task.arguments, found.missing)
                    told = self.tools[f"{tool.server_id}:{tool.tool_name}"]
                    answers[tool.name] = told["defaultResponse"]
                    Draft202012Validator(told["resultSchema"]).validate(answers[tool.name])
            whole = next(iter(answers.values())) if len(answers) == 1 else answers
            return asl.TaskSucceeded(whole)

        return asl.interpret(
            asl.parse(self.plan.document["asl"]),
            given,
            call_task=call,
            clock=asl.VirtualClock(NEW_YEAR_2026),
            rng=Random(0),
        )


def _bindings(machine: dict[str, Any]) -> Any:
    for name, state in machine["States"].items():
        if "AgentBinding" in state:
            yield name, state["AgentBinding"]
        for inner in (*state.get("Branches", ()), *filter(None, [state.get("ItemProcessor")])):
            yield from _bindings(inner)


def test_later_steps_take_what_earlier_ones_wrote(tmp_path: Path) -> None:
    drafted = Drafted(OVEN, "oven.md", tmp_path)

    end = drafted.run({"oven_ids": ["O-1", "O-2"]})

    assert (end.status, end.error, end.cause) == ("SUCCEEDED", None, None)
    assert end.output == {"hot_ovens": ["example"], "minutes": 1.5, "loaves": [1]}
    by_step = {gap.step.number: gap for gap in drafted.first.gaps}
    assert by_step["2"].takes == {"hot_ovens": "array", "minutes": "number"}
    assert by_step["2"].gives == {
        "sheet": "object",
        "cold": "boolean",
        "grade": "string",
        "shift_minutes": "number",
    }
    assert by_step["3.1"].takes == {"oven": "string"}
    assert by_step["3.1"].gives == {"loaves": "integer"}
    assert by_step["4"].takes == {"loaves": "array", "shop": "string"}


@pytest.mark.parametrize("file", sorted(SOPS.glob("*.*")), ids=lambda one: one.stem)
def test_a_procedure_of_ours_runs_on_nothing_but_drafts(file: Path, tmp_path: Path) -> None:
    text = file.read_text("utf-8")
    drafted = Drafted(_without_skills(text), file.name, tmp_path)
    assert drafted.first.gaps

    given = {one.name: _example(one) for one in drafted.sop.inputs if one.default is None}
    end = drafted.run(given)

    assert (end.status, end.error, end.cause) == ("SUCCEEDED", None, None)


def _without_skills(text: str) -> str:
    """``text`` without the skills that it names: there are none yet."""
    kept = [line for line in text.splitlines() if not line.strip(" -").lower().startswith("skill")]
    return "\n".join(kept) + "\n"


def _example(value: Any) -> Any:
    if value.example is not None:
        return value.example
    if value.enum:
        return value.enum[0]
    if value.type == "object" or value.members:
        one = {member.name: _example(member) for member in value.members}
        return [one] if value.type == "array" else one
    plain = {"string": "text", "number": 2.5, "integer": 2, "boolean": True}
    return [plain[value.items or "string"]] if value.type == "array" else plain[value.type]
