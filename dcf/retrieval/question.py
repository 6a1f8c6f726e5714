"""What is asked of a project's memory and code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from dcf.context_form import KINDS, LEAST_BUDGET, MOST_BUDGET, Kind
from dcf.retrieval.item import LONGEST_NAME, MOST_TAGS, text_faults
from dcf.secret_form import without_secrets

Mode: TypeAlias = Literal["ranked", "guide"]
MODES: tuple[Mode, ...] = get_args(Mode)
MOST_CONTEXT = 100
_DIGITS = 20
LONGEST_QUERY = 100_000
"""Characters of a query: room for a stack trace."""


@dataclass(frozen=True, slots=True)
class ContextQuestion:
    """``project`` is the folder whose memory and code are looked at. With a ``file_path``
    (relative to the folder) only items about this file are recalled, and what is near to it comes
    earlier; so does what has ``tags`` (``boosted``).
    With a ``budget`` what is found costs at most so many tokens, and each kind of text has its
    share (``bundled``). ``kinds`` are those that are looked for, ``workflow`` the only one whose
    observations are. With ``files``, files and folders relative to the project's, nothing that is
    in another file, or about one, is answered: it is left out, and said to be. Secrets are
    taken out of all of it, as they were of what is kept: so it is found, and nobody is told them.
    """

    project: str
    query: str
    file_path: str | None = None
    limit: int = 10
    mode: Mode = "ranked"
    budget: int | None = None
    kinds: Sequence[Kind] = KINDS
    files: Sequence[str] | None = None
    workflow: str | None = None
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.query) <= LONGEST_QUERY:  # what is longer is refused
            object.__setattr__(self, "query", without_secrets(self.query))
        if self.file_path is not None and len(self.file_path) <= LONGEST_NAME:
            object.__setattr__(self, "file_path", without_secrets(self.file_path))
        if len(self.tags) <= MOST_TAGS and all(len(one) <= LONGEST_NAME for one in self.tags):
            object.__setattr__(self, "tags", tuple(map(without_secrets, self.tags)))


def limit_of(limit: int | None, budget: int | None) -> int:
    """How many are asked for where nobody said it: with a budget that alone decides."""
    return limit if limit is not None else 10 if budget is None else MOST_CONTEXT


def _shown(number: int) -> str:
    return f"{number}" if abs(number) < 10**_DIGITS else f"a number of more than {_DIGITS} digits"


def faults_of(question: ContextQuestion) -> Iterator[str]:
    """All that is wrong with a question."""
    if not question.query.strip():
        yield "query required"
    if len(question.query) > LONGEST_QUERY:
        yield f"query has {len(question.query):,} characters, above {LONGEST_QUERY:,}"
    for fault in text_faults(question.query):
        yield f"query {fault}"
    for fault in text_faults(question.file_path or ""):
        yield f"filePath {fault}"
    if len(question.file_path or "") > LONGEST_NAME:
        yield f"filePath has over {LONGEST_NAME:,} characters"
    if len(question.tags) > MOST_TAGS:
        yield f"tags has {len(question.tags)} tags, above {MOST_TAGS}"
    for number, tag in enumerate(question.tags[:MOST_TAGS]):
        if not tag.strip():
            yield f"tags[{number}] is empty"
        if len(tag) > LONGEST_NAME:
            yield f"tags[{number}] has over {LONGEST_NAME:,} characters"
        for fault in text_faults(tag):
            yield f"tags[{number}] {fault}"
    if not 1 <= question.limit <= MOST_CONTEXT:
        yield f"limit is {_shown(question.limit)}, not between 1 and {MOST_CONTEXT}"
    if question.budget is not None and not LEAST_BUDGET <= question.budget <= MOST_BUDGET:
        yield f"budget is {_shown(question.budget)}, not between {LEAST_BUDGET} and {MOST_BUDGET:,}"
    if question.mode not in MODES:
        yield f"mode is {question.mode!r}, not one of {', '.join(MODES)}"
