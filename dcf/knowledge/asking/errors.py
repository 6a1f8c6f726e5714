"""What a question can fail with, beside the graph itself."""

from __future__ import annotations

from dcf.knowledge.errors import KnowledgeError


class QuestionTooWide(KnowledgeError):
    """The graph stopped looking after {limit_ms} ms: {what} touches too much of it."""

    code = "graph_too_wide"
    hint = "ask for less: a later --since, one --task-type, one workflow"


class UnknownThing(KnowledgeError):
    """The graph knows no {kind} {name!r}."""

    code = "graph_unknown"
