"""Testing skills: their tools' cases and their own tests, against the stub."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from pydantic import Field

from dcf.mcp.envelope import Envelope
from dcf.mcp.help import Obvious
from dcf.mcp.platform import Platform
from dcf.mcp.tool import tool
from dcf.skill_tests import Choice, make_plan, run_plan

_MOST_OUTCOMES = 200


class SkillsTested(Envelope, total=False):
    """What the tests found."""

    counts: Annotated[dict[str, int], Field(description="{passed, failed, unreachable, skipped}.")]
    coverage: Annotated[
        list[dict[str, Any]],
        Field(description="Per skill: {skill, tools, tools_passed, cases, cases_passed, tests…}."),
    ]
    outcomes: Annotated[
        list[dict[str, Any]],
        Field(description="Checks that did not pass: {kind, tool, name, message, details…}."),
    ]
    seconds: Annotated[float, Field(description="How long it took.")]


@tool("planner", limit_s=600)
async def run_skill_tests(
    platform: Platform,
    skills_json: Annotated[list[str] | None, Obvious("Skills to test; else all.")] = None,
    tools_json: Annotated[list[str] | None, "Tools, server:tool."] = None,
    cases_json: Annotated[list[str] | None, Obvious("Ids of cases.")] = None,
    all_outcomes: Annotated[bool, "Also what passed."] = False,
) -> SkillsTested:
    """Call every case of the skills' tools, and their own tests, on a stub, and compare."""
    choice = Choice(
        skills=tuple(skills_json or ()),
        tools=tuple(tools_json or ()),
        cases=tuple(cases_json or ()),
    )
    plan = await asyncio.to_thread(make_plan, platform.config.generated, choice)
    report = await run_plan(plan)
    shown = [one for one in report.outcomes if all_outcomes or not one.ok]
    found = report.to_dict()
    fields: SkillsTested = {
        "status": "passed" if report.ok else "failed",
        "error": None if report.ok else f"tests_failed: {found['counts']['failed']} failed",
        "counts": found["counts"],
        "coverage": found["coverage"],
        "outcomes": [one.to_dict() for one in shown[:_MOST_OUTCOMES]],
        "seconds": found["seconds"],
    }
    if len(shown) > _MOST_OUTCOMES:
        fields["warnings"] = [f"{len(shown) - _MOST_OUTCOMES} more are not shown"]
    return fields


FAMILY = (run_skill_tests,)
