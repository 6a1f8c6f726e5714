"""A block of ours as a block of the server, and back.

What the server has no place for stands in the block's metadata: under ``dcf`` as in an agent file,
under ``dcf_block`` where it came from and its times.
"""

from __future__ import annotations

from dataclasses import fields as fields_in
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dcf.agents.files.block_form import BLOCK
from dcf.agents.letta.revision import revision_of
from dcf.memory import Block, NewBlock

if TYPE_CHECKING:
    from letta_client.types import BlockResponse

KEPT = "dcf_block"
OURS = "dcf:block"
"""The tag of blocks that DCF made: they go with the last agent that holds them."""


def block_of(state: BlockResponse, warning: str | None = None) -> Block:
    """The block as it is on the server."""
    raw = {
        "label": state.label or "",
        "value": state.value,
        "description": state.description,
        "limit": state.limit,
        "read_only": state.read_only,
        "metadata": dict(state.metadata or {}),
    }
    fields, _ = BLOCK.read(raw)
    metadata = dict(fields.pop("metadata"))
    kept: Any = metadata.pop(KEPT, None) or {}
    fields |= {"metadata": metadata, "provenance": kept.get("provenance", "new")}
    return Block(
        id=state.id,
        **fields,
        revision=revision_of(fields),
        created_at=int(kept.get("created_at", 0)),
        updated_at=int(kept.get("updated_at", 0)),
        warning=warning,
    )


def members_of(new: NewBlock, value: str, at: int) -> dict[str, Any]:
    """What the server is told of a new block, whose text is kept as ``value``."""
    new = replace(new, value=value)
    values = {one.name: getattr(new, one.name) for one in fields_in(NewBlock)}
    provenance = values.pop("provenance")
    members = BLOCK.write({**values, "metadata": dict(values["metadata"])}, {})
    members["metadata"][KEPT] = {
        "provenance": provenance,
        "created_at": at,
        "updated_at": at,
    }
    return {**members, "description": new.description, "tags": [OURS]}


def written_at(state: BlockResponse, at: int) -> dict[str, Any]:
    """The metadata of the block once it is written at ``at``."""
    metadata = dict(state.metadata or {})
    kept: Any = metadata.get(KEPT) or {}
    return {**metadata, KEPT: {**kept, "updated_at": at}}
