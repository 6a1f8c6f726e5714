"""Which test runs which line of the product, and what each test takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from coverage import Coverage, CoverageData

from benchmarks.mutants.files import check_source, json_lines

SUITES = ("tests/unit", "tests/contract", "tests/integration", "tests/simulation")


def cover(data: Path, suites: Sequence[str], jobs: int) -> None:
    """Run the suites folder by folder, each into one file of ``data / "cover"``, and combine them.
    A folder whose file is there is not run again."""
    parts = data / "cover"
    parts.mkdir(parents=True, exist_ok=True)
    check_source(data)
    folders = sorted({file.parent for suite in suites for file in Path(suite).rglob("test_*.py")})
    for folder in folders:
        name = ".".join(folder.parts[1:])
        if (parts / f"{name}.sqlite").exists():
            continue
        print(f"{folder} …")
        with tempfile.TemporaryDirectory(dir=data) as scratch:
            measured, witness = Path(scratch, "sqlite"), Path(scratch, "witness")
            command = [sys.executable, "-m", "pytest", *sorted(map(str, folder.glob("test_*.py")))]
            command += ["-n", str(jobs), "--dist", "worksteal", "--hypothesis-seed=0"]
            command += ["--cov", "--cov-context=test", "--cov-report=", "--timeout=300"]
            command += ["-p", "benchmarks.mutants.witness", "--witness", str(witness)]
            env = {**os.environ, "COVERAGE_FILE": str(measured), "COVERAGE_CORE": "ctrace"}
            status = subprocess.run(command, env=env, check=False).returncode
            # 1: some test failed. It is left out, since a test that fails anyway notices nothing.
            if status not in (0, 1) or not measured.exists():
                raise SystemExit(f"{folder}: pytest ended with {status}, see above; run it again")
            witness.rename(parts / f"{name}.jsonl")
            measured.rename(parts / f"{name}.sqlite")
    print("combining …")
    whole = Coverage(data_file=str(data / "map.sqlite"))
    whole.erase()
    whole.combine([str(parts / f"{'.'.join(one.parts[1:])}.sqlite") for one in folders], keep=True)
    whole.save()
    durations, failed = _durations(parts)
    (data / "tests.json").write_text(json.dumps(durations), encoding="utf-8")
    print(f"{len(durations)} tests; left out, since they failed: {sorted(failed)}")


def _durations(parts: Path) -> tuple[dict[str, float], set[str]]:
    """Seconds of each test that passed, and the tests that did not."""
    durations: Counter[str] = Counter()
    passed: set[str] = set()
    failed: set[str] = set()
    for file in parts.glob("*.jsonl"):
        for line in json_lines(file):
            durations[line["test"]] += line.get("seconds", 0)
            passed |= {line["test"]} if line.get("outcome") == "passed" else set()
            failed |= {line["test"]} if line.get("outcome") == "failed" else set()
    return {test: round(durations[test], 3) for test in sorted(passed - failed)}, failed


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
