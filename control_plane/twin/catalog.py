"""Every command of the twin by its name."""

from __future__ import annotations

from control_plane.twin import (
    generic,
    hashes,
    json_commands,
    json_value_commands,
    sets,
    sorted_set_commands,
    stream_claims,
    stream_commands,
    stream_groups,
    stream_info,
    stream_reads,
    strings,
)
from control_plane.twin.command import Commands

COMMANDS: Commands = {
    name: command
    for module in (
        generic,
        strings,
        hashes,
        sets,
        sorted_set_commands,
        json_commands,
        json_value_commands,
        stream_commands,
        stream_groups,
        stream_claims,
        stream_reads,
        stream_info,
    )
    for name, command in module.COMMANDS.items()
}
