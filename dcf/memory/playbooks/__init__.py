"""Playbooks: errors that were seen before, matched against new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.playbooks.error_words import pattern_words
    from dcf.memory.playbooks.errors import PlaybookExists, UnknownPlaybook
    from dcf.memory.playbooks.playbooks import Playbooks
    from dcf.memory.playbooks.proposing import proposal_of
else:
    export_late(__name__)

__all__ = ["PlaybookExists", "Playbooks", "UnknownPlaybook", "pattern_words", "proposal_of"]
