"""Files of exported runs: ``dcf runs export`` and ``dcf runs restore``, and reading one in place of
a run in Redis."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from control_plane import (
    NotExportable,
    RedisBackend,
    RunDocument,
    RunExists,
    RunExport,
    Store,
    UnknownRun,
    check_run,
    check_workflow_id,
    damage_is_told,
    export_run,
    pack,
    restore_run,
    what_is_broken,
)
from dcf.cli.answer import Answer
from dcf.cli.health import ask_redis
from dcf.cli.memory.wording import size_text
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, EnvironmentTrouble, NotSo
from dcf.cli.whole_file import whole_file
from dcf.cli.wording import counted
from dcf.problem import Problem
from dcf.workflow import is_file_name, read_run_file, shelve

SUFFIX = ".run.gz"


async def file_meant(given: str, settings: Settings, screen: Screen) -> Path | None:
    """The file that ``given`` means; None where it means a run. A name that both can have means the
    run, if Redis is there and has it; it is not started for that."""
    file = Path(given)
    if is_file_name(given):
        return file
    if not await asyncio.to_thread(file.is_file):
        return None
    if not await _is_there(given, settings):
        return file
    screen.warn(f"{given} is a run and a file: this is the run; `./{given}` names the file")
    return None


async def shelved(file: Path) -> tuple[Store, str]:
    """The run in ``file``, in a store of its own in this process, and its id. Raises BadInput,
    BadRunFile."""
    export = _read(file)
    return await shelve(export), export.run.workflow_id


async def export_runs(
    workflow_ids: Sequence[str],
    out: Path,
    settings: Settings,
    screen: Screen,
    *,
    checkpoint: str | None = None,
    project: str | None = None,
) -> Answer:
    """Write each run to a file; with a ``checkpoint`` of the memory of a ``project`` (None: that of
    runs here) into the folder ``out``, with the snapshot of that, each in place of the one there.
    Raises BadName and UnknownRun before anything is written, and NotExportable once those before it
    are."""
    files = _targets(workflow_ids, out, is_checkpoint=checkpoint is not None)
    address = await find_redis(settings, screen)
    written: list[dict[str, object]] = []
    lines: list[Any] = []
    async with open_store(address) as store:
        # A wrong id is reported before the first file is written.
        for workflow_id in workflow_ids:
            async with damage_is_told(store, workflow_id):
                await store.run(workflow_id)
        with screen.working("exporting …") as progress:
            for number, (workflow_id, file) in enumerate(files.items(), 1):
                progress.tell(f"exporting {number:,} of {len(files):,}: {workflow_id}")
                data = await _packed(store, workflow_id)
                if checkpoint is not None:
                    # All of the memory, which other exports do without.
                    from dcf.cli.memory.scope_snapshots import back_up

                    snapshot = await back_up(settings, project, checkpoint, out)
                    lines += snapshot.show
                _write(file, data, overwrite=checkpoint is not None)
                written.append({"workflow_id": workflow_id, "file": str(file), "bytes": len(data)})
                lines.append(f"{file}  {size_text(len(data))}")
    said = f"{counted(len(written), 'run', 'runs')} exported; what was exported stays in Redis."
    fields = {"files": written, **({} if checkpoint is None else {"memory": snapshot.fields})}
    return Answer(fields, [said, *lines])


async def _packed(store: Store, workflow_id: str) -> bytes:
    """The file of a run. Raises UnknownRun, BrokenRun, NotExportable."""
    async with damage_is_told(store, workflow_id):
        try:
            return pack(await export_run(store, workflow_id))
        except NotExportable as error:
            if str(error.fields["why"]).startswith("is damaged"):
                # Its key is told, where it is that of one.
                await check_run(store, workflow_id, whole=True)
            raise


async def restore_file(file: Path, settings: Settings, screen: Screen) -> Answer:
    """Put the run in ``file`` back. Raises BadInput, BadRunFile, NotSo where there is such a
    run."""
    export = _read(file)
    run = export.run
    address = await find_redis(settings, screen)
    async with open_store(address) as store:
        await _restore(store, export, screen)
    fields = {"workflow_id": run.workflow_id, "run_status": run.status}
    return Answer(fields, [f"{run.workflow_id} is back: {run.status}."])


async def checked_export(file: Path, settings: Settings, screen: Screen) -> RunExport:
    """The run in ``file``, whose documents can be read. Raises BadInput, BadRunFile, NotSo where
    there is another run of its id."""
    export = _read(file)
    await shelve(export)
    address = await find_redis(settings, screen)
    async with open_store(address) as store, damage_is_told(store, export.run.workflow_id):
        await _there(store, export)
    return export


async def put_back_run(
    export: RunExport, settings: Settings, screen: Screen
) -> tuple[RunDocument, Answer]:
    """The run of a file as it is in Redis: put back, unless it is there, whatever it came to since.
    Raises NotSo where there is another run of its id."""
    workflow_id = export.run.workflow_id
    address = await find_redis(settings, screen)
    async with open_store(address) as store, damage_is_told(store, workflow_id):
        run = await _there(store, export)
        restored = run is None
        if run is None:
            await _restore(store, export, screen)
            run = export.run
    said = "is back" if restored else "is there already"
    fields = {"workflow_id": workflow_id, "run_status": run.status, "restored": restored}
    return run, Answer(fields, [f"{workflow_id} {said}: {run.status}."])


async def _there(store: Store, export: RunExport) -> RunDocument | None:
    """The run of a file as it is in Redis. Raises NotSo where there is another one of its id."""
    workflow_id = export.run.workflow_id
    try:
        run = await store.run(workflow_id)
    except UnknownRun:
        return None
    if run.born != export.run.born:
        message = f"There is another run {workflow_id} already; it was left as it is."
        raise await _taken(store, RunExists(message, workflow_id=workflow_id))
    return run


async def _restore(store: Store, export: RunExport, screen: Screen) -> None:
    """Raises NotSo where there is such a run."""
    workflow_id = export.run.workflow_id
    with screen.working(f"restoring {workflow_id} …"):
        try:
            await restore_run(store, export)
        except RunExists as error:
            raise await _taken(store, error) from error


async def _taken(store: Store, error: RunExists) -> NotSo:
    """What is told of a run in the place of the one in a file."""
    workflow_id = error.fields["workflow_id"]
    broken = " --broken" if await _is_broken(store, str(workflow_id)) else ""
    hint = f"`dcf runs remove {workflow_id}{broken}` would make room for it"
    return NotSo(error.code, str(error), hint)


async def _is_broken(store: Store, workflow_id: str) -> bool:
    """Whether it takes --broken to remove the run that is there."""
    with suppress(UnknownRun):
        return bool(await what_is_broken(store, workflow_id))
    return False


async def _is_there(workflow_id: str, settings: Settings) -> bool:
    """Whether Redis has such a run; not where it does not answer, or no run can be called so."""

    async def ask(backend: RedisBackend) -> bool:
        return bool(await backend.command("EXISTS", Store(backend).keys(workflow_id).meta))

    try:
        return await ask_redis(settings, ask)
    except NotSo:
        return False


def _read(file: Path) -> RunExport:
    try:
        return read_run_file(file)
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
        problem = Problem("CLI_RUN_FILE", message, hint="name a file", file=str(file))
        raise BadInput([problem]) from error


def _targets(workflow_ids: Sequence[str], out: Path, *, is_checkpoint: bool) -> dict[str, Path]:
    """The file of each run. Raises BadName, and BadInput with those that are there already, unless
    ``out`` ``is_checkpoint``, a folder that is written anew."""
    for workflow_id in workflow_ids:
        check_workflow_id(workflow_id)
    into_folder = is_checkpoint or len(workflow_ids) > 1 or out.is_dir()
    if into_folder and out.exists() and not out.is_dir():
        what = "several runs" if len(workflow_ids) > 1 else "a checkpoint"
        hint = f"choose a folder for {what}"
        raise BadInput([Problem("CLI_OUT_EXISTS", "there is a file", hint=hint, file=str(out))])
    files = {one: out / f"{one}{SUFFIX}" if into_folder else out for one in workflow_ids}
    there = [file for file in files.values() if file.exists() or file.is_symlink()]
    if there and not is_checkpoint:
        hint = "choose another --out, or move the file away"
        raise BadInput(
            [
                Problem("CLI_OUT_EXISTS", "there is a file", hint=hint, file=str(one))
                for one in there
            ]
        )
    return files


def _write(file: Path, data: bytes, *, overwrite: bool) -> None:
    try:
        with whole_file(file, overwrite=overwrite) as stream:
            stream.write(data)
    except OSError as error:
        message = f"{file} cannot be written: {error.strerror}"
        raise EnvironmentTrouble("run_file_unwritable", message, "choose another --out") from error
