"""What can go wrong when a subject is forgotten."""

from __future__ import annotations

from dcf.memory.errors import MemoryProblem


class SubjectTooShort(MemoryProblem):
    """What is to be forgotten has {found} letters and digits, fewer than {least}."""

    code = "memory_subject_too_short"
    hint = "a name as it is written, as in 'Ann Miller': so few letters are in half of all texts"


class UnknownReceipt(MemoryProblem):
    """There is no receipt {receipt_id!r}."""

    code = "memory_unknown_receipt"
    hint = "`dcf memory receipts` lists them"
