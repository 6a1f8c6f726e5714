"""One case, called over the wire and compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dcf.skill_tests.difference import Expected
from dcf.skill_tests.outcome import Kind, Outcome, Status
from dcf.skill_tests.reach import reach
from dcf.skill_tests.target import LONGEST_WAIT_S, Target
from dcf.skill_tests.timing import HANGS_AFTER_S, SLACK_S, Stopwatch
from dcf.tools import ToolResult, ToolsError, ToolTimeout
from dcf.tools.stub import DEFAULT_CASE, Case, Chance, Reply, StubTool

_CODES = {"throw": "StubThrown", "http_500": "Http500", "flaky": "StubFlaky"}
_DRAWS = 2_000


@dataclass(frozen=True, slots=True)
class CaseCheck:
    """A case of a tool (None: the default answer), to be checked.

    ``seed`` is that of the configuration; ``mark`` makes the idempotency keys of one test run
    different from those of another.
    """

    tool: StubTool
    case: Case | None
    skills: tuple[str, ...]
    seed: int
    mark: str

    @property
    def name(self) -> str:
        return self.case.case_id if self.case else DEFAULT_CASE

    async def run(self, target: Target) -> Outcome:
        """Reach the case, call it as often as it has different answers, compare each."""
        watch = Stopwatch()
        found = reach(self.tool, self.case)
        if found.arguments is None:
            return self._outcome("unreachable", found.reason)
        steps = list(self._steps())
        if not target.is_stub and any(step.code for step in steps):
            reason = "a real server cannot be made to fail"
            return self._outcome("skipped", reason, arguments=found.arguments)
        details: list[str] = []
        for step in steps:
            for line in await self._call(step, found.arguments, target):
                details.append(f"{step.label}: {line}" if step.label else line)
        return self._outcome(
            "failed" if details else "passed",
            details[0] if details else "",
            details=tuple(details),
            arguments=found.arguments,
            seconds=watch.seconds,
        )

    async def _call(self, step: _Step, arguments: dict[str, Any], target: Target) -> list[str]:
        """What is wrong with the answer to one call."""
        wait = step.delay_s if not target.is_ours else min(step.delay_s, LONGEST_WAIT_S)
        deadline = HANGS_AFTER_S if step.hangs else wait + SLACK_S
        watch = Stopwatch()
        try:
            result = await target.call(self.tool.key, arguments, key=step.key, timeout_s=deadline)
        except ToolTimeout:
            return self._after_timeout(step, target, deadline)
        except ToolsError as error:
            return [f"the call failed: {error}"]
        lines = self._misled(step, target) or self._compare(step, arguments, result)
        if target.is_ours and watch.seconds < wait - 0.05 and not lines:
            lines = [f"answered after {watch.seconds:.2f} s, its latency is {step.delay_s:g} s"]
        return lines

    def _after_timeout(self, step: _Step, target: Target, deadline: float) -> list[str]:
        if not step.hangs:
            return [f"no answer within {deadline:g} s"]
        return self._misled(step, target)

    def _misled(self, step: _Step, target: Target) -> list[str]:
        """Whether the stub answered from another case, where that can be known."""
        case_id = target.case_of(step.key)
        if not target.is_ours or case_id == self.name:
            return []
        if case_id is None:
            return []  # refused before any case was looked at; the answer says why
        return [f"answered by case {case_id}"]

    def _compare(self, step: _Step, arguments: dict[str, Any], result: ToolResult) -> list[str]:
        if step.code is not None:
            return _compare_error(step.code, result)
        if result.is_error:
            return [f"expected an answer, got the error {result.error}: {result.text[:300]}"]
        response = step.reply.response
        # Of servers that give text only, text that reads like JSON was read as JSON.
        actual = result.text if isinstance(response, str) else result.data
        return Expected(response, arguments, self.tool.result_schema).differences(actual)

    def _steps(self) -> Iterator[_Step]:
        """The calls to make: one, but two for a case that fails at times, and one for each answer
        of a sequence and what comes after the last."""
        case = self.case
        if case is None:
            yield self._step(Reply(self.tool.default_response), 0)
        elif len(case.replies) > 1:
            for turn in range(len(case.replies) + 1):
                yield self._step(case.reply(turn), turn, label=f"call {turn + 1}")
        elif case.replies[0].error_mode == "flaky":
            yield from self._both_ways(case.replies[0])
        else:
            yield self._step(case.replies[0], 0)

    def _both_ways(self, reply: Reply) -> Iterator[_Step]:
        """A call that the seed lets fail and one that it does not, where there are both."""
        keys = [self._key(number) for number in range(_DRAWS)]
        failing = next((key for key in keys if self._fails(reply, key)), None)
        passing = next((key for key in keys if not self._fails(reply, key)), None)
        for key, label in ((failing, "a failing call"), (passing, "a passing call")):
            if key is not None:
                yield self._expected(reply, key, label)

    def _step(self, reply: Reply, turn: int, label: str = "") -> _Step:
        return self._expected(reply, self._key(turn), label)

    def _expected(self, reply: Reply, key: str, label: str) -> _Step:
        milliseconds = self.tool.latency_ms if reply.latency_ms is None else reply.latency_ms
        delay = milliseconds / 1_000
        code = None
        hangs = False
        if reply.error_mode == "timeout":
            code = reply.error_code or "StubTimeout"
            hangs = reply.latency_ms is None or delay > HANGS_AFTER_S
        elif reply.error_mode is not None and self._fails(reply, key):
            code = reply.error_code or _CODES[reply.error_mode]
        return _Step(reply, key, label, code, delay, hangs)

    def _fails(self, reply: Reply, key: str) -> bool:
        """Whether the stub will let this call fail."""
        if reply.error_mode != "flaky":
            return reply.error_mode is not None
        seed = self.seed if reply.seed is None else reply.seed
        chance = Chance(seed, self.tool.server_id, self.tool.name, self.name, key)
        return chance.share("flaky") < reply.flaky_rate

    def _key(self, number: int) -> str:
        return f"skill-test/{self.mark}/{self.tool.key}/{self.name}/{number}"

    def _outcome(self, status: Status, message: str, **more: Any) -> Outcome:
        kind: Kind = "case" if self.case else "default"
        return Outcome(kind, self.tool.key, self.name, self.skills, status, message, **more)


@dataclass(frozen=True, slots=True)
class _Step:
    """One call and what must come of it: the error ``code``, or ``reply``'s response. ``hangs``: no
    answer may come before the caller gives up."""

    reply: Reply
    key: str
    label: str
    code: str | None
    delay_s: float
    hangs: bool


def _compare_error(code: str, result: ToolResult) -> list[str]:
    if not result.is_error:
        return [f"expected the error {code}, got an answer: {result.text[:300]}"]
    if result.error != code:
        return [f"expected the error {code}, got {result.error}: {result.text[:300]}"]
    return []
