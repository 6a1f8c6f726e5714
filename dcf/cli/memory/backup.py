"""``dcf memory backup`` and ``restore``: a copy of everything, and the way back to it."""

from __future__ import annotations

import asyncio
from itertools import count
from pathlib import Path

from dcf.cli.answer import Answer
from dcf.cli.asking import confirm
from dcf.cli.memory.opening import now_ms, opened, source_in
from dcf.cli.memory.wording import moment, size_text, stamp
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.memory import Source, restore
from dcf.problem import Problem


async def back_up(
    settings: Settings, to: Path | None, screen: Screen, *, overwrite: bool
) -> Answer:
    """Copy the memory, as it is now, to a file, while others use it. Raises BackupExists,
    MemoryFull, MemoryUnusable."""
    folder = settings.home / "backups"
    target = (to or folder / f"memory-{stamp(now_ms())}.db").absolute()
    if to is None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    async with opened(settings) as memory:
        with screen.working(f"copying to {target}"):
            file = await memory.back_up(target, overwrite=overwrite)
    size = file.stat().st_size
    encrypted = source_in(settings).key is not None
    fields = {"backup": str(file), "bytes": size, "encrypted": encrypted}
    back = f"dcf memory restore {file}"
    show = [f"{file}: {size_text(size)}", f"The way back: {back}"]
    if encrypted:
        show.insert(1, "It has the key of the memory: keep DCF_MEMORY_KEY as well.")
    return Answer({**fields, "way_back": back}, show)


async def put_back(settings: Settings, backup: Path, screen: Screen, *, sure: bool) -> Answer:
    """Put a backup in place of the memory, once that is confirmed; the replaced file is kept under
    another name. Raises a MemoryProblem, BadInput; then the memory is as it was."""
    source = source_in(settings)
    _demand_file(backup)
    aside = free_name(source, f"before-restore-{stamp(now_ms())}")
    if not sure:
        for line in _plan(source, backup, aside):
            screen.say(line)
    confirm("Put the backup in its place?", screen, sure=sure, words="restore")
    with screen.working(f"checking and copying {backup}"):
        kept = await asyncio.to_thread(restore, backup, source, aside=aside)
    fields = {"memory": str(source.path), "backup": str(backup), "kept": kept and str(kept)}
    show = [f"{source.path} is what {backup} was."]
    if kept is not None:
        show.append(f"The file that was there is kept: {kept}")
        show.append(f"To have it again: dcf memory restore {kept}")
    return Answer(fields, show, "restored")


def _demand_file(backup: Path) -> None:
    if not backup.is_file():
        hint = "`dcf memory doctor` names the newest one"
        message = "there is no such backup"
        raise BadInput([Problem("CLI_BACKUP", message, hint=hint, file=str(backup))])


def free_name(source: Source, wanted: str) -> str:
    """``wanted``, or with the first number behind it under which nothing is kept beside the
    memory."""
    names = (wanted if number == 1 else f"{wanted}-{number}" for number in count(1))
    path = source.path
    return next(one for one in names if not path.with_name(f"{path.name}.{one}").exists())


def _plan(source: Source, backup: Path, aside: str) -> list[str]:
    lines = []
    if backup.is_file():
        found = backup.stat()
        lines.append(
            f"{backup}: {size_text(found.st_size)}, written {moment(int(found.st_mtime * 1000))}"
        )
    if source.path.exists():
        size = size_text(source.path.stat().st_size)
        lines.append(f"takes the place of {source.path} ({size}),")
        lines.append(f"which is kept as {source.path.name}.{aside}")
    else:
        lines.append(f"becomes {source.path}, where nothing is now")
    return lines
