"""Which tools an agent's model knows."""

from __future__ import annotations

from dcf.memory.attached_tools.attached_tools import AttachedTools, attach_tool, held_tools

__all__ = ["AttachedTools", "attach_tool", "held_tools"]
