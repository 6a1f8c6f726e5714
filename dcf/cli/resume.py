"""``dcf resume``: the memory and the run in a checkpoint's folder are put back and go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dcf.cli.answer import Answer
from dcf.cli.memory.scope_snapshots import put_back
from dcf.cli.run_files import SUFFIX, checked_export, put_back_run
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.steer import redrive_run
from dcf.cli.trouble import BadInput
from dcf.memory import SNAPSHOT_FILE
from dcf.problem import Problem

_GOES_ON = ("failed", "timed_out", "cancelled")


async def resume_folder(
    folder: Path,
    settings: Settings,
    screen: Screen,
    *,
    watch: bool,
    runs: Path,
    project: str | None = None,
) -> Answer:
    """Restore the snapshot into a ``project`` (None: that of runs here), and the run, as far as
    they are not there yet; a run that broke goes on, with ``watch`` to its end. Nothing is restored
    unless both files are whole and no other run has the id. The memory is first: nothing of a run
    is restored next to a memory that differs.

    Raises BadInput, a MemoryProblem, BadRunFile, NotSo where there is another run of that id.
    """
    file = _run_file(folder)
    export = None if file is None else await checked_export(file, settings, screen)
    fields: dict[str, Any] = {}
    if (folder / SNAPSHOT_FILE).exists():
        memory = await put_back(settings, project, folder, checkpoint=None, what_is_whole=False)
        _tell(memory, screen)
        fields["memory"] = memory.fields
    if export is None:
        return Answer(fields, ["There is no run in the folder."], "restored")
    run, restored = await put_back_run(export, settings, screen)
    _tell(restored, screen)
    fields["run"] = restored.fields
    if run.status not in _GOES_ON:
        return Answer(fields, [f"Nothing is left to do: {run.workflow_id} is {run.status}."])
    answer = await redrive_run(run.workflow_id, settings, screen, watch=watch, runs=runs)
    joined = {**fields, **answer.fields}
    return Answer(joined, answer.show, answer.status, answer.error, answer.exit_code)


def _run_file(folder: Path) -> Path | None:
    """The run in the folder. Raises BadInput for several, and where there is no memory either."""
    files = sorted(folder.glob(f"*{SUFFIX}"))
    if len(files) > 1:
        names = ", ".join(file.name for file in files)
        hint = "a checkpoint has one run; `dcf runs restore FILE` restores any"
        problem = Problem("CLI_RUN_FILE", f"it has several: {names}", hint=hint, file=str(folder))
        raise BadInput([problem])
    if not files and not (folder / SNAPSHOT_FILE).exists():
        hint = (
            "name the folder that `dcf runs export --checkpoint` or `dcf memory scope backup` made"
        )
        message = f"it has no {SNAPSHOT_FILE} and no *{SUFFIX}"
        raise BadInput([Problem("CLI_CHECKPOINT_FOLDER", message, hint=hint, file=str(folder))])
    return files[0] if files else None


def _tell(answer: Answer, screen: Screen) -> None:
    for line in answer.show:
        screen.say(line)
