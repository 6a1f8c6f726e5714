"""Programs that tests start can be ended by Ctrl-C, however the run of tests was started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_CHILD = """
import signal, subprocess, sys
asked = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
def test_child():
    answer = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True)
    assert answer.stdout == "True\\n"
"""


def test_sigint_reaches_children_of_a_run_in_the_background(tmp_path: Path) -> None:
    tests = Path(__file__).parents[1]
    (tmp_path / "conftest.py").write_text((tests / "conftest.py").read_text())
    (tmp_path / "test_child.py").write_text(_CHILD)
    run = '"$0" -m pytest -q -p no:cacheprovider . & wait $!'
    command = ["sh", "-c", run, sys.executable]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tests)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
