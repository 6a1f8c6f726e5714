"""Where letters wait, as whoever delivers them sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from dcf.memory import Actor, Letter


class Inbox(Protocol):
    """Letters of many agents: those of a memory, or of a server. Methods as of
    ``dcf.memory.Letters``."""

    async def get(self, letter_id: str) -> Letter:
        """The letter with this id. Raises UnknownLetter."""
        ...

    async def take(self, *, by: Actor, lease_ms: int) -> Letter | None:
        """The oldest letter that can be delivered now, for ``lease_ms``."""
        ...

    async def keep(self, letter: Letter, *, by: Actor, lease_ms: int) -> None:
        """Have a letter that was taken longer. Raises LetterLost, UnknownLetter."""
        ...

    async def fail(self, letter: Letter, error: str, cause: str, *, by: Actor) -> None:
        """There will be no answer. Raises LetterLost, UnknownLetter."""
        ...

    async def give_back(self, letter: Letter, *, by: Actor) -> None:
        """Let somebody else take the letter. Raises LetterLost, UnknownLetter."""
        ...
