"""A tool server that runs programs by argument lists, never by a shell: a program of its own that
workers start where the registry says ``transport: commands``. It is no part of the worker, so that
what it starts inherits nothing of it. Importing this package loads no server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.tools.commands.tool import PARAMS, RESULT, TOOL
else:
    export_late(__name__)

__all__ = ["PARAMS", "RESULT", "TOOL"]
