"""Definitions, sound, broken by rule and damaged at random places, judged by us and by two others.

The others know less of the language. Where one of them refuses what we accept, the difference is
listed below with the source that decides it; every other one is a defect of ours.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
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
ONLY_OURS = "refused by us alone: they do not know the rule"

Others = tuple[list[str], list[str], Path]


@contextmanager
def installed() -> Iterator[Others]:
    """How to call statelint and asl-validator, and where."""
    with packages(STATELINT) as found:
        found.install(ASL_VALIDATOR)
        linting = [str(found.python), str(HERE / "linting.py")]
        yield linting, [str(found.node), str(HERE / "asl_validator.cjs")], found.folder


@pytest.fixture(scope="module")
def others() -> Iterator[Others]:
    with installed() as found:
        yield found


@pytest.mark.timeout(900)
@pytest.mark.soak(
    "tests/soak/linting.py", "tests/soak/packages.py", *MACHINES, product=("dcf/asl",)
)
def test_statelint_refuses_nothing_that_is_accepted(others: Others) -> None:
    _check(*with_statelint(others))


@pytest.mark.timeout(900)
@pytest.mark.soak(
    "tests/soak/asl_validator.cjs", "tests/soak/packages.py", *MACHINES, product=("dcf/asl",)
)
def test_asl_validator_refuses_nothing_that_is_accepted(others: Others) -> None:
    _check(*with_asl_validator(others))


def _check(counts: Counter[str], wrong: list[str]) -> None:
    assert wrong == []
    assert counts["refused by them"] > counts["cases"] / 4


def with_statelint(others: Others) -> tuple[Counter[str], list[str]]:
    """How many definitions agree, differ or are left, and those that differ."""
    linting, _, folder = others
    directed = [(name, definition) for name, _, definition in _directed()]
    return _compared(linting, folder, [*directed, *_damaged()])


def with_asl_validator(others: Others) -> tuple[Counter[str], list[str]]:
    """How many definitions agree, differ or are left, and those that differ."""
    # A validation takes it a hundred milliseconds: the sound ones, and one mutant of each rule.
    _, node, folder = others
    chosen = {rule or name: (name, definition) for name, rule, definition in _directed()}
    return _compared(node, folder, list(chosen.values()))


def _compared(
    command: list[str], folder: Path, cases: list[tuple[str, Any]]
) -> tuple[Counter[str], list[str]]:
    text = "".join(f"{json.dumps(definition)}\n" for _, definition in cases)
    ran = subprocess.run(
        command, input=text, capture_output=True, text=True, cwd=folder, check=True
    )
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(answers) == len(cases)
    counts: Counter[str] = Counter()
    wrong = []
    for (name, definition), theirs in zip(cases, answers, strict=True):
        verdict = _verdict(theirs, has_errors(validate(definition)))
        counts[verdict] += 1
        counts["refused by them"] += bool(theirs)
        if verdict == "differs":
            wrong.append(f"{name}: {theirs}")
    counts["cases"] = len(cases)
    return counts, wrong


def _verdict(theirs: list[str], is_refused: bool) -> str:
    """``agrees``, ``differs``, or why a difference is left."""
    if bool(theirs) == is_refused:
        return "agrees"
    if is_refused:
        return ONLY_OURS
    if not all(map(_LEFT.search, theirs)):
        return "differs"
    return next(why for why, form in JUDGED.items() if re.search(form, theirs[0]))


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
