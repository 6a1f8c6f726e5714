"""Definitions, sound, broken by rule and damaged at random places, judged by us and by two others.

The others know less of the language. Where one of them refuses what we accept, the difference is
listed below with the source that decides it; every other one is a defect of ours.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packages import packages

from dcf.asl import validate
from dcf.problem import has_errors

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "unit" / "asl"))

from machine_mutants import mutants, put, without  # noqa: E402
from sound_machines import SOUND_MACHINES  # noqa: E402

STATELINT = "statelint[jsonata]==3.1.0"
ASL_VALIDATOR = "asl-validator@4.0.0"
MACHINES = tuple(
    f"tests/unit/asl/{name}.py" for name in ("asl_grammar", "machine_mutants", "sound_machines")
)
JUNK: tuple[Any, ...] = (None, 3, "x", "$", True, [], {}, -1)

JUDGED = {
    "a state in JSONPath may have Assign (specification, table of state types and fields)": (
        r'Field "Assign" not allowed'
    ),
    "limits and times may be JSONata (specification, Timeouts, JSONata Wait State, Map State)": (
        r'is "\{% .* %\}" but should be (an Integer|numeric|an RFC3339 timestamp)'
    ),
    "what AWS adds to a Map (developer guide, Map state)": (
        r'Field "(Label|InputType|CSV\w+|WriterConfig)" not allowed'
    ),
    "a path may read a variable (developer guide, variables)": r'is "\$(beat|bytes)" but',
    "a share is a number (specification, Map State Failure Tolerance)": (
        r"ToleratedFailurePercentage is (7\.5 but|invalid)"
    ),
    "a condition is a boolean or JSONata (specification, JSONata Choice Rules)": (
        r"Condition is (true|invalid)"
    ),
    "Arguments are any JSON text (specification, Using Arguments and Output)": (
        r"States\.S\.Arguments is .* but should be a JSONata"
    ),
    "a rate is any number from 1.0 (specification, Retrying after error)": (
        r"BackoffRate is 3 but should be a Float"
    ),
    "a Resource that is no ARN names a handler (an extension; refused with --aws)": (
        r"Resource is .* but should be A URI"
    ),
    "an object of Items fails when the Map runs (recorded on AWS)": r"\.Items is .* JSONata",
    "a ResultWriter may say only how results look (developer guide, ResultWriter)": (
        r'ResultWriter does not have required field "Resource"'
    ),
    "asl-validator judges the language of a state after one of its other branches failed": (
        r"QueryLanguage is invalid\. must be equal to one of the allowed values"
    ),
}
"""Why a refusal is none of ours: the source, and what the refusals look like."""

_LEFT = re.compile("|".join(JUDGED.values()))


@pytest.fixture(scope="module")
def others() -> Iterator[tuple[list[str], list[str], Path]]:
    """How to call statelint and asl-validator, and where."""
    with packages(STATELINT) as found:
        found.install(ASL_VALIDATOR)
        linting = [str(found.python), str(HERE / "linting.py")]
        yield linting, [str(found.node), str(HERE / "asl_validator.cjs")], found.folder


@pytest.mark.timeout(900)
@pytest.mark.soak(
    "tests/soak/linting.py", "tests/soak/packages.py", *MACHINES, product=("dcf/asl",)
)
def test_statelint_refuses_nothing_that_is_accepted(others: Any) -> None:
    linting, _, folder = others
    directed = [(name, definition) for name, _, definition in _directed()]
    _compare(linting, folder, [*directed, *_damaged()])


@pytest.mark.timeout(900)
@pytest.mark.soak(
    "tests/soak/asl_validator.cjs", "tests/soak/packages.py", *MACHINES, product=("dcf/asl",)
)
def test_asl_validator_refuses_nothing_that_is_accepted(others: Any) -> None:
    # A validation takes it a hundred milliseconds: the sound ones, and one mutant of each rule.
    _, node, folder = others
    chosen = {rule or name: (name, definition) for name, rule, definition in _directed()}
    _compare(node, folder, list(chosen.values()))


def _compare(command: list[str], folder: Path, cases: list[tuple[str, Any]]) -> None:
    text = "".join(f"{json.dumps(definition)}\n" for _, definition in cases)
    ran = subprocess.run(
        command, input=text, capture_output=True, text=True, cwd=folder, check=True
    )
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(answers) == len(cases)
    refused = 0
    wrong = []
    for (name, definition), theirs in zip(cases, answers, strict=True):
        refused += bool(theirs)
        left = [text for text in theirs if not _LEFT.search(text)]
        if left and not has_errors(validate(definition)):
            wrong.append(f"{name}: {left[0]}")
    print(json.dumps({"cases": len(cases), "refused by them": refused}))
    assert refused > len(cases) / 4
    assert wrong == []


def _directed() -> Iterator[tuple[str, str, Any]]:
    """(name, rule that is broken and in which field, definition); sound ones break none."""
    for name, machine in SOUND_MACHINES.items():
        yield name, "", machine
        for mutant in mutants(machine):
            field = mutant.pointer.rpartition("/")[2]
            yield f"{name}: {mutant.name}", f"{mutant.rule} in {field}", mutant.definition


def _damaged() -> Iterator[tuple[str, Any]]:
    """Every place of the state ``S`` removed, or with something else."""
    for name, machine in SOUND_MACHINES.items():
        for way in _ways(machine["States"]["S"], ("States", "S")):
            yield f"{name}: without {way}", without(machine, way)
            for junk in JUNK:
                yield f"{name}: {junk!r} at {way}", put(machine, way, junk)


def _ways(value: Any, way: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    yield way
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for step, inner in members:
        if isinstance(inner, (dict, list)):
            yield from _ways(inner, (*way, step))
        else:
            yield (*way, step)
