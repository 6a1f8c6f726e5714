"""The stub MCP server: deterministic answers from the cases of the tool files.

Determinism: what is random (a flaky case, ``{{uuid}}``, ``{{random_int(a, b)}}``) is a hash of the
seed, the server, the tool, the case and the call's idempotency key; a call without a key counts
with its number among the calls that met the same case. Time comes from the injected clock.

Importing this package loads the MCP SDK; `dcf.tools` itself does not.
"""

from dcf.tools.serving import CannotServe, WrongPlace
from dcf.tools.stub.app import create_stub_app
from dcf.tools.stub.place import Place, place_from
from dcf.tools.stub.serve import serve

__all__ = ["CannotServe", "Place", "WrongPlace", "create_stub_app", "place_from", "serve"]
