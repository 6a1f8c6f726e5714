"""The end of a run, as people and scripts get it."""

from __future__ import annotations

import getpass
import json
import socket
from pathlib import Path
from typing import Any

from rich.syntax import Syntax
from rich.text import Text

from control_plane import Store
from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import FAILED, OK
from dcf.cli.trouble import EnvironmentTrouble
from dcf.workflow import Result, result, write_audit_trail

_REHEARSAL = "rehearsal"
_NOTICE = "Rehearsal: no model was used; tools were called in their declared order."


async def finish(store: Store, workflow_id: str, runs: Path) -> Answer:
    """Write the audit trail of a run that is over, and say how it ended."""
    try:
        folder = await write_audit_trail(store, workflow_id, runs, by=who())
    except OSError as error:
        hint = "choose another folder with --runs; the run itself is complete"
        message = f"the audit trail cannot be written: {error.filename}: {error.strerror}"
        raise EnvironmentTrouble("audit_unwritable", message, hint) from error
    ended = await result(store, workflow_id)
    return describe(ended, folder, rehearsed=await _rehearsed(store, workflow_id))


def describe(ended: Result, folder: Path, *, rehearsed: bool) -> Answer:
    """The answer about a run that is over."""
    fields: dict[str, Any] = {
        "workflow_id": ended.workflow_id,
        "workflow_name": ended.name,
        "output": ended.output,
        "started_at": ended.started_at,
        "finished_at": ended.finished_at,
        "audit_trail_path": str(folder),
        "rehearsal": rehearsed,
    }
    notice = [Text(_NOTICE, "yellow")] if rehearsed else []
    where = Text.assemble("Audit trail: ", (str(folder), "bold"))
    where.no_wrap, where.overflow = True, "ignore"
    if ended.status == "succeeded":
        text = json.dumps(ended.output, ensure_ascii=False, indent=2)
        output = Syntax(text, "json", background_color="default", word_wrap=True)
        return Answer(fields, [output, *notice, where], ended.status, exit_code=OK)
    failure = ended.failure
    code, cause = (failure.error, failure.cause) if failure else (ended.status, "")
    hints = [f"`dcf explain {ended.workflow_id}` says where"]
    hints.append(f"`dcf redrive {ended.workflow_id}` lets it go on from there")
    note = ErrorNote(code, f"the run {ended.status}: {code}: {cause}", "; ".join(hints))
    return Answer(fields, [*notice, where], ended.status, note, FAILED)


async def _rehearsed(store: Store, workflow_id: str) -> bool:
    """Whether the rehearsal took the place of a model anywhere in the run."""
    documents = await store.states(workflow_id, await store.paths(workflow_id))
    return any((doc.metrics or {}).get("model") == _REHEARSAL for doc in documents.values())


def who() -> str:
    """This user on this machine, for the records."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        # A user id without a name, as in many containers.
        user = "somebody"
    return f"{user}@{socket.gethostname()}"
