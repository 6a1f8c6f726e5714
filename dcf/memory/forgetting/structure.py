"""Words that stand in JSON because of its form: nobody wrote them."""

from __future__ import annotations

from dataclasses import fields

from dcf.memory.consolidation.session import ConsolidationChange, LeftOut
from dcf.memory.observation import Artifact
from dcf.memory.playbook import PlaybookUse
from dcf.memory.thread import ToolUse

_CALL = frozenset({"kind", "id", "tool", "arguments", "content", "is_error"})
_KEPT = (ToolUse, Artifact, PlaybookUse, ConsolidationChange, LeftOut)
OURS = _CALL | {field.name for one in _KEPT for field in fields(one)}
"""Keys of what columns have lists of, as the parts of a message: they stay."""
WORDS = OURS | {"true", "false", "null"}
