"""A workflow driven by a model over the wire: real command, real worker process, real HTTP client,
real tools behind the gate. Only what the model says is scripted."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from dcf_user import Dcf

LOOK_UP = {
    "StartAt": "Look",
    "States": {
        "Look": {
            "Type": "Task",
            "AgentBinding": {
                "agent_template_ref": {"name": "worker"},
                "skills": ["support.triage_ticket@1.0.0"],
            },
            "End": True,
        }
    },
}


class Model(ThreadingHTTPServer):
    """Calls the first tool that it is offered with the given arguments, then reports."""

    arguments: dict[str, Any]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.asked: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Model

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(body)
        if len(self.server.asked) == 1:
            self._send(429, {"error": {"message": "too fast"}}, {"retry-after": "0"})
            return
        said = [one for one in body["messages"] if one["role"] == "tool"]
        if said:
            arguments = {"data": json.loads(said[-1]["content"]), "summary": "Looked up."}
            call = ("report_result", arguments)
        else:
            call = (body["tools"][0]["function"]["name"], self.server.arguments)
        self._send(200, _completion(body, *call), {})

    def _send(self, status: int, body: Any, headers: dict[str, str]) -> None:
        payload = json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_: Any) -> None:
        pass


def _completion(body: dict[str, Any], tool: str, arguments: Any) -> dict[str, Any]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"id": "call_1", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 500, "completion_tokens": 50, "total_tokens": 550},
    }


@pytest.fixture
def model() -> Iterator[Model]:
    server = Model()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_a_model_over_the_wire_does_a_run_and_its_cost_is_told(dcf: Dcf, model: Model) -> None:
    model.arguments = {"ticket_id": "TCK-101"}
    dcf.env |= {
        "DCF_MODEL": "openai:gpt-5",
        "OPENAI_API_KEY": "sk-test-0123456789",
        "OPENAI_BASE_URL": model.url,
    }
    file = dcf.write("look.asl.json", LOOK_UP)

    done = dcf("run", file, "--input", json.dumps(model.arguments), "--id", "look-1", "--json")

    assert done.code == 0, done.err
    assert done.json["status"] == "succeeded" and done.json["rehearsal"] is False
    assert [len(one["messages"]) > 0 for one in model.asked] == [True] * 3
    explained = dcf("explain", "look-1", "--json").json
    cost = explained["cost"]
    assert (cost["total_llm_calls"], cost["total_tool_calls"]) == (2, 1)
    assert (cost["total_prompt_tokens"], cost["total_completion_tokens"]) == (1_000, 100)
    assert cost["total_cost_usd"] > 0
    assert "2 requests to models, 1,100 tokens, $" in dcf("explain", "look-1").out
    history = dcf("history", "look-1", "--json")
    assert "gpt-5" in history.out and "sk-test" not in history.out + done.out + done.err
    # The worker of the Task was an agent of the runtime, and remembered it.
    with sqlite3.connect(dcf.home / "memory.db") as memory:
        made = memory.execute(
            "SELECT count(*) FROM events WHERE entity = 'agent' AND operation = 'created'"
        )
        assert made.fetchone() == (1,)


def test_a_memory_that_cannot_be_opened_is_said_before_anything_runs(dcf: Dcf) -> None:
    dcf.write("foreign.db", "no database " * 100)
    dcf.env["DCF_MEMORY"] = str(dcf.folder / "foreign.db")
    file = dcf.write("look.asl.json", LOOK_UP)
    for command in (
        ("run", file, "--input", "{}"),
        ("worker",),
        ("serve", "--port", "0"),
    ):
        done = dcf(*command, "--json")
        assert done.code != 0, command
        told = done.json["error"]
        assert str(told["code"]).startswith("memory_") and told["hint"], command
    del dcf.env["DCF_MEMORY"]
