"""Logged items and documents of one place, copied to another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dcf.documents import READER, ReadDocument, ReadPiece
from dcf.memory import Actor, Document, DocumentPiece, FileState, InvalidEntry, KeptDocument
from dcf.retrieval.backend import BATCH, Kept, LastingItems, ProjectDocuments, projects_in
from dcf.retrieval.item import Item, NewItem, faults_of_kept

Tell = Callable[[str], object]

_ALL = 1_000_000
_UNKNOWN = FileState(0, "", "")


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


@dataclass(slots=True)
class MigratedDocuments:
    """What came of documents: ``copied`` and ``there`` before, which stay as they are there, are
    their numbers, ``refused`` why some cannot be kept, by their ids."""

    copied: int = 0
    there: int = 0
    refused: dict[str, str] = field(default_factory=dict)


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


async def migrate_documents(
    source: ProjectDocuments, target: ProjectDocuments, *, by: Actor, tell: Tell = lambda _: None
) -> MigratedDocuments:
    """Copy the documents of all projects with their ids and times, so that citations of them stay.
    This may end at any moment and be done again: it goes on."""
    done = MigratedDocuments()
    states: dict[str, Mapping[str, tuple[str, FileState]]] = {}
    for one in await source.list(limit=_ALL):
        if one.project not in states:
            states[one.project] = await source.states(one.project)
        _, state = states[one.project].get(one.path, ("", _UNKNOWN))
        try:
            known = _as_today(one, await source.pieces(one), state)
        except InvalidEntry as error:
            done.refused[one.id] = str(error)
            continue
        if await target.take(known, by=by):
            done.copied += 1
        else:
            done.there += 1
        tell(f"{done.copied + done.there:,} documents")
    return done


def _as_today(one: Document, pieces: Sequence[DocumentPiece], state: FileState) -> KeptDocument:
    """A document by the rules of today: older ones may have left a secret in it. Without a digest
    in its ``state`` it was read otherwise than today, and is read again. Raises InvalidEntry."""
    said = (ReadPiece(it.text, it.headings, it.first_line, it.last_line, it.page) for it in pieces)
    read = ReadDocument(one.title, one.format, tuple(said), one.pages, one.problems)
    file = FileState(one.size, state.stamp, one.digest)
    known = KeptDocument.of(one.id, one.project, one.path, file, read, one.read_at)
    reader = READER if state.digest else 0
    return replace(known, document=replace(known.document, added_at=one.added_at), reader=reader)


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
