"""Runs whose JSONata an earlier version evaluates: their results would change under way."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from control_plane import (
    EXPRESSION_PROTOCOL,
    JSON,
    LANGUAGE_PROTOCOL,
    MissingBlob,
    RunDocument,
    Store,
    keys,
    run_lists,
)
from dcf.workflow.errors import EarlierRuns

_SHOWN = 10


def speaks_jsonata(definition: JSON) -> bool:
    """Whether a machine may have states that speak JSONata: a word in vain keeps it from a worker
    that could run it, one that is missed has it end in another way."""
    return "JSONata" in json.dumps(definition)


async def refuse_earlier_runs(store: Store) -> None:
    """Raises EarlierRuns while there are such runs."""
    if names := [name async for name in earlier_runs(store)]:
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        raise EarlierRuns(
            "an earlier version began runs whose JSONata this one evaluates in another way: "
            f"{', '.join(names[:_SHOWN])}{more}"
        )


async def refuse_earlier_run(store: Store, workflow_id: str) -> None:
    """Raises EarlierRuns where this is one."""
    if await is_earlier_jsonata(store, await store.run(workflow_id)):
        raise EarlierRuns(
            f"an earlier version began run {workflow_id}, whose JSONata this one evaluates in "
            "another way"
        )


async def earlier_runs(store: Store) -> AsyncIterator[str]:
    """The ids of open runs that speak JSONata and were submitted by an earlier version."""
    known: dict[str, bool] = {}
    for status in ("pending", "running"):
        async for page, _ in run_lists.pages_by_score(store.backend, keys.runs(status), "-inf"):
            for run in await store.run_many(page):
                if not run.is_over and await is_earlier_jsonata(store, run, known):
                    yield run.workflow_id


async def is_earlier_jsonata(
    store: Store, run: RunDocument, known: dict[str, bool] | None = None
) -> bool:
    """Whether ``run`` is one; ``known`` keeps which definitions speak JSONata."""
    if not LANGUAGE_PROTOCOL <= run.protocol < EXPRESSION_PROTOCOL:
        return False
    known = {} if known is None else known
    if run.definition not in known:
        try:
            found = await store.value(run.workflow_id, {"$blob": run.definition})
        except MissingBlob:  # not submitted to its end: nothing of it runs
            return False
        known[run.definition] = speaks_jsonata(found["asl"])
    return known[run.definition]
