"""Runbooks as people write them, as drafts: a valid procedure, where every sentence went, and
questions about what was not understood.

``draft(text, file)`` reads any Markdown; ``outcome(draft)`` tells it as data, by line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.sop.runbook.drafted import Draft, NoDraft
    from dcf.sop.runbook.outcome import outcome
    from dcf.sop.runbook.question import Question
    from dcf.sop.runbook.reading import draft
    from dcf.sop.runbook.sentence import PLACES, Place, Sentence
else:
    export_late(__name__)

__all__ = ["PLACES", "Draft", "NoDraft", "Place", "Question", "Sentence", "draft", "outcome"]
