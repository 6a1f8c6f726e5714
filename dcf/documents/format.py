"""The formats that are read, by the endings of files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from types import MappingProxyType

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
