"""The ops about definitions: ``create``, ``validate``, ``variable_references``."""

from __future__ import annotations

import json
from typing import Any

from dcf import asl
from dcf.conformance.case import Case
from dcf.conformance.result import Result


def create(case: Case) -> Result:
    """Whether AWS would refuse the definition, and with which words."""
    refused = asl.rejection(_definition(case), _type(case))
    if refused is None:
        return Result(case.name, "VALID")
    return Result(
        case.name, refused.status, error=refused.error, cause=_recorded_form(refused, case)
    )


def _recorded_form(refused: asl.Rejection, case: Case) -> str:
    """The refusal in the form that recordings have, so that texts can be compared.

    That is what AWS's Python client shows. Refusals of labels were written down by the emulator
    that did the recording: as an exception with its arguments and the whole definition.
    """
    first = refused.diagnostics[0]
    if first.code != "INVALID_LABEL_NAME":
        return refused.client_text
    given = _definition(case)
    text = given if isinstance(given, str) else json.dumps(given)
    return f"Error=ValueError Args={[first.message]!r} in definition '{text}'."


def validate(case: Case) -> Result:
    """What a check of the definition says; ``cause`` has a message a line."""
    answer = asl.validation_answer(_definition(case), _type(case))
    said = [diagnostic["message"] for diagnostic in answer["diagnostics"]]
    status = "INVALID" if answer["result"] == "FAIL" else "VALID"
    return Result(case.name, status, cause="\n".join(said) or None)


def variable_references(case: Case) -> Result:
    """Which variables each state reads."""
    definition = _definition(case)
    output = asl.variable_references(definition) if isinstance(definition, dict) else {}
    return Result(case.name, "VALID", output)


def _definition(case: Case) -> Any:
    return case.definition if case.definition_text is None else case.definition_text


def _type(case: Case) -> Any:
    return "EXPRESS" if case.is_express else "STANDARD"
