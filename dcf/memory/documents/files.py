"""The files from which documents are read."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal, TypeAlias

from dcf.documents import (
    DocumentProblem,
    ReadDocument,
    Reader,
    ResourceLimits,
    UnknownFormat,
    documents_in,
    format_of,
    links_out_of,
    opened_document,
)
from dcf.memory.actor import Actor
from dcf.memory.document import Document
from dcf.memory.documents.kept_document import FileState
from dcf.memory.documents.kept_documents import KeptDocuments
from dcf.memory.documents.refusals import Refusal, Refusals, RefusedBefore
from dcf.memory.errors import InvalidEntry
from dcf.memory.file_stamp import is_settled, stamp_of
from dcf.personal_form import PersonalSetting
from dcf.problem import Problem
from dcf.secret_form import path_without_secrets

Outcome: TypeAlias = Literal["added", "changed", "unchanged", "removed", "refused", "passed_over"]

_STAYS = "What it said when it was last read stays."


@dataclass(frozen=True, slots=True)
class DocumentReport:
    """What became of the file at ``path``. ``document`` is what was read or removed; None where
    nothing was."""

    path: str
    outcome: Outcome
    document: Document | None = None
    problems: tuple[Problem, ...] = ()


class DocumentFiles:
    """Files and folders, brought in and kept in step."""

    def __init__(self, documents: KeptDocuments) -> None:
        self._documents = documents

    async def sync(
        self,
        path: Path,
        *,
        project: str,
        by: Actor,
        limits: ResourceLimits | None = None,
        personal: PersonalSetting | None = None,
        refusals: Refusals | None = None,
    ) -> AsyncIterator[DocumentReport]:
        """Bring the file ``path``, or the documents in that folder, up to date with what is kept of
        ``project``, an absolute folder; what became of each, as it is done.

        A file that has not changed since is not read. Of a folder the files are read that git does
        not ignore, and those that were read before; links are not followed, and documents whose
        file is gone go. What is refused leaves what it said before. Interrupted anywhere, it goes
        on when it is called again. What ``personal`` names is taken out of what is read from now
        on. What ``refusals`` know and has not changed is not tried again. Raises OSError if there
        is no such path, CodeProblem.
        """
        root = Path(project)
        real = await asyncio.to_thread(path.resolve, strict=True)
        if _is_called(path, root) and not real.is_relative_to(root):
            yield DocumentReport(str(path), "refused", problems=(_leaves(str(path), "error"),))
            return
        states = await self._documents.states(project)
        async with Reader(limits) as reader:
            syncing = _Syncing(self._documents, root, states, reader, by, personal, refusals)
            if not await asyncio.to_thread(real.is_dir):
                yield await syncing.file(real.parent, real.name)
                return
            async for report in syncing.folder(real):
                yield report

    async def refresh(
        self, project: str, *, by: Actor, personal: PersonalSetting | None = None
    ) -> AsyncIterator[DocumentReport]:
        """Bring the files that ``project`` has up to date, and read no others; what became of each,
        as it is done. Documents whose file is gone go, but where its folder outside of the project
        is gone too: a disk may be away. Nothing is done where the project's folder is not there:
        it may be another machine's."""
        root = Path(project)
        if not await asyncio.to_thread(root.is_dir):
            return
        states = await self._documents.states(project)
        async with Reader() as reader:
            syncing = _Syncing(self._documents, root, states, reader, by, personal, None)
            for path in sorted(states):
                folder = root if not PurePosixPath(path).is_absolute() else Path(path).parent
                if await asyncio.to_thread(folder.is_dir):
                    yield await syncing.known(folder, path)


@dataclass(frozen=True, slots=True)
class _Syncing:
    """Documents of the project at ``root``, on their way into a store; ``states`` are those of the
    files that it has."""

    documents: KeptDocuments
    root: Path
    states: Mapping[str, tuple[str, FileState]]
    reader: Reader
    by: Actor
    personal: PersonalSetting | None
    refusals: Refusals | None

    async def folder(self, folder: Path) -> AsyncIterator[DocumentReport]:
        names, others = await documents_in(folder)
        before = {name for path in self.states if (name := self._name_below(folder, path))}
        for name in sorted(before.union(names)):
            path = self._path(folder, name)
            if path in self.states:
                yield await self.known(folder, path)
            elif await asyncio.to_thread(os.path.lexists, folder / name):
                yield await self.file(folder, name)
        links = await asyncio.to_thread(lambda: list(links_out_of(folder, (*names, *others))))
        for path in (self._path(folder, name) for name in links):
            yield DocumentReport(path, "passed_over", problems=(_leaves(path, "warning"),))
        for name in others:
            yield DocumentReport(self._path(folder, name), "passed_over")

    async def known(self, folder: Path, path: str) -> DocumentReport:
        """The file ``path`` below the real ``folder``, which was read before."""
        whole = self.root / path
        if await asyncio.to_thread(os.path.lexists, whole):
            return await self.file(folder, str(whole.relative_to(folder)))
        gone = await self.documents.remove(self.states[path][0], by=self.by)
        return DocumentReport(path, "removed", gone)

    async def file(self, folder: Path, name: str) -> DocumentReport:
        """The file ``name`` below the real ``folder``."""
        path = self._path(folder, name)
        shown = path.encode("utf-8", "backslashreplace").decode()
        if shown != path:
            problem = Problem("document_name", "its name is no UTF-8", "", "rename it", file=shown)
            return DocumentReport(shown, "refused", problems=(problem,))
        told = path_without_secrets(path)
        if told != path:
            return DocumentReport(told, "refused", problems=(_secret_path(told),))
        try:
            return await self._read(folder, name, path)
        except DocumentProblem as error:
            found = [error.problem.at(file=path)]
        except OSError as error:
            found = [_unreadable(path, error)]
        except InvalidEntry as error:
            # A name is seen by everybody: one that holds a secret is not kept.
            found = [replace(one, file=path) for one in error.problems]
        if path in self.states:
            found = [replace(one, message=f"{one.message} {_STAYS}") for one in found]
        return DocumentReport(path, "refused", problems=tuple(found))

    async def _read(self, folder: Path, name: str, path: str) -> DocumentReport:
        format = format_of(name)
        if format is None:
            raise UnknownFormat(ending=PurePosixPath(name).suffix)
        known_id, known = self.states.get(path, ("", None))
        refused = None if self.refusals is None else self.refusals.of(self.root, path)
        found = await asyncio.to_thread(_content, folder, name, known, refused)
        if found is None:
            return DocumentReport(path, "unchanged")
        state, data = found
        if known is not None and state.digest == known.digest:
            await self.documents.confirm(known_id, state.stamp, by=self.by)
            return DocumentReport(path, "unchanged")
        read = await self._read_anew(path, format, state, data)
        if self.personal is not None:
            read = await asyncio.to_thread(_without_personal, read, self.personal)
        kept = await self.documents.keep(str(self.root), path, state, read, by=self.by)
        return DocumentReport(path, "changed" if known_id else "added", kept, read.problems)

    async def _read_anew(
        self, path: str, format: str, state: FileState, data: bytes
    ) -> ReadDocument:
        try:
            read = await self.reader.read(path, format, data)
        except DocumentProblem as error:
            if self.refusals is not None:
                self.refusals.note(self.root, path, state, error.problem)
            raise
        if self.refusals is not None:
            self.refusals.drop(self.root, path)
        return read

    def _path(self, folder: Path, name: str) -> str:
        """What a file is called: relative to the project where it lies in it."""
        whole = folder / name
        return str(whole.relative_to(self.root) if whole.is_relative_to(self.root) else whole)

    def _name_below(self, folder: Path, path: str) -> str | None:
        """What the file called ``path`` is called in ``folder``; None where it is not there."""
        whole = self.root / path
        return str(whole.relative_to(folder)) if whole.is_relative_to(folder) else None


def _without_personal(read: ReadDocument, personal: PersonalSetting) -> ReadDocument:
    without = personal.without
    pieces = (
        replace(one, text=without(one.text), headings=tuple(map(without, one.headings)))
        for one in read.pieces
    )
    return replace(read, title=without(read.title), pieces=tuple(pieces))


def _content(
    folder: Path, name: str, known: FileState | None, refused: Refusal | None
) -> tuple[FileState, bytes] | None:
    """A file as it is now; None if it is as it was ``known``. Raises RefusedBefore if it is as it
    was ``refused``, another DocumentProblem, OSError."""
    with opened_document(folder, name) as file:
        stamp = stamp_of(file.status)
        if known is not None and known.stamp == stamp:
            return None
        if refused is not None and refused.state.stamp == stamp:
            raise RefusedBefore(refused.problem)
        data = file.data()
        # One that was written meanwhile, or just before, is looked at again next time.
        settled = is_settled(file.status) and stamp_of(os.fstat(file.descriptor)) == stamp
    digest = hashlib.sha256(data).hexdigest()
    if refused is not None and refused.state.digest == digest:
        raise RefusedBefore(refused.problem)
    return FileState(len(data), stamp if settled else "", digest), data


def _is_called(path: Path, root: Path) -> bool:
    """Whether ``path`` is below ``root`` by its name, whatever links lead to."""
    return Path(os.path.normpath(path.absolute())).is_relative_to(root)


def _secret_path(told: str) -> Problem:
    message = "its path has in it what only a secret looks like"
    hint = "call it otherwise: a name is seen by everybody"
    return Problem("memory_name_secret", message, "/path", hint, file=told)


def _leaves(path: str, severity: Literal["error", "warning"]) -> Problem:
    message = "it is a link that leads out of the folder, and is not followed"
    hint = "add what it leads to by its own path"
    return Problem("document_link", message, "", hint, severity, path)


def _unreadable(path: str, error: OSError) -> Problem:
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        message = "there is a link on the way to it, which is not followed"
        return Problem("document_link", message, "", "add it by its own path", file=path)
    message = f"it cannot be read: {error.strerror or error}"
    return Problem("document_unreadable", message, file=path)
