"""Which blocks a project has. Those who work in it see them."""

from __future__ import annotations

from dataclasses import replace

from dcf.memory.audit.entity import Row
from dcf.memory.audit.journal import Journal
from dcf.memory.block import Block, NewBlock
from dcf.memory.blocks.creation import create_block
from dcf.memory.blocks.fields import block_of
from dcf.memory.blocks.finding import block_row
from dcf.memory.blocks.holding import is_kept
from dcf.memory.checking import refuse, text_problems
from dcf.memory.entities import BLOCK, PROJECT_BLOCK
from dcf.memory.projects.errors import NotShareable, ProjectHasLabel, UnknownProjectBlock
from dcf.memory.projects.finding import block_rows, project_row
from dcf.memory.skill import LOADED_SKILLS, SKILLS
from dcf.problem import Problem


def create_project_block(journal: Journal, path: str, new: NewBlock) -> Block:
    """A new block of the project: of type ``shared`` if ``new`` says so, else of type ``project``,
    which is this project's alone.

    Raises UnknownProject, InvalidEntry, ProjectHasLabel, OverLimit.
    """
    project = project_row(journal.connection, path)
    if new.type != "shared":
        new = replace(new, type="project", project=project["path"], provenance="project")
    block = create_block(journal, new)
    _link(journal, project, block.id, new.label)
    return block


def link_block(journal: Journal, path: str, block_id: str, label: str | None) -> Block:
    """Let the project have a block that there is.

    Raises UnknownProject, NoSuchBlock, InvalidEntry, NotShareable, ProjectHasLabel.
    """
    project = project_row(journal.connection, path)
    row = block_row(journal.connection, block_id)
    if row["type"] != "shared":
        reason = "only what is `shared` can be linked to a project"
        raise NotShareable(block_id=block_id, type=row["type"], reason=reason)
    linked_as = row["label"] if label is None else label
    _link(journal, project, block_id, linked_as)
    return block_of(row, label=linked_as)


def unlink_block(journal: Journal, path: str, label: str) -> None:
    """Take a block from the project. Raises UnknownProject, UnknownProjectBlock."""
    project = project_row(journal.connection, path)
    found = PROJECT_BLOCK.find(journal.connection, f"{project['id']}/{label}")
    if found is None:
        labels = [name for name, _ in block_rows(journal.connection, project)]
        raise UnknownProjectBlock(project["path"], label, labels)
    unlink_row(journal, found)


def unlink_row(journal: Journal, link: Row) -> None:
    """Take a block from its project, and delete it if it was the project's own and nobody is left
    who could reach it."""
    row = block_row(journal.connection, link["block_id"])
    journal.delete(PROJECT_BLOCK, link, operation="unlinked", label=link["label"])
    if row["type"] != "shared" and not is_kept(journal.connection, row["id"]):
        journal.delete(BLOCK, row, label=link["label"])


def _link(journal: Journal, project: Row, block_id: str, label: str) -> None:
    refuse(f"block {label!r}", text_problems("/label", label, filled=True))
    if label in (SKILLS, LOADED_SKILLS):
        problem = Problem(
            "memory_project_label",
            f"{label!r} is what each agent itself knows of skills: no project can have it",
            "/label",
            "give the block another label",
        )
        refuse(f"block {label!r}", iter([problem]))
    if PROJECT_BLOCK.find(journal.connection, f"{project['id']}/{label}") is not None:
        raise ProjectHasLabel(path=project["path"], label=label)
    last = journal.connection.execute(
        "SELECT max(position) FROM project_blocks WHERE project_id = ?", (project["id"],)
    ).fetchone()[0]
    journal.create(
        PROJECT_BLOCK,
        {
            "project_id": project["id"],
            "block_id": block_id,
            "label": label,
            "position": (last or 0) + 1,
        },
        operation="linked",
        label=label,
    )
