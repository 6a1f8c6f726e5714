"""Deciding the answer to a call: a pure function of tool, call, seed and moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from referencing.exceptions import Unresolvable

from dcf.tools.document import pointer
from dcf.tools.stub.answer import Answer, Call, failure
from dcf.tools.stub.chance import Chance
from dcf.tools.stub.pattern import PatternTooSlow
from dcf.tools.stub.templates import Template
from dcf.tools.stub.tool import DEFAULT_CASE, Case, StubTool

HELD_S = 3_600.0
"""How long a case with errorMode ``timeout`` holds a call that nobody gives up on."""


def refuse(tool: StubTool, arguments: dict[str, Any]) -> Answer | None:
    """The answer to arguments that the tool's schema forbids, with every fault; else ``None``."""
    try:
        faults = [
            {"path": pointer(error.absolute_path), "message": error.message}
            for error in tool.params.iter_errors(arguments)
        ]
    except Unresolvable as error:
        return failure("BrokenSchema", f"the paramsSchema of {tool.key} is broken: {error}")
    if not faults:
        return None
    told = "; ".join(f"{fault['path'] or '/'}: {fault['message']}" for fault in faults)
    message = f"the arguments of {tool.key} do not fit its schema: {told}"
    return failure("InvalidArguments", message, problems=faults)


def choose(
    tool: StubTool, call: Call, *, seed: int, now: float, number: Callable[[str], int]
) -> Answer:
    """The answer of the first matching case, else of the tool's default response.

    ``number(case_id)`` is asked once, for the case that answers, when the call has no idempotency
    key: it says how many calls have met that case before, and stands in for the key in draws.
    """
    try:
        case = next((case for case in tool.cases if case.match.holds(call.arguments)), None)
    except PatternTooSlow as slow:
        return failure(
            "RegexTooSlow",
            f"the regular expression {slow} of {tool.key} takes too long on these arguments",
        )
    case_id = case.case_id if case else DEFAULT_CASE
    occasion = call.idempotency_key if call.idempotency_key is not None else number(case_id)
    case_seed = seed if case is None or case.seed is None else case.seed
    chance = Chance(case_seed, tool.server_id, tool.name, case_id, occasion)
    if case is not None and (fault := _fault(tool, case, chance)) is not None:
        return fault
    response = tool.default_response if case is None else case.response
    data = Template(call.arguments, chance, now).render(response)
    return _promised(tool, case_id, data, _delay(tool, case))


def _fault(tool: StubTool, case: Case, chance: Chance) -> Answer | None:
    """The failure that the case's error mode asks for, if it does this time."""
    delay = _delay(tool, case)
    if case.error_mode == "throw":
        code = case.error_code or "StubThrown"
        return failure(code, f"{tool.key} fails in case {case.case_id}", case.case_id, delay)
    if case.error_mode == "http_500":
        code = case.error_code or "Http500"
        message = f"{tool.key} answers 500 in case {case.case_id}"
        return failure(code, message, case.case_id, delay)
    if case.error_mode == "flaky" and chance.share("flaky") < case.flaky_rate:
        code = case.error_code or "StubFlaky"
        message = f"{tool.key} fails at times in case {case.case_id}, as now"
        return failure(code, message, case.case_id, delay)
    if case.error_mode == "timeout":
        code = case.error_code or "StubTimeout"
        held = HELD_S if case.latency_ms is None else delay
        message = f"{tool.key} held this call for {held:g} s and did nothing"
        return failure(code, message, case.case_id, held, holds=True)
    return None


def _promised(tool: StubTool, case_id: str, data: Any, delay: float) -> Answer:
    """The answer, unless it breaks the schema that the tool itself gives for its results."""
    try:
        error = None if tool.result is None else next(tool.result.iter_errors(data), None)
    except Unresolvable as broken:
        return failure("BrokenSchema", f"the resultSchema of {tool.key} is broken: {broken}")
    if error is None:
        return Answer(data, case_id, delay_s=delay)
    place = pointer(error.absolute_path) or "/"
    message = f"case {case_id} of {tool.key} breaks the resultSchema at {place}: {error.message}"
    return failure("InvalidResponse", message, case_id, delay)


def _delay(tool: StubTool, case: Case | None) -> float:
    milliseconds = tool.latency_ms if case is None or case.latency_ms is None else case.latency_ms
    return milliseconds / 1_000
