"""Threads of other programs."""

from dcf.memory.threads.errors import UnknownThread, UnknownTurn
from dcf.memory.threads.threads import Threads

__all__ = ["Threads", "UnknownThread", "UnknownTurn"]
