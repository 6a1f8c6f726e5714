"""A definition judged as AWS judges it: refused, and with which words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from dcf.asl.checks.aws_wording import SCHEMA, Diagnostic, diagnostics_of
from dcf.asl.checks.json_syntax_wording import syntax_diagnostic
from dcf.asl.definition import STANDARD, MachineType, read
from dcf.asl.reading.findings import Finding
from dcf.asl.reading.source import MAX_DEFINITION, read_json, too_large

Severity: TypeAlias = Literal["ERROR", "WARNING"]
"""The least that is asked for."""

MOST_RESULTS: Final = 100
"""Most diagnostics of one answer."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """CreateStateMachine refuses a definition; ``cause`` is the message of its answer."""

    diagnostics: tuple[Diagnostic, ...]
    status: str = "INVALID"
    error: str = "InvalidDefinition"

    @property
    def cause(self) -> str:
        """Every error on one line: ``Invalid State Machine Definition: 'CODE: … at /States/A'``."""
        errors = ", ".join(
            f"{one.code}: {one.message} at {one.location or 'null'}" for one in self.diagnostics
        )
        return f"Invalid State Machine Definition: '{errors}'"

    @property
    def client_text(self) -> str:
        """``cause`` as AWS's command line and Python client show it."""
        return (
            f"An error occurred ({self.error}) when calling the CreateStateMachine operation: "
            + (self.cause)
        )


def rejection(
    definition: Mapping[str, Any] | str, type: MachineType = STANDARD
) -> Rejection | None:
    """Why AWS would not create a machine of ``definition``; None when it would.

    What ``dcf.asl.validate`` warns of is no reason; what only DCF has is one.
    """
    errors = [found for found in diagnostics(definition, type) if found.severity == "ERROR"]
    return Rejection(tuple(errors)) if errors else None


def diagnostics(
    definition: Mapping[str, Any] | str, type: MachineType = STANDARD
) -> list[Diagnostic]:
    """What ValidateStateMachineDefinition answers for ``definition``, a value or its JSON text."""
    text = definition if isinstance(definition, str) else None
    value: Any = definition
    if text is not None:
        if not text:
            return [Diagnostic("MISSING_DESCRIPTION", "Received a null or empty workflow input.")]
        if len(text) > MAX_DEFINITION:
            return list(diagnostics_of([Finding(too_large(len(text)))], {}))
        try:
            json.loads(text)
        except json.JSONDecodeError as error:
            return [syntax_diagnostic(text, error)]
        except (ValueError, RecursionError):
            pass  # what is wrong is told below
        value, problems = read_json(text)
        if problems:
            return list(diagnostics_of([*map(Finding, problems)], {}))
    if not isinstance(value, Mapping):
        return [not_an_object()]
    return list(diagnostics_of(list(read(value, type, only_aws=True)[1].with_aws()), value))


def validation_answer(
    definition: Mapping[str, Any] | str,
    type: MachineType = STANDARD,
    *,
    severity: Severity = "ERROR",
    max_results: int = 0,
) -> dict[str, Any]:
    """The answer of ValidateStateMachineDefinition: ``result``, ``diagnostics``, ``truncated``.

    Warnings are among the diagnostics only with the severity ``WARNING``. 0 results ask for the
    most there are, 100. Raises ValueError for other numbers than 0 to 100.
    """
    if not 0 <= max_results <= MOST_RESULTS:
        raise ValueError(f"max_results is {max_results}: write a number from 0 to {MOST_RESULTS}")
    found = diagnostics(definition, type)
    told = [one for one in found if one.severity == "ERROR" or severity == "WARNING"]
    most = max_results or MOST_RESULTS
    return {
        "result": "FAIL" if any(one.severity == "ERROR" for one in found) else "OK",
        "diagnostics": [one.to_dict() for one in told[:most]],
        "truncated": len(told) > most,
    }


def not_an_object() -> Diagnostic:
    return Diagnostic(SCHEMA, "Definition must be a valid JSON object")
