"""A run that a client names by its id, or by an exported file in the workspace."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from control_plane import RunDocument, Store
from dcf.knowledge import Privacy, ToldRun, tell_shelved
from dcf.mcp.envelope import Refused
from dcf.mcp.platform import Platform
from dcf.mcp.roots import confined
from dcf.workflow import is_file_name, read_run_file, shelve


@dataclass(frozen=True, slots=True)
class NamedRun:
    """``store`` has its documents. ``told`` is what a file tells, None for a run by its id."""

    store: Store
    document: RunDocument
    told: ToldRun | None = None


async def run_or_file(platform: Platform, given: str, parameter: str) -> NamedRun:
    """The run that ``given`` means. Raises UnknownRun, BadRunFile, and Refused for a file that
    cannot be read or lies outside of the workspace."""
    if not is_file_name(given):
        store = await platform.store_for(given)
        return NamedRun(store, await store.run(given))
    workspace = platform.config.workspace
    file = confined(given, workspace, (workspace,), parameter)
    try:
        export = await asyncio.to_thread(read_run_file, file)
    except OSError as error:
        message = f"{file.name} cannot be read: {error.strerror or error}"
        hint = "a file of `dcf runs export` in the workspace, or the id of a run"
        raise Refused("file_unreadable", message, hint=hint) from error
    store = await shelve(export)
    document = await store.run(export.run.workflow_id)
    told = await tell_shelved(store, document, Privacy.from_env(platform.config.env))
    return NamedRun(store, document, told)
