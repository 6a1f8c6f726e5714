"""What an agent has loaded, as three members of its record. Pure: who holds what is counted here.

- ``dcf_active_skills`` ``{manifestId: {skillName, skillVersion, digest, memoryBlockIds, toolIds,
  dataSourceBlockIds, dependencies: {as authored: manifestId}, requested, trusted}}``
- ``blocks`` ``{block id: {label, value, destination, holders: [manifestId]}}``
- ``tools`` ``{serverId:toolName: {server_id, tool_name, holders: {manifestId: {name, description,
  required, idempotent, input_schema, egress, secrets, risk, trusted}}}}``

A block or tool is there as long as one skill holds it, a skill as long as somebody asked for it or
one that is there needs it.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from dcf.agents.loading.blocks import Block, data_blocks, directives_block
from dcf.agents.loading.grants import grant_document, grants_of, tool_id
from dcf.skills import Manifest

JSON = Any

ACTIVE = "dcf_active_skills"
BLOCKS = "blocks"
TOOLS = "tools"
MEMBERS = (ACTIVE, BLOCKS, TOOLS)


class SkillSet:
    """A changeable copy of the three members."""

    def __init__(self, record: Mapping[str, JSON]) -> None:
        self.active: dict[str, JSON] = copy.deepcopy(record.get(ACTIVE) or {})
        self.blocks: dict[str, JSON] = copy.deepcopy(record.get(BLOCKS) or {})
        self.tools: dict[str, JSON] = copy.deepcopy(record.get(TOOLS) or {})

    def to_members(self) -> dict[str, JSON]:
        """As the record keeps them."""
        return {ACTIVE: self.active, BLOCKS: self.blocks, TOOLS: self.tools}

    def add(
        self, manifest: Manifest, needs: Mapping[str, str], *, requested: bool, trusted: bool
    ) -> None:
        """Load a skill that is not there; ``needs`` maps its dependencies to manifestIds."""
        name = manifest.manifest_id
        directives, data = directives_block(manifest), data_blocks(manifest)
        for block in (directives, *data):
            self._hold_block(block, name)
        self.active[name] = {
            "skillName": manifest.name,
            "skillVersion": manifest.version,
            "digest": manifest.digest,
            "memoryBlockIds": [directives.id],
            "toolIds": self._hold_tools(manifest, trusted=trusted),
            "dataSourceBlockIds": [block.id for block in data],
            "dependencies": dict(needs),
            "requested": requested,
            "trusted": trusted,
        }

    def remove(self, manifest_id: str) -> None:
        """Let go of everything that one skill holds."""
        entry = self.active.pop(manifest_id)
        for block_id in {*entry["memoryBlockIds"], *entry["dataSourceBlockIds"]}:
            holders = self.blocks[block_id]["holders"]
            holders.remove(manifest_id)
            if not holders:
                del self.blocks[block_id]
        for tool in entry["toolIds"]:
            held = self.tools[tool]["holders"]
            del held[manifest_id]
            if not held:
                del self.tools[tool]

    def needed_by(self, manifest_id: str) -> list[str]:
        """The skills that need this one."""
        return sorted(
            name
            for name, entry in self.active.items()
            if name != manifest_id and manifest_id in entry["dependencies"].values()
        )

    def drop_unneeded(self) -> list[str]:
        """Unload every skill that nobody asked for and nothing needs; which these were."""
        reached: set[str] = set()
        waiting = [name for name, entry in self.active.items() if entry["requested"]]
        while waiting:
            name = waiting.pop()
            if name in self.active and name not in reached:
                reached.add(name)
                waiting += self.active[name]["dependencies"].values()
        gone = sorted(set(self.active) - reached)
        for name in gone:
            self.remove(name)
        return gone

    def _hold_block(self, block: Block, name: str) -> None:
        entry = {
            "label": block.label,
            "value": block.value,
            "destination": block.destination,
            "holders": [],
        }
        holders = self.blocks.setdefault(block.id, entry)["holders"]
        holders[:] = sorted({*holders, name})

    def _hold_tools(self, manifest: Manifest, *, trusted: bool) -> list[str]:
        tool_ids = []
        grants = grants_of([manifest], trusted=trusted)
        for tool, grant in zip(manifest.tools, grants, strict=True):
            place = {"server_id": grant.server_id, "tool_name": grant.tool_name, "holders": {}}
            holders = self.tools.setdefault(tool_id(grant), place)["holders"]
            holders[manifest.manifest_id] = {
                "name": tool.name,
                "description": tool.description,
                "required": tool.required,
                **grant_document(grant),
            }
            tool_ids.append(tool_id(grant))
        return list(dict.fromkeys(tool_ids))
