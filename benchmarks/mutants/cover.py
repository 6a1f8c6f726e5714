"""Which test runs which line of the product, and what each test takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from coverage import Coverage, CoverageData

from benchmarks.mutants.files import check_source, json_lines

SUITES = ("tests/unit", "tests/contract", "tests/integration", "tests/simulation")


def cover(data: Path, suites: Sequence[str], jobs: int) -> None:
    """Run the suites folder by folder, each into one file of ``data / "cover"``, then what failed
    once more without other processes, and combine them. A folder that has its file is left out."""
    parts = data / "cover"
    parts.mkdir(parents=True, exist_ok=True)
    check_source(data)
    folders = sorted({file.parent for suite in suites for file in Path(suite).rglob("test_*.py")})
    names = [".".join(folder.parts[1:]) for folder in folders]
    for name, folder in zip(names, folders, strict=True):
        _measure(parts, name, sorted(map(str, folder.glob("test_*.py"))), jobs)
    failed = _outcomes(parts, names)[1]
    if failed:
        names.append("again")
        _measure(parts, "again", sorted(failed), 0)
    print("combining …")
    whole = Coverage(data_file=str(data / "map.sqlite"))
    whole.erase()
    whole.combine([str(parts / f"{name}.sqlite") for name in names], keep=True)
    whole.save()
    durations, failed = _outcomes(parts, names)
    (data / "tests.json").write_text(json.dumps(durations), encoding="utf-8")
    # A test that fails anyway notices nothing.
    print(f"{len(durations)} tests; left out, since they failed twice: {sorted(failed)}")


def _measure(parts: Path, name: str, tests: Sequence[str], jobs: int) -> None:
    """Run tests into ``NAME.sqlite`` and ``NAME.jsonl``, which appear when all of them ended."""
    if (parts / f"{name}.sqlite").exists():
        return
    print(f"{name} …", flush=True)
    with tempfile.TemporaryDirectory(dir=parts) as scratch:
        measured, witness = Path(scratch, "sqlite"), Path(scratch, "witness")
        command = [sys.executable, "-m", "pytest", *tests, "-n", str(jobs), "--dist", "worksteal"]
        # Under coverage a test takes twice as long.
        command += ["--hypothesis-seed=0", "--timeout=300"]
        command += ["--cov", "--cov-context=test", "--cov-report="]
        command += ["-p", "benchmarks.mutants.witness", f"--witness={witness}"]
        env = {**os.environ, "COVERAGE_FILE": str(measured), "COVERAGE_CORE": "ctrace"}
        status = subprocess.run(command, env=env, check=False).returncode
        # 1: some test failed.
        if status not in (0, 1) or not measured.exists():
            raise SystemExit(f"{name}: pytest ended with {status}, see above; call it again")
        witness.rename(parts / f"{name}.jsonl")
        measured.rename(parts / f"{name}.sqlite")


def _outcomes(parts: Path, names: Iterable[str]) -> tuple[dict[str, float], set[str]]:
    """Seconds of each test that passed, and the tests that did not: the last time counts."""
    durations: dict[str, float] = {}
    failed: set[str] = set()
    for name in names:
        seconds: Counter[str] = Counter()
        failed_here: set[str] = set()
        for line in json_lines(parts / f"{name}.jsonl"):
            seconds[line["test"]] += line.get("seconds", 0)
            if line.get("outcome") == "failed":
                failed_here.add(line["test"])
        durations |= seconds
        failed = failed - seconds.keys() | failed_here
    passed = sorted(durations.keys() - failed)
    return {test: round(durations[test], 3) for test in passed}, failed


class LineMap:
    """Which tests run a line, as `cover` found it in ``data``."""

    def __init__(self, data: Path) -> None:
        if not (data / "tests.json").exists():
            raise SystemExit(f"{data} holds no map: run `python -m benchmarks.mutants cover` first")
        self._durations: dict[str, float] = json.loads((data / "tests.json").read_text("utf-8"))
        self._data = CoverageData(str(data / "map.sqlite"))
        self._data.read()

    def files(self) -> list[str]:
        """The measured files, from the root of the tree."""
        return sorted(self._data.measured_files())

    def seconds(self, test: str) -> float | None:
        """What the test took, None for one that there is not or that failed."""
        return self._durations.get(test)

    def tests(self, file: str) -> dict[int, list[str]]:
        """For each line the tests that ran it and passed, the fastest first."""
        found = {}
        for line, contexts in self._data.contexts_by_lineno(file).items():
            tests = {context.rpartition("|")[0] for context in contexts} & self._durations.keys()
            found[line] = sorted(tests, key=lambda test: (self._durations[test], test))
        return found
