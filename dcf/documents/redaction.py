"""Blocks without the secrets that stood in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dcf.documents.block import Block
from dcf.secret_form import without_secrets


def redacted(blocks: Sequence[Block]) -> list[Block]:
    """All of them are looked at together: what is a secret is told by what stands before it, also
    where another block begins."""
    text = "\n".join(block.text for block in blocks)
    kept = without_secrets(text, keep_lines=True)
    if kept == text:
        return list(blocks)
    lines = iter(kept.split("\n"))
    return [
        replace(block, text="\n".join(next(lines) for _ in range(block.text.count("\n") + 1)))
        for block in blocks
    ]
