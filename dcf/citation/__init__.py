"""Citations: the addresses ``dcf://…`` of what is remembered, was done and is written.

``str(citation)`` is the one way to write one and ``parse_citation`` its inverse;
``find_citations`` finds those that stand in a text. Knows no store: nothing says that what is cited
exists, nor who may read it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.citation.citation import Citation
    from dcf.citation.errors import InvalidCitation
    from dcf.citation.finding import FoundCitation, find_citations
    from dcf.citation.form import KINDS, TEMPLATES, Kind, Part
    from dcf.citation.reading import parse_citation
else:
    export_late(__name__)

__all__ = [
    "KINDS",
    "TEMPLATES",
    "Citation",
    "FoundCitation",
    "InvalidCitation",
    "Kind",
    "Part",
    "find_citations",
    "parse_citation",
]
