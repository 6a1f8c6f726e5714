"""Search over blocks, messages, passages, observations, turns of threads and entries of nodes: by
words and by meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.search.agreement import index_faults
    from dcf.memory.search.found import AGENT_KINDS, KINDS, LEAST_SIMILARITY, Found, Kind
    from dcf.memory.search.indexing import follow_search, is_index_old, make_index, rebuild
    from dcf.memory.search.question import Question
    from dcf.memory.search.search import Search
    from dcf.memory.search.time_span import TIME_EXAMPLES, TimeSpan, span_of
else:
    export_late(__name__)

__all__ = [
    "AGENT_KINDS",
    "KINDS",
    "LEAST_SIMILARITY",
    "TIME_EXAMPLES",
    "Found",
    "Kind",
    "Question",
    "Search",
    "TimeSpan",
    "follow_search",
    "index_faults",
    "is_index_old",
    "make_index",
    "rebuild",
    "span_of",
]
