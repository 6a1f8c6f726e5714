"""What can go wrong with letters."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.memory.errors import MemoryProblem


class CircularMessage(MemoryProblem):
    """This message would go round in a circle: {path}."""

    code = "memory_message_circular"
    hint = "each waits for the answer of the next; answer the message instead of asking back"

    def __init__(self, chain: Sequence[str]) -> None:
        self.chain = tuple(chain)
        super().__init__(path=" asks ".join(chain))


class UnknownLetter(MemoryProblem):
    """There is no message {letter_id} waiting for an answer, or answered."""

    code = "memory_message_unknown"
    hint = "messages are kept with the agent that they were sent to, and go with it"


class LetterLost(MemoryProblem):
    """Message {letter_id} was given to somebody else meanwhile (try {tries})."""

    code = "memory_message_lost"
    hint = "whoever has it now answers it"
