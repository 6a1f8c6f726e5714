"""What of a row is searched."""

from __future__ import annotations

import json
from dataclasses import dataclass

from dcf.memory.audit.entity import Row
from dcf.memory.search.found import Kind
from dcf.memory.search.place import node_space, project_space
from dcf.search import beginnings, name_parts, segmented, spoken, words

# Enough to say what a text is about.
_MEANT = 4_000
# Enough to say how many words a text has; a block may have millions.
_COUNTED = 65_536
# Of what a tool put out in a turn: the rest is seldom what a turn is looked for by.
_PUT_OUT = 4_000
TABLES: dict[str, str] = {
    "message": "messages",
    "passage": "passages",
    "block": "blocks",
    "observation": "observations",
    "thread": "searched_turns",
    "entry": "searched_entries",
    "document": "searched_pieces",
}
"""Where the rows of each kind stand; of threads their turns, of documents their pieces, and those
of nodes, with their project."""


@dataclass(frozen=True, slots=True)
class Entry:
    """``text`` is what a row says; ``about`` who says it, what it is called, its tags: words that
    count for this text alone, not for its neighbours. ``space`` is whose it is; None: nobody's."""

    kind: Kind
    ref: str
    space: str | None
    seq: int
    text: str
    about: str

    @property
    def is_said(self) -> bool:
        """Whether it is part of a conversation: what stands beside it belongs to it."""
        return self.kind in ("message", "thread")

    @property
    def length(self) -> int:
        """Words of the text; of a very long one about as many, by those of its beginning."""
        counted = self.text[:_COUNTED]
        return len(spoken(counted).split()) * len(self.text) // max(len(counted), 1)

    @property
    def meant(self) -> str:
        """What is embedded: the text with who says it, long ones from their beginning."""
        return f"{self.about}: {self.text[:_MEANT]}" if self.about else self.text[:_MEANT]

    @property
    def indexed(self) -> tuple[str, str]:
        """What the index is given for its two columns."""
        # Names of the kind that programs have are found by their parts too.
        about = segmented(self.about)
        return _said(self.text), about if about == spoken(about) else _both(about)


def entry_of(name: str, row: Row | None) -> Entry | None:
    """The entry for a row of the entity ``name``; None if nothing of it is searched."""
    if row is None or name not in TABLES:
        return None
    if name == "message":
        entry = _of_message(row)
    elif name == "passage":
        about = " ".join([*json.loads(row["tags"]), row["source"]]).strip()
        entry = Entry("passage", row["id"], row["agent_id"], 0, row["text"], about)
    elif name == "block":
        entry = Entry("block", row["id"], None, 0, row["value"], row["label"])
    elif name == "thread":
        entry = _of_turn(row)
    elif name == "entry":
        space = node_space(row["node_id"])
        entry = Entry("entry", row["id"], space, 0, row["text"], row["kind"])
    elif name == "document":
        entry = _of_piece(row)
    else:
        entry = _of_observation(row)
    return entry if entry.text.strip() else None


def _of_message(row: Row) -> Entry:
    said = [row["content"]]
    for part in json.loads(row["parts"]) if row["parts"] != "[]" else ():
        said.append(str(part.get("tool", "")))
        said.append(_plain(part.get("arguments" if part["kind"] == "call" else "content")))
    text = "\n".join(one for one in said if one)
    return Entry("message", row["id"], row["agent_id"], row["seq"], text, row["sender"] or "")


def _of_turn(row: Row) -> Entry:
    said = [row["text"]]
    for tool in json.loads(row["tools"]):
        said += [tool["name"], *map(_plain, tool["input"].values()), tool["output"][:_PUT_OUT]]
    text = "\n".join(one for one in said if one)
    return Entry("thread", row["id"], project_space(row["project"]), row["seq"], text, row["role"])


def _of_piece(row: Row) -> Entry:
    about = " ".join([row["path"], row["title"], *json.loads(row["headings"])])
    space = project_space(row["project"])
    return Entry("document", row["id"], space, row["seq"], row["text"], about)


def _of_observation(row: Row) -> Entry:
    said = [row["title"], row["subtitle"], *json.loads(row["facts"]), row["narrative"]]
    places = [one["path"] for one in json.loads(row["artifacts"])]
    about = " ".join([*places, *json.loads(row["concepts"]), row["type"]])
    text = "\n".join(one for one in said if one)
    return Entry("observation", row["id"], project_space(row["project"]), 0, text, about)


def _plain(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _said(text: str) -> str:
    """The words of ``text``, how those that are not English begin, and the parts of those that are
    names of programs; of a very long one those of its beginning."""
    begun = words(text[:_COUNTED])
    return " ".join([segmented(text), *beginnings(begun), *name_parts(begun)])


def _both(name: str) -> str:
    return f"{name} {spoken(name)}"
