"""An approved planning is run, its results are kept with it, and something is learned of it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.text import Text

from control_plane import ControlPlaneError, UnknownRun
from dcf.cli.answer import Answer
from dcf.cli.exits import OK
from dcf.cli.planner.desk import PLANNER
from dcf.cli.planner.showing import answer_of, fields_of
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.run import RunOrder, run_workflow
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings, graph_mode
from dcf.knowledge import KnowledgeError
from dcf.planner import Planner, Planning

SINCE = "7d"


@dataclass(frozen=True, slots=True)
class RunWish:
    """How it is run; as the options of ``dcf run``."""

    workers: int
    lease_s: float
    runs: Path
    pool: str | None
    timeout_s: float | None
    reflect: bool


async def carry_out(
    planner: Planner, planning: Planning, wish: RunWish, settings: Settings, screen: Screen
) -> Answer:
    """Run what was approved to its end, or go on watching it; then reflect. Killed anywhere, it
    goes on with `--resume`: the run has the planning's id, and is never started twice."""
    is_there = planning.status == "running" and await _is_there(planning, settings, screen)
    planning, file = await planner.begin(planning.id, is_there=is_there)
    order = RunOrder(
        file,
        json.dumps(planning.input, ensure_ascii=False),
        planning.workflow_id,
        wish.workers,
        wish.lease_s,
        wish.runs,
        wish.pool,
        wish.timeout_s,
    )
    done = await run_workflow(order, settings, screen)
    trail = done.fields.get("audit_trail_path")
    if trail is None:
        # It goes on without us, or was never over: `--resume` watches it again.
        hint = f"`dcf plan --resume {planning.id}` watches it again"
        note = done.error and replace(done.error, hint=f"{hint}; {done.error.hint}")
        return replace(done, fields={**fields_of(planning), **done.fields}, error=note)
    ended = {
        "status": done.status,
        "output": done.fields.get("output"),
        "audit_trail_path": trail,
        "error": done.error.to_json() if done.error else None,
    }
    planning = planner.ended(planning, ended, _steps(planning, done))
    learned, said = await _learned(planner, planning, wish, settings, screen)
    fields = {**fields_of(learned), **done.fields}
    return replace(done, fields=fields, show=[*done.show, Text(said)])


def is_to_reflect(planning: Planning) -> bool:
    """Whether the run is over, and nothing was learned of it yet: whoever watched it was killed, or
    the graph was away."""
    learned = planning.reflection
    return planning.status == "ended" and (learned is None or learned["status"] == "failed")


async def reflect(
    planner: Planner, planning: Planning, wish: RunWish, settings: Settings, screen: Screen
) -> Answer:
    """Learn from a run that is over: the last step."""
    learned, said = await _learned(planner, planning, wish, settings, screen)
    done = answer_of(learned)
    return replace(done, show=[*done.show, Text(said)])


def _steps(planning: Planning, done: Answer) -> dict[int, str]:
    trail = done.fields["audit_trail_path"]
    result = "succeeded" if done.exit_code == OK else str(done.error and done.error.message)
    return {
        7: f"run {planning.workflow_id}",
        8: "by the workers of its pool",
        9: "its first state was ready at once",
        10: f"watched to its end: {done.status}",
        11: f"sealed as {done.status}",
        12: str(trail),
        13: result,
    }


async def _is_there(planning: Planning, settings: Settings, screen: Screen) -> bool:
    address = await find_redis(settings, screen)
    async with open_store(address) as store:
        try:
            await store.run(planning.workflow_id)
        except UnknownRun:
            return False
    return True


async def _learned(
    planner: Planner, planning: Planning, wish: RunWish, settings: Settings, screen: Screen
) -> tuple[Planning, str]:
    """The last step. That nothing could be learned is said, and takes nothing from the run."""
    from dcf.cli.reflect import Order, reflect_on_runs

    if not wish.reflect or graph_mode(settings.env) == "off":
        why = "not wanted" if not wish.reflect else "DCF_GRAPH is off"
        note = f"no reflection: {why}"
        return planner.reflected(planning, {"status": "skipped", "why": why}, note), note
    order = Order(planning.workflow_id, SINCE, None, None, PLANNER)
    try:
        found = await reflect_on_runs(order, settings, screen)
    except (KnowledgeError, ControlPlaneError) as away:
        note = f"no reflection: {away}"
        fields: dict[str, Any] = {"status": "failed", "why": str(away)}
        return planner.reflected(planning, fields, f"{note}; `dcf reflect` makes up for it"), note
    fields = {
        "status": "done",
        "outcomes": found.fields["outcomes"],
        "insights": len(found.fields["insights"]),
        "published": found.fields["published"],
        "revision": found.fields["revision"],
    }
    note = (
        f"Reflection over {SINCE}: {fields['outcomes']} outcomes, {fields['insights']} insights, "
        f"{len(fields['published'])} of them are guidelines (revision {fields['revision']})"
    )
    return planner.reflected(planning, fields, note), note
