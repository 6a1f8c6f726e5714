"""Long campaigns: `make test` runs a small share of each; `make soak` runs all of them and what
stands in tests/soak, and keeps the results in tests/soak/results.json.

A test with the mark ``soak(*inputs, product=())`` is an item of `make soak`. Its result is written
as soon as it ends. What has passed is not run again until one of the inputs (files and folders
below the root), the test's own file or the product changes. ``--installation`` asks less, for each
landing: there the product alone is no reason.

A file with ``pytestmark = settled(*inputs)`` depends on few others and takes long. `make test` runs
it; CI leaves it out where `make settle` has seen it pass with the same inputs.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import is_hypothesis_test, seed, settings

SOAK = os.environ.get("DCF_SOAK") == "1"
# Where a campaign may find something: its items run again when any of it changed.
PRODUCT = ("control_plane", "dcf", "prompts", "requirements/dev.txt")
# What the interpreter of the language is made of, and what simulates runs.
LANGUAGE = (
    "control_plane",
    "dcf/asl",
    "dcf/problem.py",
    "dcf/schema",
    "requirements/dev.txt",
    "tests/unit/asl",
)
SIMULATED = (
    *LANGUAGE,
    "dcf/agents",
    "dcf/memory",
    "dcf/sessions",
    "dcf/simulation",
    "dcf/skills",
    "dcf/tools",
    "dcf/worker",
    "dcf/workflow",
    "tests/simulation",
)
# What writes the documents of a run, and what its tests say of them.
CONTRACT = (
    "control_plane",
    "dcf/asl",
    "dcf/problem.py",
    "dcf/regular_file.py",
    "dcf/schema",
    "dcf/workflow",
    "requirements/dev.txt",
    "tests/contract",
)
# What keeps and finds texts, in the memory and beside it.
REMEMBERED = (
    "control_plane",
    "dcf/age_form.py",
    "dcf/citation",
    "dcf/code",
    "dcf/context_form.py",
    "dcf/digest.py",
    "dcf/documents",
    "dcf/late_numpy.py",
    "dcf/memory",
    "dcf/personal_form.py",
    "dcf/problem.py",
    "dcf/regular_file.py",
    "dcf/retrieval",
    "dcf/schema",
    "dcf/search",
    "dcf/secret_form",
    "dcf/secret_name.py",
    "dcf/skills",
    "dcf/stopping.py",
    "dcf/tools",
    "dcf_agents",
    "requirements/dev.txt",
    "tests/claude_mem_database.py",
    "tests/conftest.py",
    "tests/extraction_world.py",
    "tests/memory_world.py",
    "tests/postgres_world.py",
    "tests/public_formats.py",
    "tests/unit/documents",
    "tests/unit/memory",
    "tests/unit/retrieval",
    "tests/unit/secret_form",
)
RESULTS = Path("tests/soak/results.json")
_DIGESTS = "digests"
_SETTLED = "settled"


def campaign(shares: int, *makers: str) -> Callable[[Any], Any]:
    """Runs the test once for each ``share``, its argument, from which it takes its seeds: share 0
    in `make test`, all ``shares`` in `make soak`. Where hypothesis chooses, share 0 of `make test`
    has a fixed seed, and `make soak` has others each time. ``makers`` are files that make what is
    tried: one that changed asks for all shares again."""
    each = pytest.mark.parametrize("share", range(shares if SOAK else 1))
    item = pytest.mark.soak(*PRODUCT, *makers)

    def decorate(test: Any) -> Any:
        fixed = is_hypothesis_test(test) and not SOAK
        return item(each(seed(0)(test) if fixed else test))

    return decorate


def soak_only(*inputs: str) -> Callable[[Any], Any]:
    """A test that `make test` leaves to `make soak`, beside others of its file that it runs."""
    item = pytest.mark.soak(*inputs)
    left = pytest.mark.skipif(not SOAK, reason="`make soak` runs it")
    return lambda test: item(left(test))


def settled(*inputs: str) -> pytest.MarkDecorator:
    """For the ``pytestmark`` of a file whose tests depend on nothing but themselves and these files
    and folders below the root."""
    return pytest.mark.settled(*inputs)


class Results:
    """What is known of each item: ``date``, ``commit``, ``inputs`` and ``product`` (digests),
    ``verdict`` (passed, failed or not tried), ``seconds`` and, if not tried, ``why``. Processes may
    write at once, and may be killed: the file is always whole."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / RESULTS

    def all(self) -> dict[str, dict[str, Any]]:
        """By the id of the test; nothing where nothing was written."""
        try:
            known = json.loads(self.path.read_text("utf-8")) if self.path.exists() else {}
            if not isinstance(known, dict):
                raise ValueError("it is no object")
        except ValueError as error:
            message = f"{self.path} is damaged ({error}): git checkout {RESULTS}"
            raise pytest.UsageError(message) from None
        return known

    def write(
        self, item: str, digests: Mapping[str, str], verdict: str, seconds: float, why: str
    ) -> None:
        # A plus where the commit is not all that ran.
        others = ("--", ".", f":!{RESULTS}", f":!{RESULTS}.new")
        changed = "+" if self._git("status", "--porcelain", *others) else ""
        known = {
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "commit": self._git("rev-parse", "--short=12", "HEAD").strip() + changed,
            **digests,
            "verdict": verdict,
            "seconds": round(seconds, 1),
            **({"why": why} if why else {}),
        }
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            kept = self.all() | {item: known}
            # A line for each, so that results of two branches merge.
            lines = [f"{json.dumps(name)}: {json.dumps(kept[name])}" for name in sorted(kept)]
            draft = Path(f"{self.path}.new")
            draft.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
            draft.replace(self.path)
        finally:
            os.close(folder)

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
        self.compared = ("inputs",) if config.getoption("--installation") else ("inputs", "product")
        self.reports: dict[str, list[pytest.TestReport]] = defaultdict(list)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        known = self.results.all()
        digest = cache(self.results.digest)
        for item in items:
            before = known.get(item.nodeid, {})
            now = _digests(item, digest)
            if before.get("verdict") == "passed" and all(
                before.get(name) == now.get(name) for name in self.compared
            ):
                reason = f"passed with the same inputs on {before['date']} at {before['commit']}"
                item.add_marker(pytest.mark.skip(reason))

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        # Anew: somebody may have worked on while the tests before this one ran.
        item.user_properties.append((_DIGESTS, _digests(item, self.results.digest)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        digests = dict(report.user_properties).get(_DIGESTS)
        if not isinstance(digests, dict):
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
        self.results.write(report.nodeid, digests, verdict, seconds, skipped)


class Settled:
    """Files whose tests have passed with the same inputs. They are left out in CI; ``asked``, only
    the others are run, and the result of each file is written when its last test has ended."""

    def __init__(self, config: pytest.Config, *, asked: bool) -> None:
        self.results = Results(config.rootpath)
        self.asked = asked
        self.digests: dict[str, str] = {}
        self.waiting: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()
        self.failed: set[str] = set()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        known = self.results.all()
        files = {_file(item): mark for item in items if (mark := item.get_closest_marker(_SETTLED))}
        self.digests = {file: self.results.digest(*mark.args, file) for file, mark in files.items()}
        same = {
            file: before
            for file, digest in self.digests.items()
            if (before := known.get(file, {})).get("verdict") == "passed"
            and before["inputs"] == digest
        }
        if not self.asked:
            for item in items:
                if before := same.get(_file(item)):
                    reason = f"{_file(item)} passed with the same inputs on {before['date']}"
                    item.add_marker(pytest.mark.skip(f"{reason} at {before['commit']}"))
            return
        due = [item for item in items if _file(item) in self.digests.keys() - same.keys()]
        config.hook.pytest_deselected(items=[item for item in items if item not in due])
        items[:] = due
        self.waiting = Counter(map(_file, due))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = report.nodeid.partition("::")[0]
        if not self.asked or file not in self.waiting:
            return
        self.seconds[file] += report.duration
        if report.failed:
            self.failed.add(file)
        if report.when == "teardown":
            self.waiting[file] -= 1
            if not self.waiting[file]:
                verdict = "failed" if file in self.failed else "passed"
                digests = {"inputs": self.digests[file]}
                self.results.write(file, digests, verdict, self.seconds[file], "")


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def _digests(item: pytest.Item, digest: Callable[..., str]) -> dict[str, str]:
    mark = item.get_closest_marker("soak")
    assert mark is not None
    found = {"inputs": digest(*mark.args, _file(item))}
    if "product" in mark.kwargs:
        found["product"] = digest(*mark.kwargs["product"])
    return found


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shard",
        metavar="N/M",
        type=_shard,
        default=(1, 1),
        help="with DCF_SOAK=1: each M-th item only",
    )
    parser.addoption(
        "--installation",
        action="store_true",
        help="with DCF_SOAK=1: run again what depends on the installation, if that changed",
    )

    parser.addoption(
        "--settle",
        action="store_true",
        help="run settled files that have not passed with the same inputs; keep the results",
    )


def _shard(text: str) -> tuple[int, int]:
    mine, _, of = text.partition("/")
    if not (mine.isdigit() and of.isdigit() and 1 <= int(mine) <= int(of)):
        raise argparse.ArgumentTypeError(f"{text!r} is no N/M with 1 <= N <= M, such as 1/4")
    return int(mine), int(of)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "soak(*inputs, product=()): an item of `make soak`, campaigns.py"
    )
    config.addinivalue_line("markers", "settled(*inputs): a file for `make settle`, campaigns.py")
    asked = config.getoption("--settle")
    whole = not (config.option.keyword or config.option.markexpr or "::" in "".join(config.args))
    if asked and not whole:
        raise pytest.UsageError("--settle runs whole files")
    # Without git nobody knows what has changed.
    known = "CI" in os.environ and not SOAK and (config.rootpath / ".git").exists()
    if asked or known:
        config.pluginmanager.register(Settled(config, asked=asked))
    if SOAK:
        config.pluginmanager.register(Recorder(config))
        # Where a seed is fixed for `make test`, each share would find the same.
        settings.register_profile("soak", derandomize=False)
        settings.load_profile("soak")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if SOAK:
        shard, of = config.getoption("--shard")
        kept = [item for item in items if item.get_closest_marker("soak")][shard - 1 :: of]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept
        return
    for item in items:
        if "soak" in item.path.relative_to(config.rootpath).parts:
            item.add_marker(pytest.mark.skip("`make soak` runs it"))
