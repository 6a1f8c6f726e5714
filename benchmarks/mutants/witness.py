"""A pytest plugin that writes which test began and how it ended, one JSON line each, at once:
what `python -m benchmarks.mutants` reads, also after it ended pytest in the middle of a test.

``pytest -p benchmarks.mutants.witness --witness=FILE``. Lines: ``{"test", "began"}``, ``began`` in
seconds since 1970, and for each of a test's three phases ``{"test", "outcome", "seconds"}``.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--witness", type=Path, metavar="FILE")


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--witness")
    # Worker processes of xdist report to the one that has them, which writes.
    if path is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Witness(path))


class _Witness:
    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8", buffering=1)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._write(test=nodeid, began=time.time())

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._write(test=report.nodeid, outcome=report.outcome, seconds=round(report.duration, 4))

    def _write(self, **line: Any) -> None:
        self._file.write(json.dumps(line) + "\n")
