"""Graphiti over the graph: its own search, and the extraction of facts from texts.

Needs the extra ``knowledge``; importing this package does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.knowledge.graphiti.extracting import Extracted, extract_waiting
    from dcf.knowledge.graphiti.extraction_setting import ExtractionSetting
    from dcf.knowledge.graphiti.importing import GraphitiMissing, demand_graphiti
    from dcf.knowledge.graphiti.query import searchable
    from dcf.knowledge.graphiti.search import GraphitiSearch
else:
    export_late(__name__)

__all__ = [
    "Extracted",
    "ExtractionSetting",
    "GraphitiMissing",
    "GraphitiSearch",
    "demand_graphiti",
    "extract_waiting",
    "searchable",
]
