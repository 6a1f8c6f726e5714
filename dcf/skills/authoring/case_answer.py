"""Rules for what a case answers: one answer, or a sequence of them; faults that mean something."""

from __future__ import annotations

from collections.abc import Iterator

from dcf.problem import Problem
from dcf.skills.authoring.answer import check_answer
from dcf.skills.authoring.case_response import answers
from dcf.skills.authoring.place import Place
from dcf.skills.authoring.tool_index import ToolSource

ANSWER_MEMBERS = (
    "response",
    "responseTemplate",
    "errorMode",
    "flakyRate",
    "seed",
    "errorCode",
    "latencyMsOverride",
)
"""What a case, or a step of its sequence, says of its answer."""


def check_case_answer(case: Place, tool: ToolSource) -> Iterator[Problem]:
    """The answer of one case of ``tool``, or each step of its sequence."""
    sequence = case.member("sequence")
    if sequence is None:
        yield from _check_one(case, tool)
        return
    for name in ANSWER_MEMBERS:
        place = case.member(name)
        if place and name != "latencyMsOverride":
            message = f"a case with a sequence has no {name} of its own"
            yield place.problem("TOOL_CASE_SEQUENCE", message, "write it in a step")
    steps = sequence.member("steps")
    for step in steps.elements() if steps else ():
        yield from _check_one(step, tool)


def _check_one(place: Place, tool: ToolSource) -> Iterator[Problem]:
    yield from _check_fault(place)
    response, template = place.member("response"), place.member("responseTemplate")
    if response and template:
        message = "response and responseTemplate stand together: response holds"
        yield template.problem("TOOL_CASE_RESPONSE", message, "keep one of the two", "warning")
    for answer, value in answers(place):
        yield from check_answer(answer, value, tool)


def _check_fault(place: Place) -> Iterator[Problem]:
    mode = place.text("errorMode")
    for name in ("flakyRate", "seed"):
        spot = place.member(name)
        if spot and mode != "flaky":
            message = f"{name} has a meaning only with errorMode: flaky"
            hint = "add errorMode: flaky, or remove it"
            yield spot.problem("TOOL_CASE_FAULT", message, hint, "warning")
    code = place.member("errorCode")
    if code and mode is None:
        message = "errorCode has a meaning only with an errorMode"
        hint = "add errorMode: throw, or remove it"
        yield code.problem("TOOL_CASE_FAULT", message, hint, "warning")
