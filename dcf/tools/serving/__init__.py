"""What the servers of the platform share: who may come in, and how an application is served.

Importing this package loads an HTTP server; `dcf.tools` itself does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.tools.serving.door import Door, Guard, bearer_of, is_loopback
    from dcf.tools.serving.listening import (
        NEW_TOKEN,
        CannotServe,
        WrongPlace,
        check_exposure,
        open_socket,
        serve_app,
        weakness,
    )
else:
    export_late(__name__)

__all__ = [
    "NEW_TOKEN",
    "CannotServe",
    "Door",
    "Guard",
    "WrongPlace",
    "bearer_of",
    "check_exposure",
    "is_loopback",
    "open_socket",
    "serve_app",
    "weakness",
]
