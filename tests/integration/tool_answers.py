"""What tests ask of the tools of the platform, over a wire or without one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class ToolAnswers(ABC):
    """Tools that can be called, and whose answers are looked at."""

    @abstractmethod
    async def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The answer of a tool."""

    async def good(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The answer of a tool that has to work."""
        answer = await self.call(name, **arguments)
        assert answer["error"] is None, answer
        return answer

    async def refused(self, name: str, **arguments: Any) -> str:
        """The code of the error of a tool that has to refuse."""
        answer = await self.call(name, **arguments)
        assert answer["error"] is not None, answer
        return str(answer["error"]).partition(":")[0]
