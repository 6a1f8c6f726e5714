"""A call that plans writes what waits for the graph once; one that reads writes nothing."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

import pytest
from integration.mcp.platforms import desk_on

from dcf.evidence import Record
from dcf.knowledge import RunFact
from dcf.mcp import graph_access
from dcf.planner import command_steps, write_command_draft
from dcf.problem import has_errors
from dcf.skills import generate_all
from dcf.sop import draft

SOP = """# Tell a team

## Objective

Tell a team something.

## Inputs

- `team` (text): Who hears of it.
- `message` (text): What they hear.

## Steps

1. Tell the team.
   Skill: {skill}
   Reads: `team`, `message`
"""


class EmptyGraph:
    """A graph that was asked so many times and knows nothing."""

    opened = 0

    @classmethod
    @asynccontextmanager
    async def open(cls, _: Any) -> AsyncIterator[Self]:
        cls.opened += 1
        yield cls()

    async def runs(self, **_: Any) -> AsyncIterator[RunFact]:
        for run in ():
            yield run

    async def records(self, *_: Any, **__: Any) -> Mapping[str, Record]:
        return {}


async def test_what_waits_is_written_once_by_a_call_that_plans(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drained: list[Any] = []

    async def drain(knowledge: Any, *_: Any) -> None:
        drained.append(knowledge)

    monkeypatch.setattr(EmptyGraph, "opened", 0)
    monkeypatch.setattr(graph_access, "Knowledge", EmptyGraph)
    monkeypatch.setattr(graph_access, "drain", drain)
    env = {"DCF_GRAPH_URL": "redis://127.0.0.1:1/0"}
    generated = Path(__file__).parents[3] / "generated"
    async with desk_on(redis_url, tmp_path, env=env, generated=generated) as desk:
        asking = await desk.good("plan_start", sop=SOP.format(skill="office.tell_team"))
        # For the measures, and for the runs before: asked twice, written once.
        assert (EmptyGraph.opened, len(drained)) == (2, 1)
        told = {"team": "a", "message": "b"}
        id_ = asking["planning_id"]
        assert (await desk.good("plan_answer", planning_id=id_, answers_json=told))["digest"]
        assert len(drained) == 2
        opened = EmptyGraph.opened
        await desk.good("plan_show", planning_id=id_)
        await desk.good("list_plans")
        assert (EmptyGraph.opened, len(drained)) == (opened, 2)
        # Showing one that was left invalid looks at its skills again, and writes nothing either.
        invalid = await desk.call("plan_start", sop=SOP.format(skill="office.nothing"))
        before = len(drained)
        assert await desk.refused("plan_show", planning_id=invalid["planning_id"]) == "invalid_plan"
        assert len(drained) == before


CLOCK = """# Look at the clock of a node

1. Look at the clock
   ```bash
   date -u
   ```
2. Tell `<owner>`
"""


def skilled(folder: Path) -> Path:
    """Skills with the one that may run the commands of ``CLOCK``."""
    sources, generated = folder / "sources", folder / "skilled"
    steps = command_steps(draft(CLOCK, "clock.md").sop)
    assert write_command_draft(sources, generated, steps).problems == []
    assert not has_errors(generate_all(sources, generated).problems)
    return generated


def skills_in(workflow: dict[str, Any]) -> list[str]:
    states = workflow["asl"]["States"].values()
    return [one for state in states for one in state.get("AgentBinding", {}).get("skills", ())]


async def test_commands_and_blanks_of_a_text_that_comes_over_mcp(
    redis_url: str, tmp_path: Path
) -> None:
    skill = "look_at_the_clock_of_a_node.run_commands@0.1.0"
    env = {"DCF_GRAPH": "off"}
    async with desk_on(redis_url, tmp_path, env=env, generated=skilled(tmp_path)) as desk:
        for answers, skills in (({}, []), ({"commands": "yes"}, [skill])):
            planned = await desk.good("plan_start", sop=CLOCK, answers_json=answers)
            assert skills_in(planned["workflow"]) == skills
            [blank] = [one for one in planned["warnings"] if one["code"] == "WF_INPUT_BLANK"]
            assert "owner (line 7, " in blank["message"]
            [owner] = [one for one in planned["questions"] if one["name"] == "owner"]
            assert owner["text"].startswith("line 7: ") and not owner["required"]

            compiled = await desk.good("compile_sop", sop=CLOCK, answers_json=answers)
            assert skills_in(compiled["workflow"]) == skills
            assert any("each asked for: date -u" in one for one in compiled["report"]) is bool(
                skills
            )
            text = json.dumps(compiled["workflow"])
            created = await desk.good(
                "create_workflow_control_plane",
                workflow_json=text,
                run_id=f"clock-{len(skills)}",
            )
            assert any("owner (TellOwner)" in one for one in created["warnings"])
        bad = await desk.refused("plan_start", sop=CLOCK, answers_json={"commands": "all"})
        assert bad == "plan_answers"
