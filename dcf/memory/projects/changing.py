"""Making, changing and removing projects."""

from __future__ import annotations

from typing import Any

from dcf.memory.audit.entity import Row
from dcf.memory.audit.journal import Journal
from dcf.memory.blocks.writing import change_block
from dcf.memory.entities import PROJECT, PROJECT_AGENT, PROJECT_BLOCK, SESSION
from dcf.memory.errors import RevisionConflict
from dcf.memory.project import NewProject, Project
from dcf.memory.projects.errors import ProjectExists
from dcf.memory.projects.fields import ProjectFields, columns_of, new_columns, project_of
from dcf.memory.projects.finding import block_rows, known_row, project_row
from dcf.memory.projects.linking import unlink_row


def create_project(journal: Journal, new: NewProject) -> Project:
    """Make a project. Raises InvalidEntry with all that is wrong, ProjectExists."""
    columns = new_columns(new)
    if known_row(journal.connection, columns["path"]) is not None:
        raise ProjectExists(path=columns["path"])
    row: dict[str, Any] = {
        "id": journal.new_id("project"),
        **columns,
        "last_agent_id": None,
        "revision": 1,
        "created_at": journal.at,
        "updated_at": journal.at,
    }
    return project_of(journal.create(PROJECT, row))


def ensure_project(journal: Journal, path: str) -> dict[str, Any]:
    """The row of the project with this path, made if it is missing. Raises InvalidEntry."""
    if known_row(journal.connection, path) is None:
        create_project(journal, NewProject(path))
    return project_row(journal.connection, path)


def update_project(
    journal: Journal, path: str, fields: ProjectFields, *, expected: int | None = None
) -> Project:
    """The project with ``fields`` changed.

    Raises UnknownProject, RevisionConflict, InvalidEntry, ProjectExists.
    """
    row = project_row(journal.connection, path)
    if expected is not None and row["revision"] != expected:
        raise RevisionConflict(
            what=f"project {row['path']!r}", expected=expected, found=row["revision"]
        )
    columns = columns_of(fields)
    moved = columns.get("path", row["path"])
    if moved != row["path"] and known_row(journal.connection, moved) is not None:
        raise ProjectExists(path=moved)
    if moved != row["path"]:
        _move_blocks(journal, row, moved)
        # Sessions are a log by path: who works there goes on, and is found to resume.
        journal.connection.execute(
            f"UPDATE {SESSION.table} SET project = ? WHERE project = ?", (moved, row["path"])
        )
    return project_of(_written(journal, row, columns))


def note_agent(journal: Journal, row: dict[str, Any], agent_id: str) -> None:
    """The agent was the last in the project."""
    _written(journal, row, {"last_agent_id": agent_id})


def delete_project(journal: Journal, path: str) -> None:
    """Remove the project; its agents leave it, and blocks go that were its own and that nobody
    holds. Raises UnknownProject."""
    row = project_row(journal.connection, path)
    for entity in (PROJECT_AGENT, PROJECT_BLOCK):
        rows = journal.connection.execute(
            f"SELECT * FROM {entity.table} WHERE project_id = ? ORDER BY {entity.key[-1]}",
            (row["id"],),
        )
        for one in map(dict, rows.fetchall()):
            if entity is PROJECT_BLOCK:
                unlink_row(journal, one)
            else:
                journal.delete(entity, one, operation="left", agent_id=one["agent_id"])
    journal.delete(PROJECT, row)


def _move_blocks(journal: Journal, row: Row, path: str) -> None:
    """The project's own blocks say where it is."""
    for label, block in block_rows(journal.connection, row):
        if block["type"] == "project":
            change_block(journal, block, {"project": path}, label=label, as_owner=True)


def _written(journal: Journal, row: dict[str, Any], columns: dict[str, Any]) -> dict[str, Any]:
    after = {**row, **columns, "revision": row["revision"] + 1, "updated_at": journal.at}
    return journal.update(PROJECT, row, after) or row
