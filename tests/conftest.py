"""Fixtures for all tests. ``redis_url`` is a real, empty Redis with JSON, ``graph_url`` an
empty graph server."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings
from postgres_world import PostgresServer
from redis.asyncio import Redis

from control_plane.embedded import Embedded, ServerUnusable

# Before tests that import numpy themselves, so that they compute with one thread too.
from dcf import late_numpy  # noqa: F401

pytest_plugins = ("campaigns", "progress")

_SUITES = ("unit", "contract", "integration", "simulation", "acceptance")
# Short on purpose: a Unix socket's path has at most 107 bytes, and pytest's own folders are long.
_PREFIX = f"dcf-test-{os.getuid()}-"

# A shell without job control starts what stands before `&` with SIGINT ignored, and every child of
# it inherits that: programs that tests end by Ctrl-C would never end. Workers of xdist read this
# file too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# How fast examples are made and tried says how busy the machine is, nothing of what is tested; what
# hangs is ended by the timeout of its test. What failed can be repeated from what is printed.
# Whoever develops sees new examples each time; a landing is judged by the same ones as the last.
settings.register_profile(
    "any-machine",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    derandomize="CI" in os.environ,
)
settings.load_profile("any-machine")


def pytest_configure(config: pytest.Config) -> None:
    """Each process of a test run begins the collection at another file. pytest keeps what it
    compiles: whoever comes to a file later reads what the first one wrote."""
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker and all(Path(one).is_dir() for one in config.args):
        files = sorted(str(file) for one in config.args for file in Path(one).rglob("test_*.py"))
        first = int(worker["workerid"].removeprefix("gw")) * len(files) // worker["workercount"]
        config.args[:] = files[first:] + files[:first]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The fastest suites first; in each suite what asks for much time begins first: nobody waits
    for it alone at the end. In every process in the same order."""
    files = {path: (_place_of_suite(path), str(path)) for path in {one.path for one in items}}

    def place(item: pytest.Item) -> tuple[int, float, str]:
        suite, path = files[item.path]
        return suite, -_patience_s(item), path

    items.sort(key=place)


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """One message for each test that passes, not six: with thousands of tests the messages between
    the processes cost as much as the fastest suite."""
    if not hasattr(item.config, "workerinput"):
        return None
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    for report in reports:
        if report.when == "call":
            report.duration = sum(one.duration for one in reports)
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


# What is collected stays until the end: looking for garbage in it, again and again, costs a third
# of the time of the collection, and a tenth of that of the tests.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000)


def _place_of_suite(path: Path) -> int:
    suite = path.relative_to(Path(__file__).parent).parts[0]
    return _SUITES.index(suite) if suite in _SUITES else len(_SUITES)


def _patience_s(item: pytest.Item) -> float:
    marker = item.get_closest_marker("timeout")
    return float(marker.args[0]) if marker and marker.args else 0.0


@pytest.fixture(scope="session", autouse=True)
def _copied_memories() -> Iterator[None]:
    """Who opens a memory that is not there finds a copy of one that was made before: what a
    thousand tests begin with is made once. Encrypted ones, and those of programs that tests start,
    are made as ever, and so is whatever is opened by ``dcf.memory.database.opening`` itself."""
    from dcf.memory.database import Database, Source
    from dcf.memory.database.opening import opened

    lock = threading.Lock()
    make = Database._open.__func__  # type: ignore[attr-defined]
    # Where the folders of tests are, so that a copy can be linked there.
    with tempfile.TemporaryDirectory(prefix=_PREFIX + "m-") as folder:
        model = Source(Path(folder) / "model.sqlite")

        def copied(kind: type[Database], source: Source) -> Database:
            if source.key is None and not source.path.exists():
                with lock:
                    if not model.path.exists():
                        opened(model).close()
                copy = Path(folder) / str(threading.get_ident())
                shutil.copy(model.path, copy)
                # Whole from the beginning, and only where nothing is. What stands in the way is
                # what the test is about: it meets it when it opens the file.
                with suppress(OSError, ValueError):
                    source.path.parent.mkdir(parents=True, exist_ok=True)
                    os.link(copy, source.path)
                copy.unlink()
            found: Database = make(kind, source)
            return found

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Database, "_open", classmethod(copied))
            yield


@pytest.fixture
def short_dir() -> Iterator[Path]:
    """An empty folder with a short path, gone after the test."""
    with tempfile.TemporaryDirectory(prefix=_PREFIX + "d-", dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def redis_server() -> Iterator[str]:
    """URL of this test process's own Redis. A machine that cannot run one *fails* the tests."""
    _end_orphans()
    home = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir="/tmp"))
    embedded = Embedded(home)
    try:
        address = asyncio.run(embedded.start())
    except ServerUnusable as error:
        pytest.fail(f"These tests need a real Redis and it did not start. {error}", pytrace=False)
    yield address.url
    asyncio.run(embedded.stop())
    shutil.rmtree(home)


@pytest.fixture
async def redis_url(redis_server: str) -> str:
    """URL of a real Redis with JSON that holds no key."""
    async with Redis.from_url(redis_server) as client:
        await client.flushall()
    return redis_server


@pytest.fixture(scope="session")
def graph_server() -> Iterator[str]:
    """URL of this test process's own graph server."""
    home = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir="/tmp"))
    graph = Embedded(home).graph
    try:
        address = asyncio.run(graph.start())
    except ServerUnusable as error:
        pytest.fail(f"These tests need a graph and it did not start. {error}", pytrace=False)
    yield address.url
    asyncio.run(graph.stop())
    shutil.rmtree(home)


@pytest.fixture
async def graph_url(graph_server: str) -> str:
    """URL of a real graph server that holds nothing."""
    async with Redis.from_url(graph_server) as client:
        await client.flushall()
    return graph_server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """This test process's own PostgreSQL, which is started. Each test takes a schema of its own."""
    home = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir="/tmp"))
    server = PostgresServer(home)
    server.start()
    yield server
    server.stop()
    shutil.rmtree(home)


@pytest.fixture
async def redis_client(redis_url: str) -> AsyncIterator[Redis]:
    """A redis-py client of ``redis_url`` that gives ``str``."""
    async with Redis.from_url(redis_url, decode_responses=True) as client:
        yield client


def _end_orphans() -> None:
    """Ends servers of test processes that were killed before they could do it themselves."""
    for home in Path("/tmp").glob(f"{_PREFIX}[0-9]*-*"):
        owner = int(home.name.removeprefix(_PREFIX).partition("-")[0])
        if owner == os.getpid() or Path(f"/proc/{owner}").exists():
            continue
        # Another test process may be clearing it away at the same moment.
        with suppress(FileNotFoundError):
            asyncio.run(Embedded(home).stop())
            asyncio.run(Embedded(home).graph.stop())
        shutil.rmtree(home, ignore_errors=True)
