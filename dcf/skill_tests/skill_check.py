"""The tests written in a skill, made in their order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcf.skill_tests.difference import missing_parts, plain_differences
from dcf.skill_tests.outcome import Outcome
from dcf.skill_tests.plan import SkillTest
from dcf.skill_tests.target import Target
from dcf.skill_tests.timing import HANGS_AFTER_S, SLACK_S, Stopwatch
from dcf.tools import ToolResult, ToolsError, ToolTimeout
from dcf.tools.stub import StubTool

_TIMEOUTS = (ToolTimeout.code, "States.Timeout", "StubTimeout")


async def run_skill_test(
    test: SkillTest, tools: Mapping[str, StubTool], target: Target, *, mark: str
) -> Outcome:
    """One call, compared with what the test expects."""
    watch = Stopwatch()
    lines = await _wrong(test, tools, target, f"skill-test/{mark}/{test.skill}/{test.name}")
    return Outcome(
        "test",
        test.tool,
        test.name,
        (test.skill,),
        "failed" if lines else "passed",
        lines[0] if lines else "",
        tuple(lines),
        test.arguments,
        watch.seconds,
    )


async def _wrong(
    test: SkillTest, tools: Mapping[str, StubTool], target: Target, key: str
) -> list[str]:
    wanted = test.expect.get("error")
    deadline = HANGS_AFTER_S if wanted in _TIMEOUTS else _longest(tools[test.tool])
    try:
        result = await target.call(
            tools[test.tool].key, test.arguments, key=key, timeout_s=deadline
        )
    except ToolTimeout as error:
        return [] if wanted in _TIMEOUTS else [f"no answer within {deadline:g} s ({error.code})"]
    except ToolsError as error:
        return [f"the call failed: {error}"]
    return _compared(test.expect, result)


def _compared(expect: Mapping[str, Any], result: ToolResult) -> list[str]:
    if "error" in expect:
        if not result.is_error:
            return [f"expected the error {expect['error']}, got an answer: {result.text[:300]}"]
        if result.error != expect["error"]:
            return [f"expected the error {expect['error']}, got {result.error}"]
        return []
    if result.is_error:
        return [f"expected an answer, got the error {result.error}: {result.text[:300]}"]
    if "contains" in expect:
        return list(missing_parts(expect["contains"], result.data))
    return plain_differences(expect.get("response"), result.data)


def _longest(tool: StubTool) -> float:
    """The longest that any answer of the tool may take, in seconds."""
    replies = [reply for case in tool.cases for reply in case.replies]
    latencies = [reply.latency_ms for reply in replies if reply.latency_ms is not None]
    return max([tool.latency_ms, *latencies]) / 1_000 + SLACK_S
