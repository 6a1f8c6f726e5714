"""``dcf memory scope backup`` and ``restore``: checkpoints that go elsewhere."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from dcf.cli.answer import Answer
from dcf.cli.memory.opening import opened, person
from dcf.cli.memory.scope_nodes import CURRENT, project_named
from dcf.cli.memory.wording import size_text
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, listed
from dcf.cli.wording import counted
from dcf.memory import Memory
from dcf.problem import Problem

_NAMED = 10


async def back_up(
    settings: Settings, project: str | None, checkpoint: str | None, folder: Path
) -> Answer:
    """Write the snapshot of a checkpoint. Raises a MemoryProblem, BadInput."""
    where = project_named(settings, project)
    async with opened(settings) as memory:
        name = checkpoint or await _only_one(memory, where, settings)
        by = person("by `dcf memory scope backup`")
        done = await memory.snapshots.back_up(where, name, folder, by=by)
    size = done.file.stat().st_size
    what = _counted(done.nodes, done.entries)
    encrypted = ", encrypted with the key of the memory" if done.encrypted else ""
    show = [f"{done.file}: {name}, {what}, {size_text(size)}{encrypted}"]
    return Answer({**asdict(done), "file": str(done.file), "bytes": size}, show)


async def put_back(
    settings: Settings,
    project: str | None,
    folder: Path,
    *,
    checkpoint: str | None,
    what_is_whole: bool,
) -> Answer:
    """Restore the snapshot in a folder, or nothing of it. Raises a MemoryProblem."""
    where = project_named(settings, project)
    by = person("told by `dcf memory scope restore`")
    async with opened(settings, make=True) as memory:
        done = await memory.snapshots.restore(
            folder, where, by=by, checkpoint=checkpoint, what_is_whole=what_is_whole
        )
    what = _counted(done.nodes, done.entries)
    show = [*listed(done.damage)]
    if done.is_new:
        show.append(f"{done.checkpoint} is restored: {what}.")
    else:
        show.append(f"{done.checkpoint} is there already, and the same: {what}.")
    if done.has_new_ids:
        show.append("Ids are new: others in this memory have those of the snapshot.")
    return Answer({**asdict(done), "damage": [one.to_dict() for one in done.damage]}, show)


async def _only_one(memory: Memory, project: str, settings: Settings) -> str:
    """The checkpoint of the node in which this program works, or the only one. Raises BadInput."""
    current = settings.env.get(CURRENT, "").partition("/")[0]
    if current:
        return current
    known = await memory.snapshots.checkpoints(project)
    if len(known) != 1:
        names = ", ".join(known[:_NAMED]) or "none; `dcf memory scope add` makes one"
        message = f"{project} has {counted(len(known), 'checkpoint', 'checkpoints')}"
        hint = f"name one; there are: {names}" if known else f"there is {names}"
        raise BadInput([Problem("CLI_CHECKPOINT", message, hint=hint, file="--checkpoint")])
    return known[0]


def _counted(nodes: int, entries: int) -> str:
    return f"{counted(nodes, 'node', 'nodes')} with {counted(entries, 'entry', 'entries')}"
