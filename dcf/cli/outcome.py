"""The end of a run, as people and scripts get it."""

from __future__ import annotations

import getpass
import json
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.highlighter import JSONHighlighter
from rich.text import Text

from control_plane import StateDocument, Store
from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import FAILED, OK
from dcf.cli.failure_hint import run_hint
from dcf.cli.trouble import EnvironmentTrouble
from dcf.workflow import Result, iso, result, write_audit_trail

_REHEARSAL = "rehearsal"
_ENDED = {"timed_out": "timed out", "cancelled": "was cancelled"}
_NOTICE = "Rehearsal: no model was used; tools were called in their declared order."


async def finish(store: Store, workflow_id: str, runs: Path, objects: Path) -> Answer:
    """Write the audit trail of a run that is over, and say how it ended. Workers read objects
    below ``objects``."""
    try:
        folder = await write_audit_trail(store, workflow_id, runs, by=who())
    except OSError as error:
        hint = "choose another folder with --runs; the run itself is complete"
        message = f"the audit trail cannot be written: {error.filename}: {error.strerror}"
        raise EnvironmentTrouble("audit_unwritable", message, hint) from error
    ended = await result(store, workflow_id)
    documents = await store.states(workflow_id, await store.paths(workflow_id))
    return describe(ended, folder, documents.values(), objects)


def describe(
    ended: Result, folder: Path, documents: Iterable[StateDocument], objects: Path
) -> Answer:
    """The answer about a run that is over, with all its ``documents``."""
    states = list(documents)
    # Whether the rehearsal took the place of a model anywhere in the run.
    rehearsed = any((one.metrics or {}).get("model") == _REHEARSAL for one in states)
    fields: dict[str, Any] = {
        "workflow_id": ended.workflow_id,
        "workflow_name": ended.name,
        "output": ended.output,
        "started_at": iso(ended.started_at) if ended.started_at else None,
        "finished_at": iso(ended.finished_at) if ended.finished_at else None,
        "audit_trail_path": str(folder),
        "rehearsal": rehearsed,
    }
    notice = [Text(_NOTICE, "yellow")] if rehearsed else []
    where = Text.assemble("Audit trail: ", (str(folder), "bold"))
    if ended.status == "succeeded":
        text = json.dumps(ended.output, ensure_ascii=False, indent=2)
        output = JSONHighlighter()(text)
        return Answer(fields, [output, *notice, where], ended.status, exit_code=OK)
    failure = ended.failure
    code = (failure.error if failure else None) or ended.status
    hints = [f"`dcf explain {ended.workflow_id}` says where"]
    if not any(map(_is_verdict, states)):
        hints.append(f"`dcf redrive {ended.workflow_id}` lets it go on from there")
    what = f"the run {_ENDED.get(ended.status, ended.status)}: {failure or code}"
    hints += filter(None, [run_hint(code, objects)])
    note = ErrorNote(code, what, "; ".join(hints))
    return Answer(fields, [*notice, where], ended.status, note, FAILED)


def _is_verdict(document: StateDocument) -> bool:
    """Whether the workflow itself ended the run in this Fail state: it would do so again."""
    return document.type == "Fail" and document.status == "failed" and "[" not in document.path


def who() -> str:
    """This user on this machine, for the records."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        # A user id without a name, as in many containers.
        user = "somebody"
    return f"{user}@{socket.gethostname()}"
