"""``dcf memory scope context`` and ``access``: what an experiment is about, and who read of it."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC
from typing import Any

from rich.text import Text

from dcf.cli.answer import Answer
from dcf.cli.memory.given_text import given_text
from dcf.cli.memory.opening import now_ms, opened, person
from dcf.cli.memory.scope_nodes import demand_checkpoint, project_named
from dcf.cli.memory.wording import moment, one_line
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, NotSo
from dcf.cli.wording import counted
from dcf.memory import LOST_READS, TIME_EXAMPLES, ExperimentMemory, Reading, span_of
from dcf.problem import Problem


async def show_context(
    settings: Settings,
    project: str | None,
    checkpoint: str,
    *,
    seed: str | None,
    change: str | None,
) -> Answer:
    """What an experiment is about, seeded or changed first if that was asked for. Raises BadInput,
    NotSo, a MemoryProblem."""
    seeds, changes = _fields("--seed", seed), _fields("--change", change)
    by = person("told by `dcf memory scope context`")
    async with opened(settings, make=seeds is not None) as memory:
        where = project_named(settings, project)
        await demand_checkpoint(memory, where, checkpoint, settings)
        experiment = ExperimentMemory(memory, where, checkpoint, by=by, environment={})
        if seeds is not None:
            _demand(await experiment.seed_core_memory(context=seeds), "--change changes fields")
        if changes is not None:
            done = await experiment.change_experiment_context(changes)
            _demand(done, "--seed says it for the first time")
        context = await experiment.get_experiment_context()
    said = {name: value for name, value in context.items() if value not in ("", None)}
    shown = [
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in said.items()
    ]
    nothing = [f"{checkpoint} is not seeded; `--seed` says what it is about."]
    return Answer({"checkpoint": checkpoint, "context": context}, shown or nothing)


async def show_access(
    settings: Settings,
    node: str | None,
    *,
    since: str | None,
    by: str | None,
    limit: int,
    before: int | None,
) -> Answer:
    """Who read what from which node, the newest first. Raises BadInput, NotSo."""
    first = None
    if since is not None:
        span = span_of(since, now_ms(), UTC)
        if span is None:
            message = f"{since!r} is no time such as {TIME_EXAMPLES}"
            raise BadInput([Problem("CLI_TIME", message, file="--since")])
        first = span.first
    async with opened(settings) as memory:
        found = await memory.access.list(node=node, by=by, since=first, before=before, limit=limit)
    reads = [{**asdict(one), "entries": list(one.entries)} for one in found]
    end = counted(len(found), "read", "reads")
    next_before = found[-1].seq if len(found) == limit else None
    return Answer(
        {"reads": reads, "next_before": next_before},
        [*(_line(one) for one in found), Text(end, "dim")],
    )


def _fields(option: str, given: str | None) -> dict[str, Any] | None:
    """The JSON object that an option has. Raises BadInput."""
    if given is None:
        return None
    try:
        fields = json.loads(given_text(given))
    except ValueError as error:
        raise BadInput([Problem("CLI_JSON", f"it is no JSON: {error}", file=option)]) from error
    if not isinstance(fields, dict):
        message = f"it is {type(fields).__name__}, no object"
        hint = """as in '{"goal": "lower loss"}'"""
        raise BadInput([Problem("CLI_JSON", message, hint=hint, file=option)])
    return fields


def _demand(done: dict[str, Any], hint: str) -> None:
    if not done["ok"]:
        raise NotSo("memory_experiment_context", done["error"], hint)


def _line(one: Reading) -> Text:
    if one.operation == LOST_READS:
        lost = f"  {counted(one.count, 'read', 'reads')} could not be kept on record"
        return Text.assemble((moment(one.at), "dim"), lost)
    what = counted(one.count, "entry", "entries") if one.source else "nothing"
    source = f" of {one.source}" if one.source else ""
    where = f", in {one.node}" if one.node and one.node != one.source else ""
    reason = f" ({one_line(one.by.reason)})" if one.by.reason else ""
    return Text.assemble(
        (moment(one.at), "dim"),
        f"  {one.by.name} {_READ.get(one.operation, one.operation)} {what}{source}{where}",
        (reason, "dim"),
    )


_READ = {
    "search": "found",
    "count": "counted",
    "difference": "compared",
    "entries": "read",
    "own": "read",
    "entry": "read",
    "context": "was told",
    "tree": "saw the tree with",
    "backup": "took along",
    "audit": "compared the files of",
}
"""What the operations are called in a sentence."""
