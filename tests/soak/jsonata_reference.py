"""The reference implementation of JSONata, npm's ``jsonata``, in Node.

``PYTHONPATH=tests python tests/soak/jsonata_reference.py`` writes the answers with which
tests/unit/asl/test_asl_jsonata_reference.py compares ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from jsonata_calls import call
from packages import Program, packages
from unit.asl.jsonata_maker import Maker

PACKAGE = "jsonata@2.2.2"
MOMENT_MS = 1_714_557_600_250
"""What it takes for now: when the state of ``jsonata_scope`` was entered."""

ANSWERS = Path(__file__).parents[1] / "unit/asl/jsonata_answers.json"


@contextmanager
def installed() -> Iterator[Program]:
    """Answers [text, data] with ["value", v], ["undefined"], ["function"], ["no number"] or
    ["error", code, position]; installed for this once."""
    with packages() as found:
        script = Path(__file__).with_name("reference.js")
        program = Program(found.node, script, found.unpack(PACKAGE), str(MOMENT_MS))
        yield program
        program.end()


def main() -> None:
    """Write what the reference says of some calls and of some expressions."""
    maker, rng = Maker(Random(0)), Random(0)
    asked = [(call(rng), None) for _ in range(400)]
    asked += [(maker.expression(2), maker.data()) for _ in range(200)]
    with installed() as reference:
        lines = [json.dumps([text, data, reference.answer([text, data])]) for text, data in asked]
    ANSWERS.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")


if __name__ == "__main__":
    main()
