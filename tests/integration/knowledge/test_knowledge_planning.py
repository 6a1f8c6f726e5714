"""Procedures in files are compiled by what was measured, and by what people advise."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path
from typing import Any

import pytest
from integration.knowledge.world import outcome, write

from dcf.cli.advise import AdviceOrder, advise
from dcf.cli.planning import CompilingOptions, compile_file
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.knowledge import Knowledge

GENERATED = Path(__file__).parents[3] / "generated"
TELL = "office.tell_team"
FAILED = {"status": "failed", "error": "Boom"}
PROCEDURE = """# Tell them

## Objective

Everybody knows.

## Inputs

- `case_id`
- `text`

## Steps

1. Tell the team
   - Skill: office.tell_team
"""


@pytest.fixture
def env(tmp_path: Path, graph_url: str, redis_url: str) -> dict[str, str]:
    return {
        "DCF_HOME": str(tmp_path / "home"),
        "DCF_GENERATED": str(GENERATED),
        "DCF_EMBEDDER": "none",
        "DCF_GRAPH_URL": graph_url,
        "DCF_REDIS_URL": redis_url,
    }


async def planned(folder: Path, env: dict[str, str], number: int = 0) -> dict[str, Any]:
    """The only step of the plan of a procedure, one among many of other names."""
    file = folder / f"tell-{number}.md"
    file.write_text(PROCEDURE.replace("them", f"them {number}"))
    options = CompilingOptions(None, None, None, GENERATED)
    screen = Screen(as_json=True)
    settings = Settings.from_env(env)
    answer = await asyncio.to_thread(compile_file, file, options, settings, screen)
    assert answer.exit_code == 0, answer.fields["problems"]
    step: dict[str, Any] = answer.fields["steps"][0]
    return step


async def told(graph_url: str, version: str, done: int, failed: int) -> None:
    """Outcomes of a version at its kind of task, the last one a minute ago; those that failed stand
    among the others."""
    n = done + failed
    now = time.time_ns() // 1_000_000
    many = [
        outcome(
            number,
            run=f"{version}-{number}/1",
            workflow_id=f"{version}-{number}",
            skills=(f"skill.{TELL}@{version}",),
            task_type=TELL,
            ended_at=now - 60_000 * (n - number),
            duration_ms=1_500,
            **({"status": "done", "error": None} if number * done % n < done else FAILED),
        )
        for number in range(n)
    ]
    async with Knowledge.open(graph_url) as knowledge:
        await write(knowledge.graph, *many)


async def test_what_was_measured_is_followed_and_told(
    tmp_path: Path, env: dict[str, str], graph_url: str
) -> None:
    assert (await planned(tmp_path, env))["skills"] == [f"{TELL}@1.1.0"]  # the newest
    await told(graph_url, "1.0.0", 30, 0)
    await told(graph_url, "1.1.0", 10, 20)

    step = await planned(tmp_path, {**env, "DCF_EXPLORE": "off"})

    assert step["skills"] == [f"{TELL}@1.0.0"]
    best, alternative = step["why"].split("alternative: ")
    assert re.search(r"@1\.0\.0 is expected .*\(tried 30 times.* 100% right .*, 1\.5 s\)", best)
    assert re.match(r"skill\.office\.tell_team@1\.1\.0 \(tried 30 times.* 33% right", alternative)
    assert "last failure on" in alternative
    assert "exploring is switched off" in step["why"]


async def test_what_a_person_advises_goes_before(
    tmp_path: Path, env: dict[str, str], graph_url: str
) -> None:
    await told(graph_url, "1.0.0", 2, 3)
    said = AdviceOrder(TELL, f"{TELL}@1.0.0", None, False, "the team asks for it", "planner")
    await advise(said, Settings.from_env(env))

    step = await planned(tmp_path, env)

    assert step["skills"] == [f"{TELL}@1.0.0"]
    assert "of a person: the team asks for it; tried 5 times" in step["why"]


async def test_versions_are_explored_the_same_way_for_the_same_procedure(
    tmp_path: Path, env: dict[str, str], graph_url: str
) -> None:
    await told(graph_url, "1.0.0", 3, 1)
    await told(graph_url, "1.1.0", 2, 2)

    taken = [(await planned(tmp_path, env, number))["skills"] for number in range(8)]
    assert len({*map(tuple, taken)}) == 2
    assert (await planned(tmp_path, env, 3))["skills"] == taken[3]
