"""The catalogue: every code that checking a definition can report, with an example each."""

from __future__ import annotations

from dcf.asl.checks.problem_code import ProblemCode
from dcf.asl.checks.problem_codes_data import DATA
from dcf.asl.checks.problem_codes_structure import STRUCTURE

PROBLEM_CODES: dict[str, ProblemCode] = {**STRUCTURE, **DATA}
"""By code, in the order in which a definition is read."""
