"""Generated expressions and calls, evaluated by us and by JSONata's reference implementation."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
from jsonata_calls import call
from jsonata_reference import installed
from packages import Program
from unit.asl.jsonata_maker import Maker
from unit.asl.jsonata_reference_answers import ours, verdict

SHARES = 5
EACH = 2_000


@pytest.fixture(scope="module")
def reference() -> Iterator[Program]:
    with installed() as started:
        yield started


@pytest.mark.timeout(600)
@pytest.mark.soak(
    *("tests/soak/jsonata_calls.py", "tests/soak/jsonata_reference.py", "tests/soak/reference.js"),
    "tests/soak/packages.py",
    *("tests/unit/asl/jsonata_maker.py", "tests/unit/asl/jsonata_reference_answers.py"),
    product=("dcf/asl/jsonata", "requirements/dev.txt"),
)
@pytest.mark.parametrize("kind", ["expressions", "calls"])
@pytest.mark.parametrize("share", range(SHARES))
def test_generated_jsonata_gives_what_the_reference_gives(
    share: int, kind: str, reference: Program
) -> None:
    counts, wrong = compared(share, kind, reference)
    assert not wrong, "\n".join(wrong[:20])
    assert counts["agrees"] > 0.95 * EACH
    excused = {why: count for why, count in counts.items() if why != "agrees"}
    assert max(excused.values(), default=0) < 0.02 * EACH, excused  # each is a rare kind


def compared(share: int, kind: str, reference: Program) -> tuple[Counter[str], list[str]]:
    """How many expressions or calls agree, differ or are left, and those that differ."""
    rng = Random(f"{kind} {share}")
    maker = Maker(rng)
    counts: Counter[str] = Counter()
    wrong = []
    for _ in range(EACH):
        data, text = maker.data(), maker.expression() if kind == "expressions" else call(rng)
        mine, theirs = ours(text, data), reference.answer([text, data])
        said = verdict(text, mine, theirs)
        counts[said] += 1
        if said == "differs":
            shown = json.dumps(data) if "$states" in text else ""
            wrong.append(f"{text}\n  ours {mine}\n  theirs {theirs}\n  {shown}")
    return counts, wrong
