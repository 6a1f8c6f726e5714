"""Some answers of JSONata's reference implementation, recorded in Node (tests/soak writes them)."""

from __future__ import annotations

import json
from pathlib import Path

from unit.asl.jsonata_reference_answers import ours, verdict

RECORDED = json.loads(Path(__file__).with_name("jsonata_answers.json").read_text("utf-8"))


def test_recorded_answers_of_the_reference_are_ours() -> None:
    verdicts = [
        (verdict(text, mine := ours(text, data), theirs), text, mine, theirs)
        for text, data, theirs in RECORDED
    ]
    wrong = [one for one in verdicts if one[0] == "differs"]

    assert not wrong, "\n".join(map(str, wrong[:20]))
    assert sum(one[0] == "agrees" for one in verdicts) > 0.95 * len(verdicts) > 500


def test_a_variable_is_read_outside_of_the_block_that_has_one_of_its_name() -> None:
    """The reference gives ``[1, 7]``: the engine does not say that ``$v`` is read."""
    assert ours("[($v := 1; $v), $v]", None) == ["value", [1, 7]]
