"""The stub MCP server: deterministic answers from the cases of the tool files.

Determinism: what is random (a flaky case, ``{{uuid}}``, ``{{random_int(a, b)}}``) is a hash of the
seed, the server, the tool, the case and the call's idempotency key; a call without a key counts
with its number among the calls that met the same case. Time comes from the injected clock.

Importing this package loads the MCP SDK; `dcf.tools` itself does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.tools.serving import CannotServe, WrongPlace
    from dcf.tools.stub.app import create_stub_app
    from dcf.tools.stub.argument_path import ArgumentPath
    from dcf.tools.stub.catalog import Catalog
    from dcf.tools.stub.chance import Chance
    from dcf.tools.stub.choosing import first_match
    from dcf.tools.stub.config import StubConfig
    from dcf.tools.stub.desk import Desk
    from dcf.tools.stub.equality import same
    from dcf.tools.stub.expected import json_types
    from dcf.tools.stub.in_process import served
    from dcf.tools.stub.matching import json_text
    from dcf.tools.stub.place import Place, place_from
    from dcf.tools.stub.serve import serve
    from dcf.tools.stub.templates import (
        PLACEHOLDER,
        RANDOM_INT,
        UNKNOWN,
        argument_at,
        as_wanted,
        schema_of,
    )
    from dcf.tools.stub.tool import DEFAULT_CASE, Case, Reply, StubTool
else:
    export_late(__name__)

__all__ = [
    "DEFAULT_CASE",
    "PLACEHOLDER",
    "RANDOM_INT",
    "UNKNOWN",
    "ArgumentPath",
    "CannotServe",
    "Case",
    "Catalog",
    "Chance",
    "Desk",
    "Place",
    "Reply",
    "StubConfig",
    "StubTool",
    "WrongPlace",
    "argument_at",
    "as_wanted",
    "create_stub_app",
    "first_match",
    "json_text",
    "json_types",
    "place_from",
    "same",
    "schema_of",
    "serve",
    "served",
]
