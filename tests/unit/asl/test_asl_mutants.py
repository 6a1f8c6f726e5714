"""Sound machines are accepted; each of their mutants is refused, with its code where it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from asl_grammar import SHAPES, STATE_SHAPES
from machine_mutants import Mutant, mutants
from slip_mutants import Slip, slips
from sound_machines import SOUND_MACHINES

from dcf.asl import diagnostics, rejection, validate
from dcf.asl.checks.problem_codes import PROBLEM_CODES
from dcf.problem import has_errors
from tests.campaigns import campaign

SHARES = 6
WORKFLOWS = Path(__file__).parents[3] / "workflows"


def all_mutants() -> Iterator[Mutant]:
    for machine in SOUND_MACHINES.values():
        yield from mutants(machine)


def all_slips() -> Iterator[Slip]:
    for machine in SOUND_MACHINES.values():
        yield from slips(machine)


@pytest.mark.parametrize("name", SOUND_MACHINES)
def test_a_sound_machine_is_accepted(name: str) -> None:
    machine = SOUND_MACHINES[name]
    assert not has_errors(validate(machine))
    assert rejection(machine) is None


@pytest.mark.parametrize("file", sorted(WORKFLOWS.glob("*.json")), ids=lambda file: file.stem)
def test_the_machines_of_the_example_workflows_are_accepted(file: Path) -> None:
    assert not has_errors(validate(json.loads(file.read_text("utf-8"))["asl"]))


def test_the_sound_machines_have_every_field_of_the_grammar() -> None:
    names: set[str] = set()
    waiting: list[Any] = list(SOUND_MACHINES.values())
    while waiting:
        value = waiting.pop()
        names |= value.keys() if isinstance(value, dict) else set()
        inner = value.values() if isinstance(value, dict) else value
        waiting.extend(item for item in inner if isinstance(item, (dict, list)))
    shapes = [*STATE_SHAPES.values(), *SHAPES.values()]
    assert {field for shape in shapes for field in shape} <= names


@campaign(SHARES)
def test_every_mutant_is_found_where_it_is_broken(share: int) -> None:
    missed: list[Any] = []
    count = 0
    for mutant in islice(all_mutants(), share, None, SHARES):
        count += 1
        found = [(p.code, p.path) for p in validate(mutant.definition) if p.is_error]
        if (mutant.code, mutant.pointer) not in found:
            missed.append((mutant.name, mutant.code, found))
    assert count > 1_000
    assert missed == []


@campaign(SHARES)
def test_every_slip_is_found_where_it_is(share: int) -> None:
    missed: list[Any] = []
    count = 0
    for slip in islice(all_slips(), share, None, SHARES):
        count += 1
        found = [(problem.code, problem.path) for problem in slip.problems()]
        if (slip.code, slip.pointer) not in found:
            missed.append((slip.code, slip.pointer, found))
    assert count > 500
    assert missed == []


def test_every_code_has_a_mutant_or_a_slip() -> None:
    codes = {mutant.code for mutant in all_mutants()} | {slip.code for slip in all_slips()}
    assert codes == PROBLEM_CODES.keys()


@campaign(SHARES)
def test_every_mutant_is_refused_in_words_of_aws(share: int) -> None:
    accepted = [
        mutant.name
        for mutant in islice(all_mutants(), share, None, SHARES)
        if not any(found.severity == "ERROR" for found in diagnostics(mutant.definition))
    ]
    assert accepted == []
