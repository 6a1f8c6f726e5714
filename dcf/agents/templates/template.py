"""A template: what agents of a kind are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dcf.memory import CONTEXT_WINDOW, Lifecycle, NewAgent, NewBlock


@dataclass(frozen=True, slots=True)
class Prompt:
    """An agent's standing orders. ``text`` is what the model gets."""

    name: str
    version: str
    text: str


@dataclass(frozen=True, slots=True)
class TemplateTools:
    """What agents may call beside what their skills declare: the tools of ``roles`` of DCF's MCP
    server without ``without``, and ``names``; with ``memory`` those of their own memory."""

    roles: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    memory: bool = False


@dataclass(frozen=True, slots=True)
class Template:
    """What agents are made from. ``model_tier`` (0 to 3) chooses the model where the work itself
    says nothing; ``digest`` is of the template and its prompt, and changes with any letter."""

    name: str
    version: str
    description: str
    role: str
    prompt: Prompt
    tools: TemplateTools
    blocks: tuple[NewBlock, ...]
    model_tier: int
    lifecycle: Lifecycle
    digest: str
    context_window: int = CONTEXT_WINDOW
    parallel_tool_calls: bool = True
    enable_sleeptime: bool = False

    def new_agent(
        self, name: str, *, model: str | None = None, tags: Sequence[str] = ()
    ) -> NewAgent:
        """An agent made from it; give it ``blocks`` too."""
        return NewAgent(
            name=name,
            description=self.description,
            role=self.role,
            model=model,
            system=self.prompt.text,
            context_window=self.context_window,
            parallel_tool_calls=self.parallel_tool_calls,
            enable_sleeptime=self.enable_sleeptime,
            lifecycle=self.lifecycle,
            template=self.name,
            template_digest=self.digest,
            tags=tuple(tags),
        )
