"""How long a reflection on many outcomes takes: ``python -m benchmarks.reflection``."""

from __future__ import annotations

import time
from collections.abc import Iterator
from random import Random

from rich.console import Console
from rich.table import Table

from dcf.advisors import Collector, html_of, report_of
from dcf.advisors.reflector.insights import insights_of
from dcf.advisors.reflector.reflecting import Reflection
from dcf.guidelines import Rules
from dcf.knowledge import Outcome

SIZES = (12_500, 25_000, 50_000)
STEP_MS = 10_000


def outcomes(n: int) -> Iterator[Outcome]:
    """Runs of five tasks each; twenty types of task, three versions each, one failure in seven."""
    random = Random(1)
    for number in range(n):
        ok = random.random() < 6 / 7
        ended, took = number * STEP_MS, random.randrange(100, 60_000)
        run, step = divmod(number, 5)
        kind = number % 20
        cause = f"order {random.randrange(10**6)} did not answer within {random.randrange(99)} s"
        yield Outcome(
            run=f"run-{run}", workflow_id=f"run-{run}", workflow_name=f"workflow-{run % 7}",
            path=f"Step{step}", state=f"Step{step}", visit=1, tries=1 + (random.random() < 0.1),
            task_type=f"task-{kind}", skills=(f"skill.work.task{kind}@1.{random.randrange(3)}.0",),
            agent=None, status="done" if ok else "failed", error=None if ok else "Work.Failed",
            cause=None if ok else cause, started_at=ended - took, ended_at=ended,
            duration_ms=took, cost_usd=random.random(), tier=random.randrange(3), fcs=20.0,
        )  # fmt: skip


def measure(n: int) -> tuple[float, float, float]:
    """Seconds of processor time to take ``n`` outcomes in, to analyse them, to write the report."""
    ended = list(outcomes(n))
    now = n * STEP_MS
    start = time.process_time()
    collector = Collector(now // 2)
    for one in ended:
        collector.add(one)
    taken = time.process_time()
    analysis = collector.analysis(now)
    insights = insights_of(analysis, (), now, Rules())
    found = time.process_time()
    html_of(report_of(Reflection(analysis, insights, (), (), (), None, (), ())))
    return taken - start, found - taken, time.process_time() - found


def main() -> None:
    """Measure and print."""
    shown = Table(
        "outcomes",
        "taken in",
        "analysed",
        "report",
        "s per 1,000",
        title="Reflection, processor time",
    )
    for n in SIZES:
        parts = measure(n)
        seconds = (f"{part:.2f} s" for part in parts)
        shown.add_row(f"{n:,}", *seconds, f"{sum(parts) / n * 1_000:.3f}")
    Console().print(shown)


if __name__ == "__main__":
    main()
