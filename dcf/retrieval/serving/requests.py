"""What may be asked of the service, and what is wrong with what was asked."""

from __future__ import annotations

import json
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from starlette.requests import ClientDisconnect, Request

from dcf.retrieval.question import Mode

MOST_BYTES = 4 * 1024 * 1024
"""A request body is at most so large: the longest text of a log fits in, escaped."""
_MODEL = ConfigDict(alias_generator=to_camel, validate_by_name=False, strict=True)
_WRONG = {
    "string_type": "is no string",
    "list_type": "is no list",
    "int_type": "is no whole number",
    "int_from_float": "is no whole number",
    "model_type": "is no JSON object",
}

Body = TypeVar("Body", bound=BaseModel)


class BadRequest(Exception):
    """The request cannot be answered; the text says why, ``status`` is that of HTTP."""

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.status = status


def _whole(value: Any) -> Any:
    """JSON has one kind of number: 8.0 is 8."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class LogBody(BaseModel):
    """An artifact to log."""

    model_config = _MODEL

    text: str | None = Field(None, description="What was said or happened; required.")
    tags: list[str] | None = Field(
        None, description="As in error, fix, decision, runlog, incident.", examples=[["error"]]
    )
    source: str | None = Field(None, description="Who says it, as in pytest, CI, review.")
    file_path: str | None = Field(None, description="The file that it is about.")
    root: str | None = Field(
        None, description="The project's folder, where the service has several."
    )


class ContextBody(BaseModel):
    """A question."""

    model_config = _MODEL

    query: str | None = Field(None, description="The question; required.")
    file_path: str | None = Field(
        None,
        description="Only what was logged about this file; code and documents near to it come"
        " earlier.",
    )
    tags: list[str] | None = Field(None, description="What has these comes earlier.")
    limit: Annotated[int | None, BeforeValidator(_whole)] = Field(
        None, description="At most so many: 1–100; 10, or 100 with a budget."
    )
    budget: Annotated[int | None, BeforeValidator(_whole)] = Field(
        None, description="Tokens that all of it may cost, with a share for each kind."
    )
    mode: Mode = Field("ranked", description="How memory and code become one list.")
    root: str | None = Field(
        None, description="The project's folder, where the service has several."
    )


async def body_of(request: Request, model: type[Body]) -> Body:
    """The body of a request. Raises BadRequest."""
    data = await _bytes_of(request)
    try:
        # Bytes are not left to `json`: it reads UTF-16 and halves of surrogate pairs from them.
        document = json.loads(data.decode("utf-8-sig"))
        if b"\\u" in data:
            json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise BadRequest(
            "the body has half of a surrogate pair, which UTF-8 cannot write"
        ) from None
    except RecursionError:
        raise BadRequest("the body is nested too deep") from None
    except ValueError as error:
        raise BadRequest(f"the body is no JSON: {error}") from None
    if not isinstance(document, dict):
        raise BadRequest("the body is no JSON object")
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise BadRequest("; ".join(map(_reason, error.errors(include_url=False)))) from None


async def _bytes_of(request: Request) -> bytes:
    taken = bytearray()
    try:
        async for chunk in request.stream():
            taken += chunk
            if len(taken) > MOST_BYTES:
                raise BadRequest(f"the body has over {MOST_BYTES:,} bytes", 413)
    except ClientDisconnect:
        # Nobody hears it, but it is counted as what it is.
        raise BadRequest("the request ended before its body did") from None
    return bytes(taken)


def _reason(error: Any) -> str:
    place = ".".join(map(str, error["loc"]))
    return f"{place} {_WRONG.get(error['type'], error['msg'])}"
