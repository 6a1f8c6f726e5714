"""Deciding the answer to a call: a pure function of tool, call, seed and moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dcf.schema import PatternTooSlow, SchemaUnusable
from dcf.tools.document import pointer
from dcf.tools.stub.answer import Answer, Call, failure
from dcf.tools.stub.chance import Chance
from dcf.tools.stub.templates import MOST_CHARACTERS, FilledTooFar, Template
from dcf.tools.stub.tool import DEFAULT_CASE, Case, Reply, StubTool

HELD_S = 3_600.0
"""How long a case with errorMode ``timeout`` holds a call that nobody gives up on."""


def refuse(tool: StubTool, arguments: dict[str, Any]) -> Answer | None:
    """The answer to arguments that the tool's schema forbids, with every fault; else ``None``."""
    try:
        faults = [
            {"path": pointer(error.absolute_path), "message": error.message}
            for error in tool.params.faults(arguments)
        ]
    except SchemaUnusable as unusable:
        return _unusable(tool, "paramsSchema", unusable)
    if not faults:
        return None
    told = "; ".join(f"{fault['path'] or '/'}: {fault['message']}" for fault in faults)
    message = f"the arguments of {tool.key} do not fit its schema: {told}"
    return failure("InvalidArguments", message, problems=faults)


def first_match(tool: StubTool, arguments: dict[str, Any]) -> Case | None:
    """The case that answers a call with these arguments, ``None`` when the default does.

    Raises ``PatternTooSlow``.
    """
    return next((case for case in tool.cases if case.match.holds(arguments)), None)


def choose(
    tool: StubTool,
    call: Call,
    *,
    seed: int,
    now: float,
    number: Callable[[str], int],
    turn: Callable[[str], int],
) -> Answer:
    """The answer of the first matching case, else of the tool's default response.

    ``number(case_id)`` is asked once, for the case that answers, when the call has no idempotency
    key: it says how many calls have met that case before, and stands in for the key in draws.
    ``turn(case_id)`` is asked once when the case is a sequence: how many calls with the same
    arguments have met it before.
    """
    try:
        case = first_match(tool, call.arguments)
    except PatternTooSlow as slow:
        return failure(
            "RegexTooSlow",
            f"the regular expression {slow} of {tool.key} takes too long on these arguments",
        )
    case_id = case.case_id if case else DEFAULT_CASE
    occasion = call.idempotency_key if call.idempotency_key is not None else number(case_id)
    reply = Reply(tool.default_response)
    if case is not None:
        reply = case.reply(turn(case_id) if len(case.replies) > 1 else 0)
    chance = Chance(
        seed if reply.seed is None else reply.seed, tool.server_id, tool.name, case_id, occasion
    )
    template = Template(call.arguments, chance, now)
    try:
        if reply.error_mode is not None:
            fault = _fault(tool, case_id, reply, chance, template)
            if fault is not None:
                return fault
        data = template.render(reply.response, tool.result_schema)
    except FilledTooFar:
        message = f"case {case_id} of {tool.key} comes to over {MOST_CHARACTERS} characters"
        return failure("ResponseTooLarge", message, case_id)
    return _promised(tool, case_id, data, _delay(tool, reply))


_FAULTS = {
    "throw": ("StubThrown", "stub_thrown_error: {tool} fails in case {case}"),
    "http_500": ("Http500", "500: internal server error (stub): {tool}, case {case}"),
    "flaky": ("StubFlaky", "{tool} fails at times in case {case}, as now"),
}


def _fault(
    tool: StubTool, case_id: str, reply: Reply, chance: Chance, template: Template
) -> Answer | None:
    """The failure that the reply's error mode asks for, if it does this time."""
    delay = _delay(tool, reply)
    if reply.error_mode == "timeout":
        held = HELD_S if reply.latency_ms is None else delay
        message = f"{tool.key} held this call for {held:g} s and did nothing"
        return failure(reply.error_code or "StubTimeout", message, case_id, held, holds=True)
    if reply.error_mode == "flaky" and chance.share("flaky") >= reply.flaky_rate:
        return None
    code, message = _FAULTS[reply.error_mode or "throw"]
    code = reply.error_code or code
    data = {"code": code, "message": message.format(tool=tool.key, case=case_id)}
    if reply.error_mode != "flaky":  # there the response is that of the calls that succeed
        told = template.render(reply.response)
        data |= told if isinstance(told, dict) else {}
    return Answer({**data, "code": code}, case_id, code, delay)


def _promised(tool: StubTool, case_id: str, data: Any, delay: float) -> Answer:
    """The answer, unless it breaks the schema that the tool itself gives for its results."""
    try:
        error = None if tool.result is None else tool.result.fault(data)
    except SchemaUnusable as unusable:
        return _unusable(tool, "resultSchema", unusable)
    if error is None:
        return Answer(data, case_id, delay_s=delay)
    place = pointer(error.absolute_path) or "/"
    message = f"case {case_id} of {tool.key} breaks the resultSchema at {place}: {error.message}"
    return failure("InvalidResponse", message, case_id, delay)


def _unusable(tool: StubTool, name: str, unusable: SchemaUnusable) -> Answer:
    if unusable.kind == "slow":
        return failure("RegexTooSlow", f"the {name} of {tool.key} cannot be used: {unusable}")
    return failure("BrokenSchema", f"the {name} of {tool.key} is broken: {unusable}")


def _delay(tool: StubTool, reply: Reply) -> float:
    milliseconds = tool.latency_ms if reply.latency_ms is None else reply.latency_ms
    return milliseconds / 1_000
