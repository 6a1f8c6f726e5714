"""A ``$ref`` in a schema that somebody names is never followed to another machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from dcf.skills import validate_sources
from dcf.skills.discovery import get_skillset
from dcf.tools.gate.arguments import argument_faults
from dcf.tools.stub.config import build_config
from dcf.workflow import document as workflow_document

ONE_STATE = {"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}
TOOLS = """\
apiVersion: tools/v1
kind: ToolsRegistry
servers:
  kettle:
    description: A kettle
    tools:
      boil:
        description: Boil water.
        params: { type: object, properties: { cups: { $ref: "ADDRESS" } } }
        result: { type: object, properties: { degrees: { $ref: "ADDRESS" } } }
        defaults: { response: { degrees: 100 } }
        cases:
          - id: many
            match: { strategy: exact, path: cups, value: 9 }
            arguments: { cups: 9 }
            response: { degrees: 60 }
"""


class Counter(BaseHTTPRequestHandler):
    asked = 0

    def do_GET(self) -> None:
        type(self).asked += 1
        body = b'{"type": "string"}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    """Of a schema on a server that must never be asked."""
    Counter.asked = 0
    with HTTPServer(("127.0.0.1", 0), Counter) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/schema.json"
        server.shutdown()
        thread.join()
    assert Counter.asked == 0


def test_the_schema_of_a_listing(address: str, tmp_path: Path) -> None:
    manifests = tmp_path / "manifests"
    manifests.mkdir()
    (manifests / "a.json").write_text(
        '{"manifestId": "skill.a@1.0.0", "skillName": "a", "skillVersion": "1.0.0"}'
    )
    schema = tmp_path / "schema.json"
    schema.write_text(f'{{"properties": {{"skillName": {{"$ref": "{address}"}}}}}}')
    entry = get_skillset(manifests, schema)["available_skills"][0]
    assert entry["valid_schema"] is False
    assert any(address in error for error in entry["errors"])


def test_the_schemas_of_authored_tools(address: str, tmp_path: Path) -> None:
    (tmp_path / "tools.yaml").write_text(TOOLS.replace("ADDRESS", address))
    codes = [problem.code for problem in validate_sources(tmp_path)]
    assert codes.count("TOOL_SCHEMA_REF") == 2


def test_the_schema_of_a_call(address: str) -> None:
    (fault,) = argument_faults({"properties": {"cups": {"$ref": address}}}, {"cups": 1})
    assert "cannot be used" in fault


def test_the_schemas_of_the_stub(address: str) -> None:
    schema = {"type": "object", "properties": {"cups": {"$ref": address}}}
    tool = {"paramsSchema": schema, "resultSchema": schema, "defaultResponse": {"cups": 1}}
    build_config({"seed": 1, "servers": {"kettle": {"tools": {"boil": tool}}}})


def test_the_schema_of_the_input_of_a_workflow(address: str) -> None:
    schema = {"type": "object", "properties": {"cups": {"$ref": address}}}
    raw = {"workflow_input_schema": schema, "workflow_name": "tea", "asl": ONE_STATE}
    document = workflow_document.build(raw, name="tea", warnings=[])
    assert [problem.code for problem in document.check_input({"cups": 1})] == ["WF_INPUT_SCHEMA"]
