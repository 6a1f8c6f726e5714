"""What must hold once everything is quiet again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from control_plane import Store
from dcf.workflow import explain
from tests.chaos.effects import Ledger
from tests.chaos.machines import Order


@dataclass(slots=True)
class Verdict:
    """``broken`` are sentences, by the guarantee that does not hold."""

    runs: Counter[str] = field(default_factory=Counter)
    turns: Counter[str] = field(default_factory=Counter)
    tasks: int = 0
    attempts: int = 0
    broken: dict[str, list[str]] = field(default_factory=dict)

    def add(self, guarantee: str, sentence: str) -> None:
        self.broken.setdefault(guarantee, []).append(sentence)

    def to_json(self) -> dict[str, Any]:
        return {
            "runs": dict(self.runs),
            "turns of agents": dict(self.turns),
            "tasks": self.tasks,
            "attempts": self.attempts,
            "broken": self.broken,
        }


async def judge(store: Store, orders: Sequence[Order], ledger: Ledger) -> Verdict:
    """Compare what the control plane says with what was done."""
    verdict = Verdict(attempts=ledger.attempts())
    effects = ledger.effects()
    by_task: Counter[tuple[str, str]] = Counter()
    for key in effects:
        run, rest = key.split("/", 1)
        by_task[run, rest.rsplit("/", 2)[0]] += 1
    for order in orders:
        await _judge_run(store, order, by_task, verdict)
    known = {(order.id, path) for order in orders for path in order.effects}
    for run, path in by_task.keys() - known:
        verdict.add("no effect of nobody", f"{path} of {run} took effect, and is no Task of it")
    return verdict


async def _judge_run(
    store: Store, order: Order, by_task: Mapping[tuple[str, str], int], verdict: Verdict
) -> None:
    run = await store.run(order.id)
    verdict.runs[run.status if order.poison is None else f"poison {run.status}"] += 1
    if not run.is_over:
        said = await explain(store, order.id)
        verdict.add("every run ends", f"{order.id} is {run.status}: {said.summary}")
        return
    if order.poison is not None:
        if run.error is None or run.error.error != "DCF.WorkerLost":
            verdict.add("poison is stopped", f"{order.id} ended as {run.status}: {run.error}")
        return
    if run.status != "succeeded":
        verdict.add("nothing innocent fails", f"{order.id}: {run.error} at {run.exit}")
    documents = await store.states(order.id, await store.paths(order.id))
    for path, document in documents.items():
        if document.holder is not None:
            verdict.add("no lease is left", f"{path} of {order.id} is held by {document.holder}")
    for path in order.effects:
        verdict.tasks += 1
        times = by_task.get((order.id, path), 0)
        if times > 1:
            verdict.add("no effect is doubled", f"{path} of {order.id} took effect {times} times")
        elif times == 0 and run.status == "succeeded":
            verdict.add("no effect is lost", f"{path} of {order.id} never took effect")


def left_processes(home: Path) -> list[str]:
    """The processes that still have ``home`` in their environment, but this one's own server."""
    found = []
    mark = f"DCF_HOME={home}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0"):
                words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                found.append(f"{process.name}: {words[:120]}")
        except OSError:
            continue
    return found
