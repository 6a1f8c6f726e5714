"""The tests of one line, run on a changed copy of the tree until one fails."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The fastest tests run alone first: to collect thousands takes longer than they do.
_FIRST = 40
# A change may make a loop endless: then a test is ended, and so is one that fills the memory.
_TEST_TIMEOUT_S = 40
_MEMORY = 6 << 30


@contextmanager
def copy_of_tree(root: Path) -> Iterator[Path]:
    """A folder with what git would take of ``root``, gone afterwards."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    # A short path: the sockets of some tests are below it.
    with tempfile.TemporaryDirectory(prefix="dcf-mutant-") as folder:
        for name in filter(None, listed.stdout.split("\0")):
            if (root / name).is_file():
                target = Path(folder, name)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, target)
        yield Path(folder)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a run of pytest showed. ``failed``: the first test that failed. ``hung``: the test that
    was running for too long when the time was up. ``status``: pytest's, None where it was ended."""

    status: int | None
    ran: int
    failed: str | None = None
    hung: str | None = None


class Trial:
    """Tries changes in ``copy``, one after another. ``seconds`` of a test are what it took once;
    ``budget_s`` is what one change may take."""

    def __init__(self, copy: Path, seconds: Callable[[str], float | None], budget_s: float) -> None:
        self._copy, self._seconds, self._budget_s = copy, seconds, budget_s
        self._moment = int(time.time()) - 10_000_000
        self._env = {
            **os.environ,
            # Before the installed clone, in this process's children too.
            "PYTHONPATH": str(copy),
            "DCF_MUTANT_COPY": str(copy),
        }
        self._check_that_the_copy_is_imported()

    def _check_that_the_copy_is_imported(self) -> None:
        command = [sys.executable, "-c", "import dcf, control_plane as c; print(dcf.__file__, c)"]
        shown = subprocess.run(
            command, env=self._env, cwd="/", check=True, capture_output=True, text=True
        ).stdout
        if shown.count(str(self._copy)) != 2:
            raise RuntimeError(f"the copy {self._copy} is not what is imported, but: {shown}")

    def attempt(self, file: str, changed: str, tests: Sequence[str]) -> dict[str, Any]:
        """``status`` is "noticed" (``by`` a test, ``how`` it did), "survived", "survived within
        budget" or "broken", where the tests cannot be collected on the unchanged tree either."""
        began = time.monotonic()
        original = (self._copy / file).read_text(encoding="utf-8")
        left, ran, result = list(tests), 0, {"status": "survived"}
        try:
            while left:
                self._write(file, changed)
                result, more = self._until_one_fails(left, began + self._budget_s)
                ran += more
                self._write(file, original)
                if result["status"] != "noticed" or self._passes_unchanged(result):
                    break
                if result["how"] == "stopped":
                    result = {"status": "broken"}
                    break
                left = left[left.index(result["by"]) + 1 :]
                result = {"status": "survived"}
        finally:
            self._write(file, original)
        return {**result, "ran": ran, "seconds": round(time.monotonic() - began, 1)}

    def _passes_unchanged(self, result: dict[str, Any]) -> bool:
        """Whether the test that noticed a change has nothing to say about the tree as it was."""
        return self._pytest([result["by"]], time.monotonic() + self._budget_s).status == 0

    def _until_one_fails(self, left: list[str], deadline: float) -> tuple[dict[str, Any], int]:
        """The result, and how many tests ran."""
        ran, first = 0, True
        while left:
            batch = left[:_FIRST] if first else left
            seen = self._pytest(batch, deadline)
            ran += seen.ran
            if seen.failed is not None:
                # What fails by chance, or after another test only, did not notice the change.
                again = self._pytest([seen.failed], time.monotonic() + self._budget_s)
                if again.status != 0:
                    return {"status": "noticed", "by": seen.failed, "how": "failed"}, ran
                left = left[left.index(seen.failed) + 1 :]
            elif seen.hung is not None:
                return {"status": "noticed", "by": seen.hung, "how": "hung"}, ran
            elif seen.status is None:
                return {"status": "survived within budget"}, ran
            elif seen.status != 0:
                return {"status": "noticed", "by": batch[0], "how": "stopped"}, ran
            else:
                left, first = left[len(batch) :], False
        return {"status": "survived"}, ran

    def _pytest(self, tests: Sequence[str], deadline: float) -> _Seen:
        with tempfile.TemporaryDirectory(prefix="dcf-mutant-") as scratch:
            chosen, witness = Path(scratch, "tests"), Path(scratch, "witness")
            chosen.write_text("\n".join(tests), encoding="utf-8")
            witness.touch()
            command = [sys.executable, "-m", "pytest", f"@{chosen}", "-x"]
            command += ["-c", str(self._copy / "pyproject.toml")]
            slowest_s = max((self._seconds(test) or 0 for test in tests), default=0)
            timeout_s = max(_TEST_TIMEOUT_S, round(5 * slowest_s))
            command += ["--hypothesis-seed=0", f"--timeout={timeout_s}", "--tb=no"]
            command += ["-p", "benchmarks.mutants.witness", f"--witness={witness}"]
            env = self._env | {"HYPOTHESIS_STORAGE_DIRECTORY": scratch}
            process = subprocess.Popen(
                command, cwd=self._copy, env=env, start_new_session=True, preexec_fn=_less_memory,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            try:
                status = process.wait(max(deadline - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                status = None
            finally:
                self._end(process)
            return self._read(witness, status)

    def _read(self, witness: Path, status: int | None) -> _Seen:
        lines = [json.loads(line) for line in witness.read_text(encoding="utf-8").splitlines()]
        began = [line for line in lines if "began" in line]
        failed = next((one["test"] for one in lines if one.get("outcome") == "failed"), None)
        hung = None
        if status is None and failed is None and began and "began" in lines[-1]:
            usual_s = self._seconds(began[-1]["test"]) or 0
            if time.time() - began[-1]["began"] > max(_TEST_TIMEOUT_S / 2, 10 * usual_s):
                hung = began[-1]["test"]
        return _Seen(status, len(began), failed, hung)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """Ends pytest, by Ctrl-C first so that it stops its servers, and all that it started."""
        for number in (signal.SIGINT, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(5)
        mark = f"DCF_MUTANT_COPY={self._copy}".encode()
        for environ in Path("/proc").glob("[0-9]*/environ"):
            # Of other users, or gone meanwhile.
            with suppress(OSError):
                if mark in environ.read_bytes().split(b"\0"):
                    os.kill(int(environ.parent.name), signal.SIGKILL)

    def _write(self, file: str, text: str) -> None:
        """Python compares the time, in seconds, and the size of a source with those of its compiled
        module. Each text gets another second, so that the module of the text before is not used."""
        path = self._copy / file
        path.write_text(text, encoding="utf-8")
        self._moment += 2
        os.utime(path, (self._moment, self._moment))


def _less_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
