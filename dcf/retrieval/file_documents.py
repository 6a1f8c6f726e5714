"""The backend ``file``: documents in a folder, a JSON file for each, that anybody can read."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from dcf.memory import Clock, KeptDocument, NewId
from dcf.retrieval.backend import project_digest
from dcf.retrieval.locked_folder import LockedFolder, number_in, raise_number, sync_names, usable
from dcf.retrieval.tabled_documents import DocumentTable, TabledDocuments

if TYPE_CHECKING:
    from pydantic import TypeAdapter

log = logging.getLogger(__name__)

_LAST = ".json"
_ID = re.compile(r"[\w-]{1,100}")
_Version: TypeAlias = tuple[int, int, int]

Out = TypeVar("Out")

_FIRST = "documents-"


class DocumentFolder(DocumentTable):
    """The documents in ``folder``, each in a file that is named by its id. Any number of processes
    use it under its lock, and each reads what the others changed. What cannot be read is named and
    left out. Methods raise OSError."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._files = LockedFolder(folder)
        self._seen: dict[str, _Version] = {}
        self._state: tuple[int, int] | None = None

    def may_have(self, document_id: str) -> bool:
        """Whether there is a file for this document."""
        return bool(_ID.fullmatch(document_id)) and self._file(document_id).is_file()

    @contextmanager
    def reading(self) -> Iterator[None]:
        with super().reading():
            if self._folder.is_dir():
                with self._files.reading() as lock:
                    self._follow(lock)
            else:
                self._take({})
                self._state = None
            yield

    @contextmanager
    def changing(self) -> Iterator[None]:
        with super().changing():
            self._files.make()
            with self._files.writing() as lock:
                self._follow(lock)
                # Who dies behind this has all look again, maybe at what did not change.
                self._state = None
                raise_number(lock)
                yield
                self._state = self._state_now(lock)

    def put(self, kept: KeptDocument) -> None:
        file = self._file(kept.document.id)
        self._files.replace(file.name, [_text_of(kept)])
        self._seen[file.name] = _version(file.stat())
        super().put(kept)

    def drop(self, document_id: str) -> None:
        file = self._file(document_id)
        file.unlink()
        self._files.drop_draft()
        sync_names(self._folder)
        del self._seen[file.name]
        super().drop(document_id)

    def _file(self, document_id: str) -> Path:
        return self._folder / f"{document_id}{_LAST}"

    def _state_now(self, lock: int) -> tuple[int, int]:
        """Another one where others changed something, or somebody a file by hand in the way that
        editors do, which write another one in its place."""
        return number_in(lock), self._folder.stat().st_mtime_ns

    def _follow(self, lock: int) -> None:
        """Have what the folder has."""
        state = self._state_now(lock)
        if state == self._state:
            return
        self._take(
            {
                one.name: _version(one.stat())
                for one in os.scandir(self._folder)
                # Neither a link nor a pipe.
                if one.name.endswith(_LAST) and one.is_file(follow_symlinks=False)
            }
        )
        self._state = state

    def _take(self, there: dict[str, _Version]) -> None:
        """Have what is in these files."""
        for name in self._seen.keys() - there.keys():
            self._leave_out(name.removesuffix(_LAST))
        for name in sorted(name for name in there if there[name] != self._seen.get(name)):
            try:
                super().put(_kept_in(self._folder / name))
            except ValueError as error:
                self._leave_out(name.removesuffix(_LAST))
                log.warning("%s is damaged and is left out: %s", self._folder / name, error)
        self._seen = there


def _version(status: os.stat_result) -> _Version:
    return status.st_ino, status.st_mtime_ns, status.st_size


def _text_of(kept: KeptDocument) -> bytes:
    return f"{json.dumps(asdict(kept), ensure_ascii=False, indent=2)}\n".encode()


def _kept_in(file: Path) -> KeptDocument:
    """The document in a file. Raises ValueError with what is wrong."""
    from pydantic import ValidationError

    try:
        kept = _form().validate_json(file.read_bytes(), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"{where}: {first['msg']}" if where else first["msg"]) from error
    if file.name != f"{kept.document.id}{_LAST}":
        raise ValueError(f"it is not named by its id {kept.document.id}")
    return kept


@cache
def _form() -> TypeAdapter[KeptDocument]:
    from pydantic import TypeAdapter

    return TypeAdapter(KeptDocument)


class FileDocuments(TabledDocuments):
    """Documents below ``folder``, one folder for each project, for every process that uses it. What
    was kept is on the disk; each process has the documents of the projects that it was asked for
    in its own memory, too."""

    def __init__(self, folder: Path, clock: Clock, new_id: NewId) -> None:
        super().__init__(clock, new_id)
        self._folder = folder
        self._by_name: dict[str, DocumentFolder] = {}

    def _table(self, project: str) -> DocumentFolder:
        return self._named(f"{_FIRST}{project_digest(project)}")

    def _tables(self) -> Iterable[DocumentFolder]:
        return [self._named(one.name) for one in sorted(self._folder.glob(f"{_FIRST}*"))]

    def _tables_with(self, document_id: str) -> Iterable[DocumentFolder]:
        return (one for one in self._tables() if one.may_have(document_id))

    def _named(self, name: str) -> DocumentFolder:
        return self._by_name.setdefault(name, DocumentFolder(self._folder / name))

    async def _at_work(self, work: Callable[..., Out], *arguments: object) -> Out:
        """What ``work`` returns in another thread. Raises FolderUnusable."""
        with usable(self._folder):
            return await asyncio.to_thread(work, *arguments)
