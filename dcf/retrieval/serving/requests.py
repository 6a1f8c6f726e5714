"""What may be asked of the service, and what is wrong with what was asked."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from starlette.requests import ClientDisconnect, Request

from dcf.retrieval.item import NewItem, problems_of
from dcf.retrieval.question import MODES, ContextQuestion, Mode, faults_of, limit_of
from dcf.secret_form import without_secrets

MOST_BYTES = 4 * 1024 * 1024
"""A request body is at most so large: the longest text of a log fits in, escaped."""
_MODEL = ConfigDict(alias_generator=to_camel, validate_by_name=False, strict=True, extra="forbid")
_RULES = {
    "string_type": "a string",
    "list_type": "a list of strings",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a whole number",
    "literal_error": " or ".join(MODES),
}
_TOLD = 20
"""Faults that a refusal tells; of more it says how many."""
_LARGE = 64 * 1024
"""Bytes of a body that is read beside the loop: others are answered meanwhile."""
_WHOLE = 1e15
"""Numbers with a point from here on are not taken for whole ones."""
_SHOWN = 40
"""Characters of what was found that a refusal tells again."""
_SIGNS = re.compile(r"[\W_]+")

Body = TypeVar("Body", "LogBody", "ContextBody")


class BadRequest(Exception):
    """The request cannot be answered; the text says why, ``status`` is that of HTTP."""

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.status = status


def _whole(value: Any) -> Any:
    """JSON has one kind of number: 8.0 is 8."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE
    return int(value) if is_whole else value


class LogBody(BaseModel):
    """An artifact to log."""

    model_config = _MODEL
    unused: ClassVar[Sequence[str]] = ("id", "timestamp")
    """Fields of an artifact that the service gives itself: one that was answered, or is kept
    elsewhere, may be sent as it is."""

    text: str | None = Field(None, description="What was said or happened; required.")
    tags: list[str] | None = Field(
        None, description="As in error, fix, decision, runlog, incident.", examples=[["error"]]
    )
    source: str | None = Field(None, description="Who says it, as in pytest, CI, review.")
    file_path: str | None = Field(None, description="The file that it is about.")
    root: str | None = Field(
        None, description="The project's folder, where the service has several."
    )
    id: Any = Field(None, description="Not used: the service gives ids.")
    timestamp: Any = Field(None, description="Not used: it is when the service gets it.")

    def item(self) -> NewItem:
        """What it asks to be kept."""
        tags = tuple(self.tags or ())
        return NewItem(self.text or "", tags, self.source or None, self.file_path or None)

    def faults(self) -> Iterator[str]:
        """What keeps it from being kept, each with its field first."""
        return (one.message for one in problems_of(self.item()))

    def warnings(self) -> list[str]:
        """What was given and is not used."""
        given = [name for name in self.unused if getattr(self, name) is not None]
        return [f"{name} is not used: the service gives its own" for name in given]


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

    def question(self, project: str) -> ContextQuestion:
        """What it asks about ``project``."""
        return ContextQuestion(
            project,
            self.query or "",
            self.file_path or None,
            limit_of(self.limit, self.budget),
            self.mode,
            self.budget,
            tags=tuple(self.tags or ()),
        )

    def faults(self) -> Iterator[str]:
        """What keeps it from being answered, each with its field first."""
        return faults_of(self.question(""))


async def body_of(request: Request, model: type[Body]) -> Body:
    """The body of a request. Raises BadRequest."""
    data = await _bytes_of(request)
    if len(data) < _LARGE:
        return _read(data, model)
    return await asyncio.to_thread(_read, data, model)


def _read(data: bytes, model: type[Body]) -> Body:
    try:
        # Bytes are not left to `json`: it reads UTF-16 and halves of surrogate pairs from them.
        document = json.loads(data.decode("utf-8-sig"))
        if b"\\u" in data:
            json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise BadRequest(
            "the body has half of a surrogate pair, which UTF-8 cannot write"
        ) from None
    except UnicodeDecodeError as error:
        raise BadRequest(f"the body is no JSON: its byte {error.start + 1} is no UTF-8") from None
    except RecursionError:
        raise BadRequest("the body is nested too deep") from None
    except json.JSONDecodeError as error:
        raise BadRequest(f"the body is no JSON: {error}") from None
    except ValueError:
        raise BadRequest("the body has a whole number of over 4,300 digits") from None
    if not isinstance(document, dict):
        raise BadRequest(f"the body is no JSON object but {_found(document)}")
    few, more = _shortened(model, document)
    try:
        return model.model_validate(few)
    except ValidationError as error:
        faults: list[str] = list(_faults(model, few, error))
        more += max(0, len(faults) - _TOLD)
        told = [*faults[:_TOLD], f"and {more:,} more"] if more else faults
        raise BadRequest("; ".join(told)) from None


def _shortened(model: type[Body], document: Mapping[str, Any]) -> tuple[Mapping[str, Any], int]:
    """``document`` with no more that is wrong in it than is told, and how much was left out: to
    collect 1,000,000 faults takes seconds and more than a gigabyte."""
    known = {one.alias or name for name, one in model.model_fields.items()}
    few, left_out, unknown = dict[str, Any](), 0, 0
    for name, value in document.items():
        unknown += name not in known
        if name not in known and unknown > _TOLD:
            left_out += 1
        elif name in known and isinstance(value, list):
            wrong = [at for at, one in enumerate(value) if not isinstance(one, str)]
            few[name] = value[: wrong[_TOLD]] if len(wrong) > _TOLD else value
            left_out += max(0, len(wrong) - _TOLD)
        else:
            few[name] = value
    return few, left_out


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


def _faults(
    model: type[Body], document: Mapping[str, Any], refused: ValidationError
) -> Iterator[str]:
    """All that is wrong with a body: of its form, then of what the fields of the right form say."""
    errors = refused.errors(include_url=False)
    wrong = {str(error["loc"][0]) for error in errors}
    for error in errors:
        first, *rest = error["loc"]
        if error["type"] == "extra_forbidden":
            yield _unknown(model, str(first))
        else:
            place = f"{first}{''.join(f'[{one}]' for one in rest)}"
            yield f"{place} is {_found(error['input'])}; it must be {_RULES[error['type']]}"
    right = {name: value for name, value in document.items() if name not in wrong}
    for fault in model.model_validate(right).faults():
        # A field that is there and wrong is not missing as well.
        if re.match(r"\w+", fault)[0] not in wrong:  # type: ignore[index]
            yield fault


def _unknown(model: type[Body], name: str) -> str:
    known = [one.alias or one_name for one_name, one in model.model_fields.items()]
    near = get_close_matches(_plain(name[:_SHOWN]), map(_plain, known), 1, 0.7)
    mend = (
        f"did you mean {next(one for one in known if _plain(one) == near[0])}?"
        if near
        else f"there are {', '.join(known)}"
    )
    return f"{_cut(name)} is not a field of this request: {mend}"


def _plain(name: str) -> str:
    """``file_path``, ``File-Path`` and ``filePath`` are the same to people."""
    return _SIGNS.sub("", name).lower()


def _found(value: Any) -> str:
    """What a JSON value is, in words: ``the string "8"``, ``a list``."""
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
        case str():
            return f"the string {json.dumps(_cut(value), ensure_ascii=False)}"
        case None | bool():
            return json.dumps(value)
        case _:
            return f"the number {_cut(json.dumps(value))}"


def _cut(text: str) -> str:
    # Secrets first: one that is cut is not known for one.
    text = without_secrets(text[: 100 * _SHOWN])
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
