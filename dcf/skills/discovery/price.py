"""What it costs to load a skill."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from dcf.digest import canonical_json
from dcf.search import count_tokens
from dcf.skills.manifest import Manifest


@dataclass(frozen=True, slots=True)
class Price:
    """Tokens that a loaded skill adds to what the model reads, by part; about, see
    ``dcf.search.count_tokens``."""

    directives: int
    tools: int
    data: int

    @property
    def tokens(self) -> int:
        return self.directives + self.tools + self.data

    def to_json(self) -> dict[str, int]:
        return {"tokens": self.tokens, **asdict(self)}


def price_of(manifest: Manifest) -> Price:
    """The price of ``manifest``: its directives, its tools with their schemas, its data."""
    tools = [
        {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
        for tool in manifest.tools
    ]
    return Price(
        directives=count_tokens(manifest.directives),
        tools=sum(count_tokens(canonical_json(tool).decode()) for tool in tools),
        data=sum(count_tokens(source.text) for source in manifest.data_sources),
    )
