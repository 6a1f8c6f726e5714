"""Long campaigns: `make test` runs a small share of each; `make soak` runs all of them and what
stands in tests/soak, and keeps the results in tests/soak/results.json.

A test with the mark ``soak(*inputs)`` is an item of `make soak`. Its result is written as soon as
it ends. What has passed is not run again until one of the inputs (files and folders below the
root) or the test's own file changes.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import subprocess
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

SOAK = os.environ.get("DCF_SOAK") == "1"
# Where a campaign may find something: its items run again when any of it changed.
PRODUCT = ("control_plane", "dcf", "prompts", "requirements/dev.txt")
RESULTS = Path("tests/soak/results.json")
_DIGEST = "inputs"


def campaign(shares: int) -> Callable[[Any], Any]:
    """Runs the test once for each ``share``, its argument, from which it takes its seeds (and where
    hypothesis chooses, takes none): share 0 in `make test`, all ``shares`` in `make soak`."""
    each = pytest.mark.parametrize("share", range(shares if SOAK else 1))
    item = pytest.mark.soak(*PRODUCT)
    return lambda test: item(each(test))


def soak_only(*inputs: str) -> Callable[[Any], Any]:
    """A test that `make test` leaves to `make soak`, beside others of its file that it runs."""
    item = pytest.mark.soak(*inputs)
    left = pytest.mark.skipif(not SOAK, reason="`make soak` runs it")
    return lambda test: item(left(test))


class Results:
    """What is known of each item: ``date``, ``commit``, ``inputs`` (a digest), ``verdict`` (passed,
    failed or not tried), ``seconds`` and, if not tried, ``why``. Processes may write at once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / RESULTS

    def all(self) -> dict[str, dict[str, Any]]:
        """By the id of the test; nothing where nothing was written."""
        text = self.path.read_text("utf-8") if self.path.exists() else ""
        return json.loads(text or "{}")

    def write(self, item: str, inputs: str, verdict: str, seconds: float, why: str) -> None:
        # A plus where the commit is not all that ran.
        changed = "+" if self._git("status", "--porcelain", "--", ".", f":!{RESULTS}") else ""
        known = {
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "commit": self._git("rev-parse", "--short=12", "HEAD").strip() + changed,
            "inputs": inputs,
            "verdict": verdict,
            "seconds": round(seconds, 1),
            **({"why": why} if why else {}),
        }
        with self.path.open("a", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            kept = self.all() | {item: known}
            # A line for each, so that results of two branches merge.
            lines = [f"{json.dumps(name)}: {json.dumps(kept[name])}" for name in sorted(kept)]
            file.truncate(0)
            file.write("{\n" + ",\n".join(lines) + "\n}\n")

    def digest(self, *inputs: str) -> str:
        """Of the contents of all files there that git knows or would take."""
        listed = self._git(
            "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *inputs
        )
        total = hashlib.sha256()
        for name in sorted(set(filter(None, listed.split("\0")))):
            path = self.root / name
            content = path.read_bytes() if path.exists() else b""
            total.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
        return total.hexdigest()[:16]

    def _git(self, *arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=self.root, check=True, capture_output=True, text=True
        ).stdout


class Recorder:
    """Leaves out what is known already, and writes what comes of the others."""

    def __init__(self, config: pytest.Config) -> None:
        self.results = Results(config.rootpath)
        self.reports: dict[str, list[pytest.TestReport]] = defaultdict(list)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        known = self.results.all()
        digest = cache(self.results.digest)
        for item in items:
            before = known.get(item.nodeid, {})
            if before.get("verdict") == "passed" and before["inputs"] == digest(*_inputs(item)):
                reason = f"passed with the same inputs on {before['date']} at {before['commit']}"
                item.add_marker(pytest.mark.skip(reason))

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        # Anew: somebody may have worked on while the tests before this one ran.
        item.user_properties.append((_DIGEST, self.results.digest(*_inputs(item))))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        inputs = dict(report.user_properties).get(_DIGEST)
        if inputs is None:
            return
        reports = self.reports[report.nodeid]
        reports.append(report)
        if report.when != "teardown":
            return
        seconds = sum(one.duration for one in reports)
        outcomes = {one.outcome for one in reports}
        skipped = next((one.longrepr[2] for one in reports if isinstance(one.longrepr, tuple)), "")
        verdict = (
            "failed" if "failed" in outcomes else "not tried" if "skipped" in outcomes else "passed"
        )
        self.results.write(report.nodeid, str(inputs), verdict, seconds, skipped)


def _inputs(item: pytest.Item) -> tuple[str, ...]:
    mark = item.get_closest_marker("soak")
    assert mark is not None
    return (*mark.args, item.nodeid.partition("::")[0])


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shard", metavar="N/M", default="1/1", help="with DCF_SOAK=1: each M-th item only"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "soak(*inputs): an item of `make soak`, tests/campaigns.py")
    if SOAK:
        config.pluginmanager.register(Recorder(config))
        # Where a seed is fixed for `make test`, each share would find the same.
        settings.register_profile("soak", derandomize=False)
        settings.load_profile("soak")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if SOAK:
        shard, of = map(int, config.getoption("--shard").split("/"))
        kept = [item for item in items if item.get_closest_marker("soak")][shard - 1 :: of]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept
        return
    for item in items:
        if "soak" in item.path.relative_to(config.rootpath).parts:
            item.add_marker(pytest.mark.skip("`make soak` runs it"))
