"""``dcf explain``."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from control_plane import (
    Outbox,
    OutboxLag,
    Refused,
    RunDocument,
    Store,
    UnknownRun,
    check_run,
    damage_is_told,
)
from control_plane.embedded import Address
from dcf.cli.answer import Answer
from dcf.cli.board_table import status_text
from dcf.cli.failure_hint import run_hint
from dcf.cli.redis_access import find_redis_soon, open_store
from dcf.cli.run_files import file_meant, shelved
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings, graph_mode
from dcf.cli.trouble import NotSo
from dcf.cli.wording import counted
from dcf.workflow import Explanation, count, explain, reading_file


async def explain_run(workflow_id: str, settings: Settings, screen: Screen) -> Answer:
    """Why the run stands where it stands, also one in a file; or the session, or the task that has
    no run yet."""
    file = await file_meant(workflow_id, settings, screen)
    if file is not None:
        store, workflow_id = await shelved(file)
        with reading_file(workflow_id):
            return await _of_file(store, await store.run(workflow_id), settings, file)
    address = await find_redis_soon(settings, screen)
    async with open_store(address, patient=False) as store, damage_is_told(store, workflow_id):
        try:
            run = await store.run(workflow_id)
        except UnknownRun:
            other = await _in_sessions(store, workflow_id, settings, address)
            if other is None:
                raise
            return other
        if run.removing:
            hint = f"`dcf runs remove {workflow_id}` goes on with it"
            message = f"run {workflow_id} is being removed: parts of it are gone already"
            raise NotSo("run_removing", message, hint)
        # What was damaged is why it does not move, or why nobody knows what it came to.
        await check_run(store, workflow_id)
        task = await _task(store, run)
        pool = run.pool
    async with (
        open_store(address, pool=pool, patient=False) as store,
        damage_is_told(store, workflow_id),
    ):
        return await _explain(store, run, settings, task)


async def _explain(
    store: Store,
    run: RunDocument,
    settings: Settings,
    task: dict[str, Any],
) -> Answer:
    found = await explain(store, run.workflow_id)
    waits = run.outbox == "waiting" and graph_mode(settings.env) != "off"
    lag = await Outbox(store.backend).lag() if waits else None
    notes = [*_refusal(found.refused, run), *_waiting(lag), *_of_session(task)]
    fields = {**found.to_json(), **task}
    title = (
        "who reads its pool cannot be known while Redis refuses writes"
        if found.workers is None
        else f"{counted(found.workers, 'worker reads', 'workers read')} its pool"
    )
    return await _answer(store, run, settings, found, fields, notes, title)


async def _of_file(store: Store, run: RunDocument, settings: Settings, file: Path) -> Answer:
    """The same of a run in a file, of which no worker, outbox or session knows."""
    found = await explain(store, run.workflow_id)
    back = f"dcf runs restore {shlex.quote(str(file))}"
    reasons = [
        replace(reason, command=f"{back} && {reason.command}") if reason.command else reason
        for reason in found.reasons
    ]
    found = replace(found, reasons=reasons)
    fields = {**found.to_json(), "workers": None}
    return await _answer(store, run, settings, found, fields, [], f"as of {file}")


async def _answer(
    store: Store,
    run: RunDocument,
    settings: Settings,
    found: Explanation,
    fields: dict[str, Any],
    notes: Sequence[Text],
    title: str,
) -> Answer:
    """The answer for a run in Redis or in a file; ``notes`` are lines that only one of them has."""
    cost = (await count(store, run.workflow_id)).cost
    # What was read of a run that is gone by now may be a part of it.
    await store.run_status(run.workflow_id)
    hint = run_hint(run.error.error, settings.objects) if run.error else ""
    fields |= {"graph": run.outbox, "cost": cost, "run_status": fields.pop("status"), "hint": hint}
    summary = Text.assemble(status_text(found.status), f"  {run.workflow_id}: {found.summary}")
    hints = [Text(f"hint: {hint}")] if hint else []
    return Answer(fields, [summary, *_cost(cost), *notes, *_table(found, title), *hints])


async def _in_sessions(
    store: Store, wanted: str, settings: Settings, address: Address
) -> Answer | None:
    # Sessions bring agents with them, which runs do without.
    from dcf.cli.session.explaining import explain_in_sessions

    return await explain_in_sessions(store, wanted, settings, address)


async def _task(store: Store, run: RunDocument) -> dict[str, Any]:
    """What the session says of the run, where it is the work of a task of one."""
    if not run.raw.get("pins"):
        return {}
    from dcf.cli.session.explaining import task_of_run

    found = await task_of_run(store, run)
    if found is None:
        return {}
    session_id, task = found
    return {
        "session_id": session_id,
        "task_status": task.status,
        "task_error": task.error,
        "companion_id": task.companion_id,
    }


def _of_session(task: Mapping[str, Any]) -> list[Text]:
    if not task:
        return []
    by = f", {task['companion_id']} has it" if task["companion_id"] else ""
    error = task["task_error"]
    why = f" ({error['code']}: {error['message']})" if error else ""
    return [Text(f"task of session {task['session_id']}: {task['task_status']}{why}{by}")]


def _refusal(refused: Refused | None, run: RunDocument) -> list[Text]:
    """That nothing can move because Redis takes no writes."""
    if refused is None:
        return []
    then = "" if run.is_over else "; the run waits, and goes on by itself when it ends"
    return [Text(f"{refused.sentence}{then}"), Text(f"hint: {refused.hint}")]


def _waiting(lag: OutboxLag | None) -> list[Text]:
    """That the graph does not know of this end of the run yet."""
    if lag is None:
        return []
    others = counted(lag.runs, "run waits", "runs wait")
    return [Text(f"not in the graph yet: {others} in all; `dcf graph sync` writes them")]


def _cost(cost: Mapping[str, float]) -> list[Text]:
    """What models were asked for, in one line; nothing where they were not."""
    requests = int(cost["total_llm_calls"])
    if not requests:
        return []
    asked = counted(requests, "request to models", "requests to models")
    tokens = f"{int(cost['total_tokens']):,} tokens"
    return [Text(f"{asked}, {tokens}, ${cost['total_cost_usd']:.6f} as far as prices are known")]


def _table(found: Explanation, title: str) -> list[Table]:
    if not found.reasons:
        return []
    table = Table(title=Text(title), title_justify="left")
    for heading in ("state", "status", "why", "what would help"):
        table.add_column(heading, overflow="fold")
    for reason in found.reasons:
        table.add_row(
            Text(reason.path), status_text(reason.status), Text(reason.why), reason.command or ""
        )
    return [table]
