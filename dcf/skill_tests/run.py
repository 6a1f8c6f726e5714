"""Running a plan: cases side by side, the tests of each skill one after another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from itertools import groupby

from dcf.skill_tests.case_check import CaseCheck
from dcf.skill_tests.outcome import Outcome
from dcf.skill_tests.plan import Plan
from dcf.skill_tests.report import Report
from dcf.skill_tests.skill_check import run_skill_test
from dcf.skill_tests.target import Target, own_stub, server_at
from dcf.skill_tests.timing import Stopwatch
from dcf.tools.stub import DEFAULT_CASE

AT_A_TIME = 16
"""How many cases are in work: most of their time is latency that they wait for."""

Progress = Callable[[int, int, Outcome], None]
"""Called after each check with how many are done, how many there are, and the last one."""


async def run_plan(
    plan: Plan,
    *,
    url: str | None = None,
    headers: Mapping[str, str] | None = None,
    mark: str = "0",
    progress: Progress = lambda _done, _total, _last: None,
) -> Report:
    """Make every check of the plan.

    The server is a stub of ours on a free port of this machine, or the one at ``url`` (see
    ``server_at``; ``headers`` are sent to it). Against a server that remembers idempotency keys
    ``mark`` must be one that it has not seen. Raises ``ToolUnavailable`` when it does not answer.
    """
    watch = Stopwatch()
    servers = {tool.server_id for tool in plan.tools.values()}
    opened: AbstractAsyncContextManager[Target] = (
        own_stub(plan.config, servers)
        if url is None
        else server_at(url, servers, dict(headers or {}))
    )
    checks = list(_checks(plan, mark))
    total = len(checks) + len(plan.tests)
    outcomes: list[Outcome] = []

    def note(outcome: Outcome) -> None:
        outcomes.append(outcome)
        progress(len(outcomes), total, outcome)

    async with opened as target:
        await _connect(plan, target)
        if any(len(case.replies) > 1 for tool in plan.tools.values() for case in tool.cases):
            await target.rewind()
        room = asyncio.Semaphore(AT_A_TIME)

        async def check(one: CaseCheck) -> None:
            async with room:
                note(await one.run(target))

        await asyncio.gather(*(check(one) for one in checks))
        for _skill, tests in groupby(plan.tests, key=lambda test: test.skill):
            await target.rewind()
            for test in tests:
                note(await run_skill_test(test, plan.tools, target, mark=mark))
    return Report.of(plan, outcomes, seconds=watch.seconds, url=url)


async def _connect(plan: Plan, target: Target) -> None:
    first = {tool.server_id: tool.key for tool in plan.tools.values()}
    await asyncio.gather(*(target.warm_up(key) for key in first.values()))


def _checks(plan: Plan, mark: str) -> list[CaseCheck]:
    """Every chosen case; a tool's default answer too, where it has one that calls can reach."""
    checks: list[CaseCheck] = []
    for ref, tool in plan.tools.items():
        catch_all = any(case.match.strategy == "always" for case in tool.cases)
        has_default = tool.default_response is not None and not catch_all
        for case in (*tool.cases, *([None] if has_default else [])):
            name = case.case_id if case else DEFAULT_CASE
            if not plan.cases or name in plan.cases:
                checks.append(CaseCheck(tool, case, plan.users[ref], plan.seed, mark))
    return checks
