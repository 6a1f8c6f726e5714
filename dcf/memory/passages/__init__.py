"""The archives of agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.passages.changing import change_passage, delete_passage, insert
    from dcf.memory.passages.errors import UnknownPassage
    from dcf.memory.passages.fields import PassageFields, passage_of
    from dcf.memory.passages.finding import passage_row, passage_rows
    from dcf.memory.passages.passages import Passages
else:
    export_late(__name__)

__all__ = [
    "PassageFields",
    "Passages",
    "UnknownPassage",
    "change_passage",
    "delete_passage",
    "insert",
    "passage_of",
    "passage_row",
    "passage_rows",
]
