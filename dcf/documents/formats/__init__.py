"""A parser for each format: from its bytes to its blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TypeAlias, cast

from dcf.documents.block import Block, Reading

Parser: TypeAlias = Callable[[bytes, Reading], Iterator[Block]]


Pager: TypeAlias = Callable[[bytes, int], Iterator[str]]


def pager(format: str) -> Pager:
    """What makes HTML of a format that is no text: so many characters at most of those bytes, a
    line for each paragraph."""
    module = import_module(f"dcf.documents.formats.{format}_page")
    return cast("Pager", module.page)


def parser(format: str) -> Parser:
    """The parser of one of ``FORMATS``, loaded when it is first asked for."""
    module = import_module(f"dcf.documents.formats.{format}")
    return cast("Parser", module.blocks)
