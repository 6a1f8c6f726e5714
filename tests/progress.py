"""What the tests are doing and how long is left, in place of a dot for each test; and at the end,
for each test that failed, its seed and the command that repeats it.

Where nobody looks (no terminal) it is a line now and then, else one that is rewritten. How long is
left follows from how long the tests of each file took when they were last run in this environment.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import time
from collections import Counter
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

import pytest

# Seconds of a test, where its file has not been run yet.
USUAL_S = {"unit": 0.06, "contract": 0.13, "integration": 0.5, "simulation": 2.0, "acceptance": 0.7}
_SEED = re.compile(r"@reproduce_failure\('[^']+', b'[^']+'\)|--hypothesis-seed=\d+|@seed\(\d+\)")
# The name that hypothesis gives to its part of a report.
_FROM = "Hypothesis"


class Forecast:
    """How long is left, from how long each file's tests took the last time.

    ``known`` has the seconds of one test on average, by the path of its file."""

    def __init__(self, known: dict[str, float]) -> None:
        self.known = known
        self.left: dict[str, float] = {}
        self.done_s = 0.0

    def expect(self, tests: Iterable[str]) -> None:
        """All that will be run, each by its id."""
        self.left = {test: self._seconds(test) for test in tests}

    def done(self, test: str) -> None:
        self.done_s += self.left.pop(test, 0.0)

    def left_s(self, elapsed_s: float) -> float | None:
        """Seconds to wait: as fast as until now. Nothing where nothing is done."""
        if not self.done_s:
            return None
        return elapsed_s * sum(self.left.values()) / self.done_s

    def _seconds(self, test: str) -> float:
        return self.known.get(file_of(test)) or USUAL_S.get(suite_of(test), 1.0)


class Progress:
    """Prints as tests end. ``every_s``: seconds between two lines."""

    def __init__(self, reporter: pytest.TerminalReporter, kept: Path | None) -> None:
        self.reporter = reporter
        self.kept = kept
        self.running = True
        self.rewrites = reporter.isatty
        self.every_s = 0.5 if self.rewrites else 15
        known = json.loads(kept.read_text("utf-8")) if kept and kept.exists() else {}
        self.forecast = Forecast(known)
        self.tests: frozenset[str] = frozenset()
        self.seconds: Counter[str] = Counter()
        self.failed: dict[str, None] = {}
        self.began = self.said = time.monotonic()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._begin(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        if not self.tests:
            self._begin(ids)

    def _begin(self, tests: Iterable[str]) -> None:
        self.tests = frozenset(tests)
        self.forecast.expect(self.tests)
        self.began = self.said = time.monotonic()

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self, report: Any) -> Generator[None, Any, Any]:
        category, letter, word = yield
        # No dots; but at the end the words are asked for once more.
        return (category, "", "") if self.running else (category, letter, word)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        test = report.nodeid
        self.seconds[test] += report.duration
        if report.failed and test not in self.failed:
            self.failed[test] = None
            self._print(f"FAILED {test}")
        if report.when == "setup" and report.passed:
            return
        self.forecast.done(test)
        now = time.monotonic()
        if now - self.said >= self.every_s:
            self.said = now
            self._say(f"{suite_of(test)}: {self._standing(now - self.began)}")

    def _standing(self, elapsed_s: float) -> str:
        done = len(self.tests) - len(self.forecast.left)
        left_s = self.forecast.left_s(elapsed_s)
        left = f", about {spoken(left_s)} left" if left_s is not None else ""
        return f"{done:,} of {len(self.tests):,} tests, {len(self.failed)} failed{left}"

    def _say(self, line: str) -> None:
        if self.rewrites:
            self.reporter.rewrite(line, erase=True)
        else:
            self.reporter.line(line)
        self.reporter.flush()

    def _print(self, line: str) -> None:
        if self.rewrites:
            self.reporter.rewrite("", erase=True)
            line = f"\r{line}"
        self.reporter.line(line)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        self.running = False
        if self.rewrites:
            self.reporter.rewrite("", erase=True)
        if self.kept is None:
            return
        files: dict[str, list[float]] = {}
        for test, seconds in self.seconds.items():
            files.setdefault(file_of(test), []).append(seconds)
        averages = {file: round(sum(all_s) / len(all_s), 4) for file, all_s in files.items()}
        known = self.forecast.known | averages
        self.kept.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", "utf-8")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        stats = terminalreporter.stats
        broken = [*stats.get("failed", ()), *stats.get("error", ())]
        if broken:
            terminalreporter.section("to repeat what failed")
        for report in broken:
            terminalreporter.line("\n".join(repetition(report)))


def repetition(report: pytest.TestReport | pytest.CollectReport) -> list[str]:
    """The test and why it failed, the seed if hypothesis chose one, and a command for a shell."""
    crash = getattr(report.longrepr, "reprcrash", None)
    reason = crash.message.splitlines()[0] if crash and crash.message else ""
    told = "\n".join([report.longreprtext, *(text for of, text in report.sections if of == _FROM)])
    seeds = list(dict.fromkeys(_SEED.findall(told)))
    python = Path(sys.executable)
    if python.is_relative_to(Path.cwd()):
        python = python.relative_to(Path.cwd())
    command = [str(python), "-m", "pytest", report.nodeid]
    command += [seed for seed in seeds if seed.startswith("--")]
    soak = "DCF_SOAK=1 " if os.environ.get("DCF_SOAK") == "1" else ""
    return [
        f"FAILED {report.nodeid}" + (f" - {reason}" if reason else ""),
        *(f"  seed: {seed}" for seed in seeds),
        f"  repeat: {soak}{shlex.join(command)}",
    ]


def file_of(test: str) -> str:
    return test.partition("::")[0]


def suite_of(test: str) -> str:
    """The folder below tests."""
    return test.removeprefix("tests/").partition("/")[0]


def spoken(seconds: float) -> str:
    """`40 s` or `3 min`."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    # Workers of xdist report to the process that started them; `-v` names each test instead.
    if hasattr(config, "workerinput") or reporter is None or config.get_verbosity() > 0:
        return
    # Told at the end, with the command; see pytest_terminal_summary.
    reporter.reportchars = reporter.reportchars.replace("f", "").replace("E", "")
    ours = sys.prefix != sys.base_prefix and config.rootpath == Path(__file__).parents[1]
    kept = Path(sys.prefix, "test-durations.json") if ours else None
    config.pluginmanager.register(Progress(reporter, kept))
