"""The conductor: talks with the user while companions work."""

from __future__ import annotations

from dcf.sessions.conductor.interface import Converses
from dcf.sessions.conductor.reply import Fired, Reply, Row
from dcf.sessions.conductor.request import task_id_of

__all__ = ["Converses", "Fired", "Reply", "Row", "task_id_of"]
