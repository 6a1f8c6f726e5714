"""Recording a real tool server: a proxy in front of it, and its answers as cases of a tools file.

Importing this package loads the MCP SDK; `dcf.tools` itself does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.tools.recorder.authored import authored_tools
    from dcf.tools.recorder.proxy import Proxy, create_recorder_app
    from dcf.tools.recorder.recording import Recorded, Recording
    from dcf.tools.recorder.redaction import Redaction
    from dcf.tools.recorder.tools_file import tools_text
else:
    export_late(__name__)

__all__ = [
    "Proxy",
    "Recorded",
    "Recording",
    "Redaction",
    "authored_tools",
    "create_recorder_app",
    "tools_text",
]
