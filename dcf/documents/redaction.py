"""Blocks without the secrets that stood in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from dcf.documents.block import Block
from dcf.secret_form import without_secrets


def redacted(blocks: Sequence[Block]) -> list[Block]:
    """All of them are looked at together: what is a secret is told by what stands before it, also
    where another block begins."""
    # An empty line behind a table: its columns are none of the one below it.
    shown = (f"{one.text}\n" if one.kind == "table" else one.text for one in blocks)
    text = "\n".join(shown)
    kept = without_secrets(text, keep_lines=True)
    if kept == text:
        return list(blocks)
    lines = iter(kept.split("\n"))
    return [replace(block, text=_next(lines, block)) for block in blocks]


def _next(lines: Iterator[str], block: Block) -> str:
    text = "\n".join(islice(lines, block.text.count("\n") + 1))
    if block.kind == "table":
        next(lines)
    return text
