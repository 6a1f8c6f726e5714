"""Files that are documents: their formats, which of them a folder has, and their bytes, read
without following a link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from dcf.code import listed
from dcf.documents.errors import NoRegularFile, TooLarge
from dcf.regular_file import open_below

LARGEST = 64 * 1024 * 1024
"""Bytes of a file."""
_FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "markdown": ".md .markdown .mdown .mkd",
        "text": ".txt .text .rst .adoc .asciidoc .org .tex .log",
        "html": ".html .htm .xhtml",
        "csv": ".csv .tsv",
        "notebook": ".ipynb",
        "mail": ".eml",
        "pdf": ".pdf",
        "docx": ".docx",
        "code": ".py .pyi .js .mjs .cjs .jsx .ts .mts .cts .tsx .go .rs .java .c .h .cc .cpp .hpp"
        " .cs .kt .scala .swift .rb .php .lua .r .jl .sh .bash .sql .proto .graphql .css"
        " .json .yaml .yml .toml .ini .cfg .xml",
    }
)
FORMATS = tuple(_FORMATS)
ENDINGS: Mapping[str, str] = MappingProxyType(
    {ending: name for name, endings in _FORMATS.items() for ending in endings.split()}
)


def format_of(path: str) -> str | None:
    """The format of the file at ``path``; of a name without an ending, as README, ``text``. None
    for what is not read."""
    ending = PurePosixPath(path).suffix.lower()
    return ENDINGS.get(ending) if ending else "text"


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """An open file, and what the system says of it."""

    descriptor: int
    status: os.stat_result

    def data(self) -> bytes:
        """Its bytes. Raises TooLarge, OSError."""
        if self.status.st_size > LARGEST:
            raise TooLarge(size=self.status.st_size, most=LARGEST)
        with os.fdopen(os.dup(self.descriptor), "rb") as stream:
            data = stream.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise TooLarge(size=len(data), most=LARGEST)
        return data


@contextmanager
def opened_document(root: Path, path: str) -> Iterator[DocumentFile]:
    """The file at ``path`` below ``root``. Raises NoRegularFile, OSError, also for a link."""
    descriptor = open_below(root, path)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise NoRegularFile()
        yield DocumentFile(descriptor, status)
    finally:
        os.close(descriptor)


async def documents_in(folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The paths, relative to ``folder``, of its documents, and of its other files; both without
    what git ignores, hidden files and links. Raises a CodeProblem."""
    found = (await listed(folder)).paths
    known = tuple(path for path in found if format_of(path) is not None)
    return known, tuple(path for path in found if format_of(path) is None)


def links_out_of(folder: Path, paths: Iterable[str]) -> Iterator[str]:
    """Links beside the files at ``paths`` whose target is not below ``folder``."""
    beside = {"."} | {str(above) for path in paths for above in PurePosixPath(path).parents}
    for one in sorted(beside):
        with os.scandir(folder / one) as entries:
            names = sorted(entry.name for entry in entries if entry.is_symlink())
        for name in names:
            link = folder / one / name
            if not _is_below(link, folder):
                yield str(PurePosixPath(one, name))


def _is_below(link: Path, folder: Path) -> bool:
    try:
        return link.resolve().is_relative_to(folder)
    except (OSError, RuntimeError):
        # Links in a circle lead nowhere.
        return False
