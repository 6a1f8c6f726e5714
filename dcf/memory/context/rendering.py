"""Blocks as a model reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

_END = "</block>"
_PAD_END = "</scratch_pad>"


def rendered_blocks(held: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """The blocks (label, row) in their order: what each is for, how full it is, whether it may be
    written, and its text. Nothing where there are no blocks."""
    blocks = [_rendered(label, row) for label, row in held]
    return "\n".join(["<memory>", *blocks, "</memory>"]) if blocks else ""


def system_text(
    instructions: str,
    held: Iterable[tuple[str, Mapping[str, Any]]],
    pad: Mapping[str, Any] | None = None,
) -> str:
    """The instructions, then the blocks, then what stands on the scratch pad."""
    parts = [instructions.strip(), rendered_blocks(held), _rendered_pad(pad)]
    return "\n\n".join(part for part in parts if part)


def _rendered_pad(pad: Mapping[str, Any] | None) -> str:
    if pad is None or not pad["value"]:
        return ""
    value = pad["value"].replace(_PAD_END, "<\\/scratch_pad>")
    size = f'bytes="{pad["bytes"]}" limit="{pad["most_bytes"]}"'
    return f"<scratch_pad {size}>\n{value}\n{_PAD_END}"


def _rendered(label: str, row: Mapping[str, Any]) -> str:
    size = len(row["value"].encode())
    limit = row["hard_limit"] if row["hard_limit"] is not None else row["soft_limit"]
    marks = [f'label="{escape(label)}"', f'bytes="{size}"']
    if limit is not None:
        marks.append(f'limit="{limit}"')
    if row["read_only"]:
        marks.append('read_only="true"')
    if row["description"]:
        marks.append(f'description="{escape(row["description"])}"')
    # A text cannot end its block and begin another one.
    value = row["value"].replace(_END, "<\\/block>").replace("</memory>", "<\\/memory>")
    return f"<block {' '.join(marks)}>\n{value}\n{_END}"
