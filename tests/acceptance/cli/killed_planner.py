"""``dcf`` that is killed (SIGKILL) the moment it has done one thing.

``python killed_planner.py POINT ARGUMENTS…``, where POINT is the status of a planning that was just
saved, or ``submitted``: its run was just handed over.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import dcf.cli.run
from dcf.cli import main
from dcf.planner import Planning, PlanningStore


def _kill_at(point: str) -> None:
    save, submit = PlanningStore.save, dcf.cli.run.submit

    def saving(store: PlanningStore, planning: Planning) -> Planning:
        kept = save(store, planning)
        if kept.status == point:
            os.kill(os.getpid(), signal.SIGKILL)
        return kept

    async def submitting(*arguments: Any, **more: Any) -> bool:
        new = await submit(*arguments, **more)
        if point == "submitted":
            os.kill(os.getpid(), signal.SIGKILL)
        return new

    PlanningStore.save = saving  # type: ignore[method-assign]
    dcf.cli.run.submit = submitting


if __name__ == "__main__":
    _kill_at(sys.argv.pop(1))
    main()
