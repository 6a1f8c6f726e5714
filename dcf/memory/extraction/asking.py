"""What asks a model, and how that can fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dcf.memory.extraction.prompt import Prompt


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said, and which one it was."""

    text: str
    model: str


class Asker(Protocol):
    """Asks the model of the extraction. ``identity`` is a digest of what may be refused as a whole:
    the model, its address, its key."""

    identity: str

    async def ask(self, prompt: Prompt) -> Answer:
        """Raises AskFailed, AskPostponed, AskDenied, and what ``Spending`` raises."""
        ...


class AskFailed(Exception):
    """The model cannot answer this prompt; it may answer others."""


class AskPostponed(Exception):
    """The provider was busy or away, for as long as was tried. ``asked_s`` is how long it asks not
    to be asked, where it said so."""

    def __init__(self, reason: str, asked_s: float | None = None) -> None:
        self.asked_s = asked_s
        super().__init__(reason)


class AskDenied(Exception):
    """The provider refuses whoever asks: any other prompt would be refused too."""
