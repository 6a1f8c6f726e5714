"""A logged item: what happened while somebody worked on a project, as it is worth knowing again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dcf.citation import Citation
from dcf.memory import MOMENTS
from dcf.problem import Problem
from dcf.secret_form import without_secrets

LONGEST = 1_000_000
"""Characters of an item's text."""
_LONGEST_KEPT = 10 * LONGEST
"""Those of one that is kept: a mark in place of a secret may be longer than the secret was."""
MOST_TAGS = 50
LONGEST_NAME = 1_000
"""Characters of a tag, of a source, and of the path of a file."""
OWN = "dcf:"
"""What the tags begin with that DCF itself makes: nobody else's may."""
FILE = f"{OWN}file="
"""What the tag of an item's file begins with, where files are tags."""


@dataclass(frozen=True, slots=True)
class NewItem:
    """What is logged: a text with ``tags``, each once, who says it (``source``, as in ``pytest``)
    and the file that it is about; both may be None."""

    text: str
    tags: tuple[str, ...] = ()
    source: str | None = None
    file_path: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """An item as it is kept: without secrets, its tags in order. ``timestamp`` is when it was
    logged, in ms since the epoch, UTC."""

    id: str
    text: str
    tags: tuple[str, ...]
    source: str | None
    file_path: str | None
    timestamp: int

    @property
    def citation(self) -> str:
        """Its address, which ``dcf open`` follows."""
        return str(Citation("memory", self.id))

    @property
    def said(self) -> str:
        """The words that it is found by: its text, and below that its tags, who says it and the
        path of its file, as in the memory."""
        about = (*self.tags, self.source, self.file_path)
        return "\n".join((self.text, *filter(None, about)))

    @classmethod
    def of(cls, new: NewItem, item_id: str, timestamp: int) -> Item:
        """``new`` as it may be kept. What was kept before is not changed by it."""
        return cls(
            item_id,
            without_secrets(new.text),
            tuple(sorted({without_secrets(tag) for tag in new.tags})),
            None if new.source is None else without_secrets(new.source),
            None if new.file_path is None else without_secrets(new.file_path),
            timestamp,
        )


@dataclass(frozen=True, slots=True)
class Recalled:
    """An item that answers a query, and why it is thought to; ``likeness`` of their meanings, at
    most 1, None where they were not compared."""

    item: Item
    why: str
    likeness: float | None = None


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """How long items are kept, in ms. ``by_tag`` has it by tag; an item ends with the first of its
    tags. ``others`` is for items without any of these tags, None for ever."""

    by_tag: Mapping[str, int] = field(default_factory=dict)
    others: int | None = None

    def ends(self, now: int) -> list[tuple[str | None, int]]:
        """Tags (None: of items that have none of the others), and until when what has one was
        logged if its time is over at ``now``; all in ms since the epoch."""
        of_others = [] if self.others is None else [(None, now - self.others)]
        return [*((tag, now - age) for tag, age in self.by_tag.items()), *of_others]

    def is_over(self, item: Item, now: int) -> bool:
        """Whether ``item`` is not to be found any more at ``now`` (ms since the epoch)."""
        ages = [self.by_tag[tag] for tag in item.tags if tag in self.by_tag]
        age = min(ages) if ages else self.others
        return age is not None and item.timestamp + age <= now


def problems_of(new: NewItem, longest: int = LONGEST) -> Iterator[Problem]:
    """All that keeps ``new``, whose text may have ``longest`` characters, from being logged."""
    yield from _text_problems("text", new.text, longest)
    if len(new.tags) > MOST_TAGS:
        yield _problem("tags", f"has {len(new.tags)} tags, above {MOST_TAGS}")
    for number, tag in enumerate(new.tags[:MOST_TAGS]):
        yield from _text_problems(f"tags[{number}]", tag, LONGEST_NAME)
        if tag.startswith(OWN):
            yield _problem(f"tags[{number}]", f"begins with {OWN!r}, as only DCF's own tags do")
    for name, value in (("source", new.source), ("filePath", new.file_path)):
        if value is not None:
            yield from _text_problems(name, value, LONGEST_NAME)


def faults_of_kept(item: Item) -> Iterator[str]:
    """All that keeps an item of another place from being kept as it is."""
    new = NewItem(item.text, item.tags, item.source, item.file_path)
    problems = [
        *problems_of(new, _LONGEST_KEPT),
        *_text_problems("id", item.id, LONGEST_NAME),
    ]
    yield from (one.message for one in problems)
    if not text_faults(item.id) and not item.id.isprintable():
        yield "its id has control characters"
    if item.timestamp not in MOMENTS:
        yield f"its timestamp {item.timestamp} is not in the years 1 to 9999"


def text_faults(text: str) -> Sequence[str]:
    """What keeps any text from being kept or looked for."""
    faults = ["has a NUL"] if "\0" in text else []
    try:
        text.encode()
    except UnicodeEncodeError:
        faults.append("has half of a surrogate pair, which UTF-8 cannot write")
    return faults


def _text_problems(name: str, text: str, longest: int) -> Iterator[Problem]:
    if not text.strip():
        yield _problem(name, "required" if name == "text" else "is empty")
    if len(text) > longest:
        yield _problem(name, f"has {len(text):,} characters, above {longest:,}")
    for fault in text_faults(text):
        yield _problem(name, fault)


def _problem(name: str, fault: str) -> Problem:
    return Problem("retrieval_item", f"{name} {fault}", f"/{name.replace('[', '/').rstrip(']')}")
