"""``python -m tests.chaos [--minutes 5] [--seed N] [--json FILE]``; --help lists the flags."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TextIO, cast

from rich.console import Console

from control_plane import ControlPlaneError, RedisBackend, Store, UnknownRun
from dcf.workflow import document_of, submit
from tests.chaos.agents import judge_turns, make_keeper, thinking
from tests.chaos.deployment import Crew
from tests.chaos.effects import CLOCK, LEDGER, Clock, Ledger
from tests.chaos.faults import Faults, kinds_of_faults
from tests.chaos.machines import Order, make_order
from tests.chaos.network import Network
from tests.chaos.options import options
from tests.chaos.report import INTERRUPTED, outcome, report_of, table
from tests.chaos.server import Disk, RedisServer
from tests.chaos.stderr import Stderr
from tests.chaos.verdict import Guarantee, Verdict, judge, kill_left_processes, left_processes

_ROOT = Path(__file__).parents[2]
_LEASE_S = 2.0
_OPEN_AT_MOST = 40
_SUBMIT_EACH_S = 0.5
# So long may pass until the next run ends. A busy machine starts a process in ten seconds, and each
# suspect has one.
_QUIET_S = 180.0
_DRAIN_S = 30.0


async def chaos(args: argparse.Namespace, show: Console) -> dict[str, Any]:
    """Let it happen; the report."""
    rng = random.Random(args.seed)
    with tempfile.TemporaryDirectory(prefix="dcf-chaos-", dir="/tmp") as folder:
        # What must not fail with the rest is outside of the home, whose disk gets full.
        outside, home = Path(folder), Path(folder) / "home"
        async with AsyncExitStack() as stack:
            disk = stack.enter_context(Disk.made(home))
            stack.push_async_callback(kill_left_processes, home)
            ledger = Ledger(outside / "ledger.db")
            server = RedisServer(home)
            stack.push_async_callback(server.close)
            await server.open()
            await make_keeper(home)
            network = Network(outside / "n.sock", lambda: server.socket)
            await network.open()
            stack.push_async_callback(network.close)
            clock = Clock(outside / "clock")
            clock.change(0.0)
            models = await stack.enter_async_context(thinking(random.Random(rng.getrandbits(64))))
            env = {
                "DCF_HOME": str(home),
                "DCF_REDIS_URL": f"unix://{outside / 'n.sock'}",
                "DCF_GENERATED": str(home / "generated"),
                "PYTHONPATH": str(_ROOT),
                LEDGER: str(ledger.file),
                CLOCK: str(clock.file),
                **models,
            }
            crew = Crew(args.workers, env, outside, _LEASE_S)
            kinds = kinds_of_faults(server, crew, network, disk, clock, rng, _LEASE_S)
            faults = Faults(kinds, rng, each_s=args.each)
            workers_log = outside / "workers.log"
            if args.keep:
                stack.callback(lambda: shutil.copy(workers_log, args.keep))
            log = stack.enter_context(workers_log.open("w"))
            crew.open(log)
            # Those of an interrupted campaign are not waited for.
            stack.push_async_callback(crew.close, 0.0)
            verdict, interrupted = Verdict(), False
            try:
                orders, late = await _turmoil(args, show, server, faults, crew, rng)
                verdict = await _judged(home, server, orders, ledger)
                verdict.look(
                    Guarantee.WORKERS_END, not late, f"{late} did not end within {_DRAIN_S:.0f} s"
                )
            except asyncio.CancelledError:
                interrupted = True
            refused = await server.refusals()
            return report_of(
                args.seed, args.minutes, faults, refused, crew, verdict, interrupted=interrupted
            )


async def _judged(home: Path, server: RedisServer, orders: list[Order], ledger: Ledger) -> Verdict:
    backend = RedisBackend.from_url(f"unix://{server.socket}")
    try:
        store = Store(backend)
        verdict = await judge(store, orders, ledger)
        await judge_turns(home, store, orders, verdict)
    finally:
        await backend.close()
    left = left_processes(home)
    verdict.look(Guarantee.NO_PROCESS_IS_LEFT, not left, "; ".join(left))
    return verdict


async def _turmoil(
    args: argparse.Namespace,
    show: Console,
    server: RedisServer,
    faults: Faults,
    crew: Crew,
    rng: random.Random,
) -> tuple[list[Order], int]:
    """Submit runs while faults happen, then wait until all have ended, and drain the workers."""
    traffic = _Traffic(server, random.Random(rng.getrandbits(64)), args.poison)
    async with asyncio.TaskGroup() as group:
        told = group.create_task(_tell(show, traffic.orders, faults, args.minutes * 60))
        submitting = group.create_task(traffic.flow())
        try:
            await faults.happen(args.minutes * 60)
        finally:
            # Before Python 3.12 a cancellation can be lost on its way (see dcf.stopping).
            traffic.is_over.set()
        await submitting
        told.cancel()
    left = await traffic.open_runs()
    show.print(f"quiet: waiting for the end of {left} runs …")
    ends = time.monotonic() + _QUIET_S
    while left and time.monotonic() < ends:
        await asyncio.sleep(0.5)
        if (still := await traffic.open_runs()) < left:
            left, ends = still, time.monotonic() + _QUIET_S
    return traffic.orders, await crew.close(_DRAIN_S)


class _Traffic:
    """One run after another, as long as not too many are open."""

    def __init__(self, server: RedisServer, rng: random.Random, poison: float) -> None:
        self._server = server
        self._rng = rng
        self._poison = poison
        self._open: list[Order] = []
        self.orders: list[Order] = []
        self.is_over = asyncio.Event()

    async def flow(self) -> None:
        """Submitting meets the faults of the server, and is said again with the same id, as users
        are told to."""
        while not self.is_over.is_set():
            await asyncio.sleep(_SUBMIT_EACH_S)
            if await self.open_runs() >= _OPEN_AT_MOST:
                continue
            order = make_order(len(self.orders), self._rng, self._poison)
            document = document_of(order.definition, name="chaos")
            async with self._runs() as runs:
                while True:
                    try:
                        await submit(runs, document, {}, workflow_id=order.id)
                        break
                    except ControlPlaneError:
                        await asyncio.sleep(0.3)
            self.orders.append(order)
            self._open.append(order)

    async def open_runs(self) -> int:
        """How many; what was known last while the server does not answer."""
        with suppress(ControlPlaneError):
            async with self._runs() as runs:
                for order in tuple(self._open):
                    # One that is lost is not waited for: the verdict tells it.
                    with suppress(UnknownRun):
                        if not (await runs.run(order.id)).is_over:
                            continue
                    self._open.remove(order)
        return len(self._open)

    @asynccontextmanager
    async def _runs(self) -> AsyncIterator[Store]:
        backend = RedisBackend.from_url(f"unix://{self._server.socket}")
        try:
            yield Store(backend)
        finally:
            await backend.close()


async def _tell(show: Console, orders: list[Order], faults: Faults, seconds: float) -> None:
    began = time.monotonic()
    while True:
        await asyncio.sleep(15)
        left = max(0.0, seconds - (time.monotonic() - began))
        counts = faults.happened.most_common()
        said = ", ".join(f"{count} {kind}" for kind, count in counts if count)
        show.print(f"{len(orders)} runs; {said or 'no fault yet'}; {left:.0f} s left")


async def _reported(args: argparse.Namespace, show: Console) -> dict[str, Any]:
    """The report, written to its file while signals are still heard: a second one, when the
    terminal's shell ends too, would end the process before that."""
    report = await chaos(args, show)
    if args.json:
        args.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return report


async def until_interrupted(campaign: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
    """Cancel ``campaign`` at the first signal that asks for its end. Later ones change nothing, so
    that what it has begun is cleaned up."""
    task = asyncio.create_task(campaign)
    asked = asyncio.Event()

    def ask() -> None:
        if not asked.is_set():
            asked.set()
            task.cancel()

    for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(sent, ask)
    return await task


def main() -> int:
    args = options()
    show = Console(file=cast(TextIO, Stderr(sys.stderr)))
    unit = "minute" if args.minutes == 1 else "minutes"
    show.print(f"{args.minutes:g} {unit} of faults, then about a minute until all runs have ended")
    try:
        report = asyncio.run(until_interrupted(_reported(args, show)))
    except asyncio.CancelledError:
        show.print("interrupted before the first fault")
        return INTERRUPTED
    show.print(table(report))
    for guarantee, sentences in report["broken"].items():
        show.print(f"[red]broken: {guarantee}: {len(sentences)} times")
        for sentence in sentences[:10]:
            show.print(f"  {sentence}", markup=False)
    code, said = outcome(report, poison=args.poison > 0)
    for line in said:
        show.print(line, markup=False)
    if code == 1:
        repeat = f"make chaos MINUTES={args.minutes:g} CHAOS_FLAGS='--seed {args.seed}'"
        show.print(f"To begin with the same choices: {repeat}")
    return code


if __name__ == "__main__":
    os.environ.pop("DCF_HOME", None)
    sys.exit(main())
