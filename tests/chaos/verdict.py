"""What must hold once everything is quiet again, and whether it does."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from control_plane import CorruptHistory, RunDocument, Store, UnknownRun, history
from dcf.workflow import explain
from tests.chaos.effects import Ledger
from tests.chaos.machines import Order
from tests.chaos.poison import problem_of


class Guarantee(StrEnum):
    """What DCF guarantees, as the report names it."""

    NO_RUN_IS_LOST = "no run is lost"
    EVERY_RUN_ENDS = "every run ends"
    NOTHING_INNOCENT_FAILS = "nothing innocent fails"
    POISON_IS_STOPPED = "poison is stopped at its limit"
    HISTORIES_ARE_WHOLE = "histories are whole"
    NO_LEASE_IS_LEFT = "no lease is left"
    NO_EFFECT_IS_LOST = "no effect is lost"
    NO_EFFECT_IS_DOUBLED = "no effect is doubled"
    NO_EFFECT_OF_NOBODY = "no effect of nobody"
    THE_MEMORY_IS_WHOLE = "the memory is whole"
    MEMORY_AND_STATE_AGREE = "memory and state agree"
    TURNS_DO_NOT_OVERLAP = "turns do not overlap"
    TURNS_ARE_FENCED = "turns are fenced"
    NO_TURN_FAILS = "no turn fails"
    NO_TURN_IS_LEFT = "no turn is left"
    WORKERS_END = "workers end"
    NO_PROCESS_IS_LEFT = "no process is left"


@dataclass(slots=True)
class Verdict:
    """``tested`` counts how often each guarantee was looked at. ``broken`` are sentences, by the
    guarantee that does not hold."""

    runs: Counter[str] = field(default_factory=Counter)
    turns: Counter[str] = field(default_factory=Counter)
    tasks: int = 0
    attempts: int = 0
    tested: Counter[Guarantee] = field(default_factory=Counter)
    broken: dict[Guarantee, list[str]] = field(default_factory=dict)

    def look(self, guarantee: Guarantee, holds: bool, otherwise: str) -> None:
        """Count one look at ``guarantee``; ``otherwise`` says what is wrong where it does not
        hold."""
        self.tested[guarantee] += 1
        if not holds:
            self.broken.setdefault(guarantee, []).append(otherwise)

    def says(self, guarantee: Guarantee) -> str:
        """``held``, ``violated`` or ``not tested``."""
        if guarantee in self.broken:
            return "violated"
        return "held" if self.tested[guarantee] else "not tested"

    def to_json(self) -> dict[str, Any]:
        return {
            "runs": dict(self.runs),
            "turns of agents": dict(self.turns),
            "tasks": self.tasks,
            "attempts": self.attempts,
            "guarantees": {
                guarantee: {"verdict": self.says(guarantee), "looks": self.tested[guarantee]}
                for guarantee in Guarantee
            },
            "broken": self.broken,
        }


async def judge(store: Store, orders: Sequence[Order], ledger: Ledger) -> Verdict:
    """Compare what the control plane says with what was done."""
    verdict = Verdict(attempts=ledger.attempts())
    by_task: Counter[tuple[str, str]] = Counter()
    for key in ledger.effects():
        run, rest = key.split("/", 1)
        by_task[run, rest.rsplit("/", 2)[0]] += 1
    for order in orders:
        await _judge_order(store, order, by_task, verdict)
    known = {(order.id, path) for order in orders for path in order.effects}
    for run, path in by_task:
        verdict.look(
            Guarantee.NO_EFFECT_OF_NOBODY,
            (run, path) in known,
            f"{path} of {run} took effect, and is no Task of it",
        )
    return verdict


async def _judge_order(
    store: Store, order: Order, by_task: Mapping[tuple[str, str], int], verdict: Verdict
) -> None:
    kind = "" if order.poison is None else "poison "
    try:
        run = await store.run(order.id)
    except UnknownRun:
        verdict.runs[f"{kind}lost"] += 1
        verdict.look(
            Guarantee.NO_RUN_IS_LOST, False, f"{order.id} was submitted, and there is no such run"
        )
        return
    verdict.runs[f"{kind}{run.status}"] += 1
    verdict.look(Guarantee.NO_RUN_IS_LOST, True, "")
    whole = await _judge_history(store, order, verdict)
    said = "" if run.is_over else f": {(await explain(store, order.id)).summary}"
    verdict.look(Guarantee.EVERY_RUN_ENDS, run.is_over, f"{order.id} is {run.status}{said}")
    if not run.is_over:
        return
    documents = await store.states(order.id, await store.paths(order.id))
    for path, document in documents.items():
        verdict.look(
            Guarantee.NO_LEASE_IS_LEFT,
            document.holder is None,
            f"{path} of {order.id} is held by {document.holder}",
        )
    if order.poison is None:
        _judge_innocent(run, order, by_task, verdict)
    elif whole:
        events = [entry.event async for entry in history.read(store, order.id)]
        problem = problem_of(run, order.poison, events)
        verdict.look(Guarantee.POISON_IS_STOPPED, not problem, f"{order.id} {problem}")


async def _judge_history(store: Store, order: Order, verdict: Verdict) -> bool:
    """Whether the history of the run is whole."""
    problem = ""
    try:
        await history.seal(store, order.id)
    except CorruptHistory as error:
        problem = str(error)
    verdict.look(Guarantee.HISTORIES_ARE_WHOLE, not problem, problem)
    return not problem


def _judge_innocent(
    run: RunDocument, order: Order, by_task: Mapping[tuple[str, str], int], verdict: Verdict
) -> None:
    succeeded = run.status == "succeeded"
    verdict.look(
        Guarantee.NOTHING_INNOCENT_FAILS,
        succeeded,
        f"{order.id} ended as {run.status}: {run.error} at {run.exit}",
    )
    for path in order.effects:
        verdict.tasks += 1
        times = by_task.get((order.id, path), 0)
        verdict.look(
            Guarantee.NO_EFFECT_IS_DOUBLED,
            times <= 1,
            f"{path} of {order.id} took effect {times} times",
        )
        if succeeded:
            verdict.look(
                Guarantee.NO_EFFECT_IS_LOST, times > 0, f"{path} of {order.id} never took effect"
            )


def left_processes(home: Path) -> list[str]:
    """The processes that still have ``home`` in their environment, but this one's own server."""
    found = []
    for process in _processes_of(home):
        with suppress(OSError):
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            found.append(f"{process.name}: {words[:120]}")
    return found


async def kill_left_processes(home: Path) -> None:
    """Such as solo processes whose workers were killed. Returns when they are gone, so that nobody
    writes to ``home`` any more."""
    while left := _processes_of(home):
        for process in left:
            with suppress(ProcessLookupError):
                os.kill(int(process.name), signal.SIGKILL)
        await asyncio.sleep(0.05)


def _processes_of(home: Path) -> list[Path]:
    found = []
    mark = f"DCF_HOME={home}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in (process / "environ").read_bytes().split(b"\0"):
                found.append(process)
    return found
