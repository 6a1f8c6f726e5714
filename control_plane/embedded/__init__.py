"""Redis without installing Redis: bundled server processes, found, started, checked, stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from control_plane.embedded.address import Address, check_url, redact
    from control_plane.embedded.check import Check
    from control_plane.embedded.doctor import diagnose
    from control_plane.embedded.embedded import Embedded, fsync_of
    from control_plane.embedded.errors import (
        ServerRefusesForNow,
        ServerUnsuitable,
        ServerUnusable,
        ServerUrlInvalid,
    )
    from control_plane.embedded.home import data_home
    from control_plane.embedded.process import ServerProcess
    from control_plane.embedded.resolve import resolve
    from control_plane.embedded.server_check import ServerReport, check_server
    from control_plane.embedded.spec import CONTROL_PLANE, GRAPH, Module, ServerSpec
    from control_plane.embedded.status import LoadProgress, OnProgress, Status
else:
    export_late(__name__)

__all__ = [
    "CONTROL_PLANE",
    "GRAPH",
    "Address",
    "Check",
    "Embedded",
    "LoadProgress",
    "Module",
    "OnProgress",
    "ServerProcess",
    "ServerRefusesForNow",
    "ServerReport",
    "ServerSpec",
    "ServerUnsuitable",
    "ServerUnusable",
    "ServerUrlInvalid",
    "Status",
    "check_server",
    "check_url",
    "data_home",
    "diagnose",
    "fsync_of",
    "redact",
    "resolve",
]
