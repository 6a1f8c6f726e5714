"""Logged items of one place, copied to another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dcf.retrieval.item import Item, NewItem, faults_of_kept
from dcf.retrieval.items import BATCH, Kept, LastingItems, projects_in

Tell = Callable[[str], object]


@dataclass(slots=True)
class Migrated:
    """What came of a project's items. ``copied``, ``there`` before and ``forgotten`` at the target
    are their numbers, ``differing`` the ids that other items have there, ``refused`` why some
    cannot be kept, by their ids; ``given_up`` counts what the source had forgotten and the target
    not."""

    project: str
    copied: int = 0
    there: int = 0
    forgotten: int = 0
    given_up: int = 0
    differing: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def looked_at(self) -> int:
        named = len(self.differing) + len(self.refused)
        return self.copied + self.there + self.forgotten + named

    def count(self, item: Item, kept: Kept) -> None:
        """Note what came of ``item``."""
        if kept == "differing":
            self.differing.append(item.id)
        else:
            setattr(self, kept, getattr(self, kept) + 1)


async def migrate(
    source: LastingItems,
    target: LastingItems,
    roots: Sequence[str] = (),
    tell: Tell = lambda _: None,
) -> list[Migrated]:
    """Copy what was logged: items keep their ids and times, and the source all that it has.

    What the target has stays as it is, what it has forgotten stays forgotten, and what the source
    has forgotten is forgotten there too. So this may end at any moment and be done again: it goes
    on. ``roots`` are folders of projects that the source itself cannot name. Raises
    UnnamedProjects.
    """
    projects = await projects_in(source, roots)
    return [await _migrated(source, target, project, tell) for project in projects]


async def _migrated(
    source: LastingItems, target: LastingItems, project: str, tell: Tell
) -> Migrated:
    done = Migrated(project)
    async for some in source.all(project):
        valid = [_clean(item) for item in some if not _refuse(item, done)]
        for item, kept in zip(valid, await target.keep(project, valid), strict=True):
            done.count(item, kept)
        tell(f"{project}: {done.looked_at:,} items")
    # Behind the items: what was forgotten while they were read is not left at the target.
    forgotten = await source.forgotten(project)
    for start in range(0, len(forgotten), BATCH):
        done.given_up += await target.forget_all(project, forgotten[start : start + BATCH])
    return done


def _refuse(item: Item, done: Migrated) -> bool:
    """Whether an item cannot be kept, which ``done`` names then: somebody wrote it by hand."""
    faults = "; ".join(faults_of_kept(item))
    if faults:
        done.refused[item.id] = faults
    return bool(faults)


def _clean(item: Item) -> Item:
    # By the rules of today: older ones may have left a secret in it.
    new = NewItem(item.text, item.tags, item.source, item.file_path)
    return Item.of(new, item.id, item.timestamp)
