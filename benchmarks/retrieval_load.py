"""``python -m benchmarks.retrieval_load``: many clients at the retrieval service, on one machine.

A served process (``dcf retrieval serve``) has a project with code and a memory with many items.
Of the clients, in a process of their own, some ask for context and the others log, each over a
connection that it keeps. Both go at a rate that is given, of all together, or (0) as fast as they
are answered; how long an answer takes counts from when it was due, so that a slow service does
not ask for less.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.figure import Figure, quantile
from dcf.memory import SYSTEM, Memory, Source, random_id
from dcf.retrieval import CodeRetrievers, NewItem, SqliteItems
from dcf.search import DEFAULT_EMBEDDER, embedder_named

LOG, CONTEXT = "/log", "/augmented-context"
_REPOSITORY = Path(__file__).parents[1]
_AT_ONCE = 500
_WHEN = ("at the start", "after a quarter", "after half", "after three quarters", "at the end")
_WARM = 20
"""Questions before the measurement: the first one loads the embedder."""


@dataclass(frozen=True, slots=True)
class Load:
    """``clients``, of which ``asking`` ask, for ``seconds``, at a memory that has ``items``. Rates
    are requests a second of all clients together; 0 is no limit."""

    clients: int
    asking: int
    items: int
    seconds: float
    log_rate: float
    ask_rate: float
    processes: int = 1


@dataclass(slots=True)
class Tally:
    """What clients saw of one route: ms of each answer, and what was wrong."""

    took_ms: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)


class Sayings:
    """Sentences of the documentation, to log and to ask for; the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        pages = sorted((_REPOSITORY / "docs").rglob("*.md"))
        text = "\n".join(one.read_text("utf-8") for one in pages)
        found = re.findall(r"[A-Z][^.|`\n]{40,200}\.", text)
        self._sentences = list(dict.fromkeys(found))
        self._chance = random.Random(seed)

    def item(self) -> NewItem:
        """Something that happened: no two are alike."""
        chance = self._chance
        words = f"{chance.choice(self._sentences)} {chance.choice(self._sentences)}".split()
        chance.shuffle(words)
        name = f"src/part_{chance.randrange(200)}/file_{chance.randrange(20)}.py"
        said = f"{name}:{chance.randrange(900)} failed in run {chance.randrange(10**9)}: "
        tag = chance.choice(("error", "fix", "decision", "runlog"))
        return NewItem(said + " ".join(words[:25]), (tag,), "pytest", name)

    def question(self) -> str:
        """Eight words of a sentence."""
        words = self._chance.choice(self._sentences).split()
        return " ".join(words[:8])


async def retrieval_load(load: Load, scratch: Path) -> list[Figure]:
    """What the load came to."""
    memory = scratch / "memory.db"
    if not memory.exists():
        await fill(memory, load.items)
    code = CodeRetrievers(scratch / "home" / "code", embedder_named(DEFAULT_EMBEDDER))
    await code.of(str(_project())).sync()
    environment = {**os.environ, "DCF_HOME": str(scratch / "home"), "MEM_PATH": str(memory)}
    served = [sys.executable, "-m", "dcf.cli", "retrieval", "serve", "--port", "0"]
    served += ["--processes", str(load.processes), "--root"]
    with (scratch / "requests.log").open("wb") as log:
        server = await asyncio.create_subprocess_exec(
            *served, str(_project()), stdout=asyncio.subprocess.PIPE, stderr=log, env=environment
        )
    try:
        assert server.stdout is not None
        port = json.loads(await server.stdout.readline())["port"]
        await _clients(port, Load(1, 1, 0, 0.0, 0.0, 0.0))
        family = [server.pid, *_children(server.pid)]
        before = [*map(_processor_s, family)]
        began = time.perf_counter()
        watching = asyncio.create_task(_watched(family, load.seconds))
        seen, client_s = await _clients(port, load)
        took = time.perf_counter() - began
        used = [after - one for one, after in zip(before, map(_processor_s, family), strict=True)]
        resident = [*await watching, sum(map(_resident, family))]
        unmeant = _unmeant(memory)
    finally:
        server.terminate()
        await server.wait()
    figures = [figure for route in (LOG, CONTEXT) for figure in _of_route(route, seen[route], took)]
    answers = sum(len(one.took_ms) for one in seen.values())
    mebi = 1024 * 1024
    return [
        *figures,
        Figure("processor time of the server", sum(used), "s", note=_listed(used)),
        Figure("processor time of the server, for each request", 1e3 * sum(used) / answers, "ms"),
        Figure("processor time of the clients", client_s, "s"),
        *(
            Figure(f"memory of the server {when}", size / mebi, "MiB")
            for when, size in zip(_WHEN, resident, strict=True)
        ),
        Figure("items at the end that are not found by their meaning yet", unmeant, ""),
    ]


async def _watched(family: Sequence[int], seconds: float) -> list[int]:
    """Bytes of memory that processes have at the start, and after each quarter but the last."""
    found = [sum(map(_resident, family))]
    for _ in _WHEN[1:-1]:
        await asyncio.sleep(seconds / (len(_WHEN) - 1))
        found.append(sum(map(_resident, family)))
    return found


def _unmeant(memory: Path) -> int:
    """Items that are not embedded yet."""
    with closing(sqlite3.connect(memory)) as connection:
        row = connection.execute("SELECT version - embedded FROM search_state").fetchone()
    return int(row[0])


def _listed(used: Sequence[float]) -> str:
    """What each process used; the first one listens."""
    return ", ".join(f"{one:.1f}" for one in used)


async def fill(path: Path, count: int) -> None:
    """Make a memory with so many items, all embedded."""
    sayings = Sayings(0)
    async with Memory.open(Source(path), clock=_now_ms, new_id=random_id) as memory:
        items = SqliteItems(memory, SYSTEM)
        for start in range(0, count, _AT_ONCE):
            some = [sayings.item() for _ in range(min(_AT_ONCE, count - start))]
            await asyncio.gather(*(items.remember(str(_project()), one) for one in some))
        await memory.search.catch_up()


def _of_route(route: str, tally: Tally, took: float) -> Iterator[Figure]:
    yield Figure(f"{route}: answers", len(tally.took_ms) / took, "/s")
    for share in (0.5, 0.95, 0.99):
        name = f"{route}: p{100 * share:.0f}"
        yield Figure(name, quantile(tally.took_ms, share) if tally.took_ms else 0.0, "ms")
    yield Figure(f"{route}: errors", tally.errors.total(), "", note="; ".join(tally.errors))


async def _clients(port: int, load: Load) -> tuple[dict[str, Tally], float]:
    """What the clients saw, in a process of their own, and its processor time in seconds."""
    command = [sys.executable, "-m", "benchmarks.retrieval_load", "--as-clients", str(port)]
    process = await asyncio.create_subprocess_exec(
        *command, json.dumps(asdict(load)), stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    if process.returncode:
        raise RuntimeError("the clients failed; their message is above")
    answer = json.loads(said)
    seen = {
        route: Tally(one["took_ms"], Counter(one["errors"]))
        for route, one in answer["seen"].items()
    }
    return seen, answer["processor_s"]


async def _ask_all(port: int, load: Load) -> dict[str, Tally]:
    seen = {LOG: Tally(), CONTEXT: Tally()}
    if not load.seconds:
        await _client(port, CONTEXT, seen[CONTEXT], 0.0, 1, most=_WARM)
        return seen
    logging = load.clients - load.asking
    kinds = [(LOG, logging, load.log_rate), (CONTEXT, load.asking, load.ask_rate)]
    await asyncio.gather(
        *(
            _client(
                port, route, seen[route], many / rate if rate else 0.0, number, until=load.seconds
            )
            for route, many, rate in kinds
            for number in range(many)
        )
    )
    return seen


async def _client(
    port: int,
    route: str,
    tally: Tally,
    pause_s: float,
    number: int,
    *,
    until: float = float("inf"),
    most: int = sys.maxsize,
) -> None:
    """One client: a request every ``pause_s``, over one connection, for ``until`` seconds and
    ``most`` requests."""
    sayings = Sayings(1 + number + (10_000 if route == LOG else 0))
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    began = time.perf_counter()
    # Not all at once.
    due = began + random.Random(number).random() * pause_s
    while most > 0 and (due if pause_s else time.perf_counter()) - began < until:
        most -= 1
        await asyncio.sleep(max(due - time.perf_counter(), 0.0))
        due = due if pause_s else time.perf_counter()
        status, body = await _post(reader, writer, route, _body(route, sayings))
        if status == b"200":
            tally.took_ms.append(1e3 * (time.perf_counter() - due))
        else:
            tally.errors[f"{status.decode()} {body[:200].decode()}"] += 1
        due += pause_s
    writer.close()


def _body(route: str, sayings: Sayings) -> bytes:
    if route == CONTEXT:
        return json.dumps({"query": sayings.question(), "limit": 10}).encode()
    item = sayings.item()
    body = {"text": item.text, "tags": item.tags, "source": item.source, "filePath": item.file_path}
    return json.dumps(body).encode()


async def _post(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, route: str, body: bytes
) -> tuple[bytes, bytes]:
    """Status and body. Bare streams: a library for clients takes more time than the service."""
    head = f"POST {route} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    answer = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", answer, re.IGNORECASE)
    assert length is not None
    return answer.split(b" ", 2)[1], await reader.readexactly(int(length[1]))


def _project() -> Path:
    """The folder whose code is searched: that of ``dcf`` itself."""
    return _REPOSITORY / "dcf"


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _children(pid: int) -> list[int]:
    """Those that live: the processes of the service, and no others."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    return [int(one) for one in found]


def _processor_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident(pid: int) -> int:
    """Bytes of memory that a process has."""
    pages = Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _as_clients(port: str, load: str) -> None:
    """The process of the clients itself: what they saw goes to stdout."""
    seen = asyncio.run(_ask_all(int(port), Load(**json.loads(load))))
    answer = {route: asdict(one) for route, one in seen.items()}
    print(json.dumps({"seen": answer, "processor_s": time.process_time()}))


def main(arguments: Sequence[str] | None = None) -> None:
    if sys.argv[1:2] == ["--as-clients"]:
        _as_clients(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.retrieval_load", description=__doc__
    )
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--asking", type=int, default=5, help="of the clients; the others log")
    parser.add_argument("--items", type=int, default=100_000, help="logged before")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--log-rate", type=float, default=1_050.0, help="a second; 0: no limit")
    parser.add_argument("--ask-rate", type=float, default=10.0, help="a second; 0: no limit")
    parser.add_argument("--processes", type=int, default=1, help="of the service")
    parser.add_argument(
        "--folder", type=Path, help="keep the memory there; one that is there is used as it is"
    )
    given = parser.parse_args(arguments)
    rates = given.log_rate, given.ask_rate
    seconds = 60 * given.minutes
    load = Load(given.clients, given.asking, given.items, seconds, *rates, given.processes)
    with tempfile.TemporaryDirectory(prefix="dcf-bench-") as folder:
        scratch = given.folder or Path(folder)
        scratch.mkdir(parents=True, exist_ok=True)
        for figure in asyncio.run(retrieval_load(load, scratch)):
            print(f"{figure.name:50} {figure.value:12.2f} {figure.unit} {figure.note}")


if __name__ == "__main__":
    main()
