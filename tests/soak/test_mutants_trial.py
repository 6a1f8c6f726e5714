"""Changes are tried by a real pytest on a real copy, which is whole again afterwards."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks.mutants.files import ROOT
from benchmarks.mutants.trial import Trial

pytestmark = pytest.mark.soak("benchmarks/mutants", "requirements/dev.txt")

SOURCE = "def larger(a, b):\n    return a if a > b else b\n"
TESTS = """\
from pathlib import Path
import dcf.larger

def test_never(): assert False

async def test_two(): assert dcf.larger.larger(2, 1) == 2

def test_once():
    mark = Path(__file__).with_name("mark")
    chance = mark.exists()
    mark.touch()
    assert chance
"""


@pytest.fixture
def copy(short_dir: Path) -> Path:
    """A tree of the product's two packages with one module, one test that can notice something,
    one that fails the first time only, and one that always does."""
    for name, text in {
        "pyproject.toml": '[tool.pytest.ini_options]\nasyncio_mode = "auto"\n',
        "dcf/__init__.py": "",
        "control_plane/__init__.py": "",
        "dcf/larger.py": SOURCE,
        "tests/test_larger.py": TESTS,
    }.items():
        (short_dir / name).parent.mkdir(exist_ok=True)
        (short_dir / name).write_text(text)
    for name in ("__init__.py", "mutants/__init__.py", "mutants/witness.py"):
        (short_dir / "benchmarks/mutants").mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "benchmarks" / name, short_dir / "benchmarks" / name)
    return short_dir


def test_a_change_is_noticed_by_the_test_that_fails_because_of_it(copy: Path) -> None:
    trial = Trial(copy, {}.get, 30)
    once, never, two = (f"tests/test_larger.py::test_{name}" for name in ("once", "never", "two"))
    equal = trial.attempt("dcf/larger.py", SOURCE.replace(">", ">="), [never, two])
    assert (equal["status"], equal["ran"]) == ("survived", 2)
    # As long as the original, and in the same second: compiled modules must not be mixed up.
    smaller = trial.attempt("dcf/larger.py", SOURCE.replace(">", "<"), [once, two])
    assert (smaller["status"], smaller["by"], smaller["ran"]) == ("noticed", two, 2)
    assert (copy / "dcf/larger.py").read_text() == SOURCE
    gone = trial.attempt("dcf/larger.py", SOURCE, ["tests/test_larger.py::test_gone"])
    assert gone["status"] == "broken"
