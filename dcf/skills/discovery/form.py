"""What of a skill is searched, and how much each part counts."""

from __future__ import annotations

from dcf.search import Document, Shape, opening, spoken
from dcf.skills.manifest import Manifest

# A word of the name or a tag says what a skill is for; one of the directives may stand there by
# the way. Three views: the whole, the first sentence, which says what it is for, and the name.
# The measurements behind the numbers are in docs/explanation/discovery.md.
SKILL_SHAPE = Shape(
    fields={"name": 3.0, "description": 1.0, "tags": 2.0, "tools": 1.0, "directives": 0.3},
    views=(1.0, 0.4, 0.1),
    name="name",
)


def skill_document(manifest: Manifest) -> Document:
    """The skill as a document of the index.

    Directives are found by their words and not embedded: a long text is about many things.
    """
    tools = " ".join(f"{spoken(tool.name)}: {tool.description}" for tool in manifest.tools)
    tags = " ".join(spoken(tag) for tag in manifest.tags)
    name = spoken(manifest.name)
    head = f"{name}: {manifest.description}"
    whole = " ".join(part for part in (head, tags, tools) if part)
    fields = {
        "name": manifest.name,
        "description": manifest.description,
        "tags": tags,
        "tools": tools,
        "directives": manifest.directives,
    }
    gist = opening(manifest.description) or whole
    return Document(manifest.manifest_id, fields, (whole, gist, name))
