"""What may be kept, for whoever keeps agents elsewhere under the rules of the memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dcf.memory.agent import NewAgent
from dcf.memory.agents.fields import columns_of as agent_columns
from dcf.memory.agents.fields import fields_of as agent_fields
from dcf.memory.attached_tools.attached_tools import problems as tool_problems
from dcf.memory.block import Block, NewBlock
from dcf.memory.blocks.fields import new_columns, refuse_text
from dcf.memory.blocks.limits import Fitted, fit
from dcf.memory.blocks.writing import appended, replaced
from dcf.memory.checking import kept_time, refuse
from dcf.memory.letter import NewLetter
from dcf.memory.letters.rows import problems as letter_problems
from dcf.memory.passage import NewPassage
from dcf.memory.passages.fields import fields_of as passage_fields
from dcf.memory.passages.fields import problems as passage_problems
from dcf.memory.tool_spec import ToolSpec

__all__ = [
    "Fitted",
    "appended",
    "check_agent",
    "check_agent_fields",
    "check_letter",
    "check_passage",
    "check_tools",
    "fit_block",
    "fit_text",
    "kept_time",
    "replaced",
]


def check_agent(new: NewAgent) -> None:
    """Raises InvalidEntry with all that is wrong."""
    agent_columns(agent_fields(new))


def check_agent_fields(given: Mapping[str, Any]) -> None:
    """The same for changes of an agent."""
    agent_columns(given)  # type: ignore[arg-type]


def fit_block(new: NewBlock) -> Fitted:
    """The text of a new block under its limits. Raises InvalidEntry, OverLimit."""
    return fit(new_columns(new), new.value)


def fit_text(block: Block, text: str) -> Fitted:
    """A new text for ``block`` under its limits. Raises InvalidEntry, OverLimit."""
    row = {name: getattr(block, name) for name in ("label", "soft_limit", "hard_limit", "on_limit")}
    refuse_text(row, text)
    return fit(row, text)


def check_tools(tools: Sequence[ToolSpec]) -> None:
    """Raises InvalidEntry with all that is wrong."""
    refuse("the tools", tool_problems(tools))


def check_passage(new: NewPassage) -> None:
    """Raises InvalidEntry with all that is wrong."""
    refuse("the passage", passage_problems("", passage_fields(new)))


def check_letter(new: NewLetter) -> None:
    """Raises InvalidEntry with all that is wrong."""
    refuse("the message", letter_problems(new))
