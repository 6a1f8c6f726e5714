"""A whole definition: validated with all its problems, or parsed into a machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from dcf.asl.checks.dropped_fields import warn_dropped
from dcf.asl.checks.error_names import warn_error_names
from dcf.asl.checks.merged_branches import warn_merged
from dcf.asl.checks.unkept_notes import warn_unkept
from dcf.asl.checks.variable_scopes import check_scopes
from dcf.asl.errors import DefinitionError
from dcf.asl.machine import StateMachine
from dcf.asl.payload import MAX_DEPTH, depth_exceeds, foreign_places, kind
from dcf.asl.reading.findings import Findings, child
from dcf.asl.reading.machine_reader import MachineReader
from dcf.asl.reading.node import WRONG_TYPE, Node
from dcf.problem import Problem, has_errors

MachineType: TypeAlias = Literal["STANDARD", "EXPRESS"]
STANDARD: Final = "STANDARD"


def validate(
    definition: Mapping[str, Any], type: MachineType = STANDARD, *, only_aws: bool = False
) -> list[Problem]:
    """Every problem of ``definition``, errors and warnings; never raises.

    ``path`` of a problem is a JSON pointer into the definition. An EXPRESS machine cannot wait
    for callbacks, jobs and activities. With ``only_aws`` DCF's extensions are errors:
    ``AgentBinding``, ``memory``, and a ``Resource`` that is no ARN or one of a form that AWS does
    not have.
    """
    return read(definition, type, only_aws=only_aws)[1].problems


def parse(definition: Mapping[str, Any]) -> StateMachine:
    """``definition`` as a machine ready to step. Raises DefinitionError with all errors."""
    machine, findings = read(definition)
    if machine is None or has_errors(findings.problems):
        raise DefinitionError(problem for problem in findings.problems if problem.is_error)
    return machine


def read(
    definition: Mapping[str, Any], type: MachineType = STANDARD, *, only_aws: bool = False
) -> tuple[StateMachine | None, Findings]:
    """The machine, as far as it can be read, and what was found; never raises."""
    findings = Findings()
    if not isinstance(definition, Mapping):
        message = f"a definition is a JSON object, found {kind(definition)}"
        aws = "Definition must be a valid JSON object"
        findings.error(WRONG_TYPE, "", message, "write it in `{` and `}`", aws)
        return None, findings
    value = dict(definition)
    if depth_exceeds(value):
        message = f"the definition nests deeper than {MAX_DEPTH}"
        findings.error("ASL_TOO_DEEP", "", message, hint="nest less: at most 100 levels")
        return None, findings
    for place, what in foreign_places(value):
        findings.error("ASL_NOT_JSON", child("", *place), what, "a definition is plain JSON")
    if findings.problems:
        return None, findings
    root = Node(value, "", findings)
    machine = MachineReader(type == "EXPRESS", only_aws).read_root(root)
    warn_error_names(root)
    warn_unkept(root)
    if not has_errors(findings.problems):
        # What follows looks along the transitions: only a sound machine has any.
        check_scopes(root)
        warn_dropped(root)
        warn_merged(root)
    return machine, findings
