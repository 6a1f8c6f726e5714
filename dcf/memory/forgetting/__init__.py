"""Forgetting all that names a subject, for good, with a receipt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.forgetting.errors import SubjectTooShort, UnknownReceipt
    from dcf.memory.forgetting.forgetting import Forgetting
    from dcf.memory.forgetting.subject import Subject
else:
    export_late(__name__)

__all__ = ["Forgetting", "Subject", "SubjectTooShort", "UnknownReceipt"]
