"""Errors on order: the n-th matching command of a script is answered with an error."""

from __future__ import annotations

from dataclasses import dataclass

ANY_COMMAND = "*"


@dataclass(slots=True)
class _Fault:
    name: str
    message: str
    remaining: int


class Faults:
    """Faults that wait for their command. Each strikes once; the command is then not executed."""

    def __init__(self) -> None:
        self._armed: list[_Fault] = []

    def __bool__(self) -> bool:
        return bool(self._armed)

    def arm(self, name: str, message: str, nth: int) -> None:
        """Answer the ``nth`` command ``name`` (``*``: any) from now on with ``message``."""
        if nth < 1:
            raise ValueError(f"nth counts from 1, got {nth}")
        self._armed.append(_Fault(name.upper(), message, nth))

    def clear(self) -> None:
        """Disarm all."""
        self._armed.clear()

    def strike(self, name: str) -> str | None:
        """Count the command ``name``; the error it gets, if its time has come."""
        message = None
        for fault in [fault for fault in self._armed if fault.name in (name, ANY_COMMAND)]:
            fault.remaining -= 1
            if fault.remaining == 0:
                self._armed.remove(fault)
                message = message or fault.message
        return message
