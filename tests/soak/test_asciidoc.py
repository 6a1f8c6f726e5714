"""AsciiDoc as Asciidoctor of npm reads it, for the tests that need the program.

``make test`` runs them where an ``asciidoctor`` is found, and skips them elsewhere. Here it is
always there, and none of them may be skipped.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packages import packages

REPOSITORY = Path(__file__).parents[2]
ASCIIDOCTOR = "asciidoctor@2.2.8"
TESTS = ("tests/unit/sop/test_sop_formats.py", "tests/unit/sop/test_sop_formats_alike.py")


@pytest.mark.timeout(900)
@pytest.mark.soak(
    *TESTS,
    "tests/soak/packages.py",
    "tests/unit/sop/alike",
    "tests/unit/sop/runbook_files.py",
    product=("dcf/sop",),
)
def test_the_tests_that_need_asciidoctor_pass_with_it() -> None:
    with packages() as there:
        there.install(ASCIIDOCTOR)
        programs = [there.folder / "node_modules/.bin", there.node.parent]
        path = os.pathsep.join([*map(str, programs), os.environ["PATH"]])
        command = [sys.executable, "-m", "pytest", *TESTS, "-k", "adoc or asciidoc"]
        # As in `make test`: what is run here is no item of `make soak`.
        env = {name: value for name, value in os.environ.items() if name != "DCF_SOAK"}
        ran = subprocess.run(
            command, env={**env, "PATH": path}, cwd=REPOSITORY, capture_output=True, text=True
        )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(r"\b10 passed, \d+ deselected in", ran.stdout), ran.stdout
