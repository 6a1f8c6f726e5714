"""Random machines, run by us and by npm's aws-local-stepfunctions, another reading of the Amazon
States Language. Where the two differ, each kind is judged by a source; nothing else may differ.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

import pytest
from packages import Program, packages
from random_machines import Case, case_of

from dcf import asl

PEER = "aws-local-stepfunctions@3.0.0"
SHARES = 5
MACHINES = 1_000
"""In a share."""

Verdict = list[Any]

_LEFT = {
    # States.ResultPathMatchFailure in the specification; it puts an object there, or loses it.
    "a ResultPath into what is no object: an error in the specification, none there": (
        "ours",
        r"^FAILED States\.ResultPathMatchFailure",
    ),
    # An empty list in what AWS was seen to answer; an error there.
    "a path to several values that finds none: [] as seen on AWS, an error there": (
        "theirs",
        r"expression '\$\S*(\.\.|\*|[:,])\S*' does not point to a value",
    ),
    "the whole input where that is an empty text": ("theirs", r"'\$' does not point to a value"),
    # Null in a template in what AWS was measured to answer; an error there.
    "an index behind the end of a list in a template: null as seen on AWS, an error there": (
        "theirs",
        r"expression '\$\S*\[\d\]' does not point to a value",
    ),
    # Its JSON schema has a pattern for expressions that forbids some calls.
    "a call that the pattern of its JSON schema refuses": ("theirs", r"asl_payload_template"),
    # States.IntrinsicFailure in AWS; nothing, or JavaScript's own error there.
    "an intrinsic function that fails: nothing, or an error of JavaScript there": (
        "ours",
        r"^FAILED States\.IntrinsicFailure",
    ),
    # States.Runtime in AWS's own words; false there.
    "a test of what is missing: States.Runtime in words of AWS, false there": (
        "ours",
        r"condition path references an invalid value",
    ),
    # States.Runtime in what AWS was seen to answer, States.NoChoiceMatched in the specification.
    "a Choice without a rule that holds: States.Runtime as seen on AWS": (
        "ours",
        r"Failed to transition out of the state",
    ),
    "an object in States.Format": ("theirs", r"States\.Format expected argument"),
    # Its values share members, so that one holds itself after a ResultPath.
    "a value that holds itself after a ResultPath there": ("theirs", r"^BROKEN|Maximum call stack"),
}
"""What differs: in whose words it shows, and how."""


@contextmanager
def started() -> Iterator[Program]:
    """Answers a case with how it ends."""
    with packages() as found:
        found.install(PEER)
        # Node looks for packages where the program is.
        script = found.folder / "local_stepfunctions.cjs"
        shutil.copy(Path(__file__).with_name(script.name), script)
        program = Program(found.node, script)
        yield program
        program.end()


@pytest.fixture(scope="module")
def peer() -> Iterator[Program]:
    with started() as program:
        yield program


def ours(case: Case) -> Verdict:
    calls: Counter[str] = Counter()

    def call(task: asl.TaskCall) -> asl.TaskSucceeded | asl.TaskFailed:
        state = str(task.resource).rpartition(":")[2]
        names = case.errors[state]
        name = names[min(calls[state], len(names) - 1)]
        calls[state] += 1
        if name is not None:
            return asl.TaskFailed(name, "as planned")
        return asl.TaskSucceeded({"saw": task.arguments})

    machine = asl.parse(case.definition)
    clock = asl.VirtualClock()
    execution = asl.interpret(machine, case.input, call_task=call, clock=clock, rng=Random(1))
    if execution.status == "SUCCEEDED":
        return ["SUCCEEDED", execution.output]
    return ["FAILED", execution.error, execution.cause]


@pytest.mark.timeout(600)
@pytest.mark.soak(
    "tests/soak/local_stepfunctions.cjs",
    "tests/soak/packages.py",
    "tests/soak/random_machines.py",
    product=("dcf/asl",),
)
@pytest.mark.parametrize("share", range(SHARES))
def test_random_machines_end_as_with_a_peer(share: int, peer: Program) -> None:
    _, wrong = compared(share, peer)
    assert not wrong, "\n".join(wrong[:20])


def compared(share: int, peer: Program) -> tuple[Counter[str], list[str]]:
    """How many machines agree, differ or are left, and those that differ."""
    counts: Counter[str] = Counter()
    wrong = []
    for seed in range(share * MACHINES, (share + 1) * MACHINES):
        case = case_of(seed)
        mine, theirs = ours(case), peer.answer(asdict(case))
        verdict = _verdict(case, mine, theirs)
        counts[verdict] += 1
        if verdict == "differs":
            wrong.append(f"{seed}: {json.dumps(asdict(case))}\n  ours {mine}\n  theirs {theirs}")
    return counts, wrong


def _verdict(case: Case, mine: Verdict, theirs: Verdict) -> str:
    """``agrees``, ``differs``, or why a difference is left."""
    if mine[0] == theirs[0] and _text(mine[1]) == _text(theirs[1]):
        return "agrees"
    told = {
        "ours": " ".join(map(str, mine)),
        "theirs": " ".join(map(str, theirs)),
        "machine": json.dumps(case.definition),
    }
    left = (why for why, (where, form) in _LEFT.items() if re.search(form, told[where]))
    return next(left, "differs")


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
