"""``dcf retrieval compact``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dcf.cli.answer import Answer
from dcf.cli.memory.opening import person
from dcf.cli.retrieval.opening import open_lasting
from dcf.cli.retrieval.setting import RetrievalSetting
from dcf.cli.settings import Settings
from dcf.cli.wording import counted
from dcf.retrieval import projects_in, projects_of


async def compact_items(
    settings: Settings, setting: RetrievalSetting, roots: Sequence[Path]
) -> Answer:
    """Give up what is over in all projects. Raises NotSo, UnnamedProjects, FolderUnusable, a
    MemoryProblem, a StoreProblem."""
    named = [*projects_of([*roots], None).roots, *setting.projects.roots]
    by = person("`dcf retrieval compact`: its time was over")
    async with open_lasting(settings, setting, by, make=False) as items:
        gone = {project: await items.sweep(project) for project in await projects_in(items, named)}
    show = [
        f"{project}: gave up {counted(count, 'item', 'items')} whose time was over"
        for project, count in gone.items()
    ]
    if not setting.lifetimes.end_some:
        show.append("Items are kept for ever: DCF_RETRIEVAL_TTL is not set.")
    entries = [{"project": project, "given_up": count} for project, count in gone.items()]
    return Answer({"projects": entries}, show or ["Nothing was logged."], "compacted")
