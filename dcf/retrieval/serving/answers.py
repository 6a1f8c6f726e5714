"""What the service answers: names in camelCase, what is not there left out; why it does not."""

from __future__ import annotations

import logging
from dataclasses import asdict
from typing import Any

from pydantic.alias_generators import to_camel
from pydantic_core import to_json
from starlette.responses import JSONResponse, Response

from dcf.problem import ProblemError
from dcf.retrieval.audit_log import Caller
from dcf.retrieval.bundle import Bundle
from dcf.retrieval.candidate import Scored
from dcf.retrieval.errors import AnswerersFailed, RetrievalProblem, RootNotServed, UnknownItem
from dcf.retrieval.item import Item
from dcf.retrieval.question import ContextQuestion
from dcf.retrieval.retrieval import Retrieval
from dcf.secret_form import without_secrets

_log = logging.getLogger(__name__)

_STATUS: dict[type[ProblemError], int] = {RootNotServed: 403, UnknownItem: 404}


class Json(JSONResponse):
    """Written by a compiled encoder: answers are most of what the service's own code does."""

    def render(self, content: Any) -> bytes:
        return to_json(content)


async def context_answer(retrieval: Retrieval, question: ContextQuestion, by: Caller) -> Response:
    """The answer to a question that ``by`` asks. Raises a ProblemError."""
    answered = await retrieval.context(question, by)
    answer: dict[str, Any] = {
        "query": without_secrets(question.query),
        "context": [*map(context_item, answered.found)],
    }
    if answered.bundle is not None:
        answer["bundle"] = bundle(answered.bundle)
    if answered.problems:
        answer["warnings"] = [one.with_hint for one in answered.problems]
    return Json(answer)


def refusal(error: ProblemError) -> Response:
    """Why there is no answer."""
    said = without_secrets(str(error))
    hint = {"hint": error.hint} if error.hint else {}
    if isinstance(error, RetrievalProblem) and not isinstance(error, AnswerersFailed):
        # Its message is the reason alone, as in "text required".
        status = _STATUS.get(type(error), 400)
        return JSONResponse({"error": said.removesuffix("."), **hint}, status_code=status)
    _log.warning("%s: %s", error.code, said)
    return JSONResponse({"error": said, **hint}, status_code=503)


def stored(item: Item) -> dict[str, Any]:
    """A logged item."""
    return _there(
        id=item.id,
        text=item.text,
        tags=list(item.tags),
        source=item.source,
        filePath=item.file_path,
        timestamp=item.timestamp,
        citation=item.citation,
    )


def context_item(scored: Scored) -> dict[str, Any]:
    """One entry of a context."""
    one = scored.candidate
    about = {to_camel(name): value for name, value in one.about.items()}
    return _there(
        type=one.type,
        score=scored.score,
        relevance=scored.relevance,
        text=one.text,
        **about,
        citation=one.citation,
        tokens=scored.tokens,
        why=list(scored.why),
    )


def bundle(made: Bundle) -> dict[str, Any]:
    """What a budget was spent on, in tokens."""
    kinds = {
        kind: {to_camel(name): value for name, value in asdict(part).items()}
        for kind, part in made.parts.items()
    }
    return {"budget": made.budget, "used": made.used, "kinds": kinds}


def _there(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
