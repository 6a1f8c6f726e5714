"""Trees of nodes: what a branch reads and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.nodes.changing import root_row
    from dcf.memory.nodes.choosing import EVENT, Choice, chosen_ids, statuses
    from dcf.memory.nodes.errors import (
        EntryInherited,
        EntryShadowed,
        NodeElsewhere,
        NodeExists,
        NodeOfItself,
        NodeShared,
        NotAbove,
        NotCurrentNode,
        RootFixed,
        UnknownEntry,
        UnknownNode,
    )
    from dcf.memory.nodes.fields import (
        EntryFields,
        NodeFields,
        entry_columns,
        fields_of,
        new_columns,
    )
    from dcf.memory.nodes.finding import lineage_rows, shadowed_ids
    from dcf.memory.nodes.nodes import Nodes
    from dcf.memory.nodes.reaching import made_for
else:
    export_late(__name__)

__all__ = [
    "EVENT",
    "Choice",
    "EntryFields",
    "EntryInherited",
    "EntryShadowed",
    "NodeElsewhere",
    "NodeExists",
    "NodeFields",
    "NodeOfItself",
    "NodeShared",
    "Nodes",
    "NotAbove",
    "NotCurrentNode",
    "RootFixed",
    "UnknownEntry",
    "UnknownNode",
    "chosen_ids",
    "entry_columns",
    "fields_of",
    "lineage_rows",
    "made_for",
    "new_columns",
    "root_row",
    "shadowed_ids",
    "statuses",
]
