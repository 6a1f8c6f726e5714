"""The registry of tool servers, as `registry.yaml` and `generated/registry.json` write it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dcf.tools import (
    NO_STUB,
    Backoff,
    InvalidDocument,
    Registry,
    Toolbox,
    ToolUnavailable,
    UnknownServer,
)


def load(path: Path, document: Any, env: dict[str, str] | None = None) -> Registry:
    file = path / "registry.json"
    file.write_text(document if isinstance(document, str) else json.dumps(document, indent=1))
    return Registry.load(file, env or {})


def problems(path: Path, document: Any, env: dict[str, str] | None = None) -> list[tuple[str, str]]:
    with pytest.raises(InvalidDocument) as caught:
        load(path, document, env)
    return [(problem.code, problem.path) for problem in caught.value.problems]


def test_the_address_is_endpoint_and_path(tmp_path: Path) -> None:
    registry = load(
        tmp_path, {"servers": {"web": {"endpoint": "http://127.0.0.1:8765/", "path": "/mcp/web"}}}
    )
    assert registry.server("web").url == "http://127.0.0.1:8765/mcp/web"
    assert registry.ids() == ("web",)


def test_transport_and_path_have_defaults(tmp_path: Path) -> None:
    server = load(tmp_path, {"servers": {"web": {"endpoint": "http://h"}}}).server("web")
    assert (server.transport, server.url) == ("streamable_http", "http://h/mcp")


def test_http_is_another_word_for_streamable_http(tmp_path: Path) -> None:
    document = {"servers": {"web": {"transport": "http", "endpoint": "http://h"}}}
    assert load(tmp_path, document).server("web").transport == "streamable_http"


def test_websocket_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument, match="no websocket transport"):
        load(tmp_path, {"servers": {"web": {"transport": "ws", "endpoint": "http://h"}}})


def test_variables_are_filled_in_from_the_environment(tmp_path: Path) -> None:
    document = {
        "servers": {
            "web": {
                "endpoint": "${WEB_URL:-http://127.0.0.1:8765}",
                "headers": {"Authorization": "Bearer ${WEB_TOKEN}"},
            }
        }
    }
    server = load(tmp_path, document, {"WEB_TOKEN": "s3cret"}).server("web")
    assert server.url == "http://127.0.0.1:8765/mcp"
    assert server.headers == {"Authorization": "Bearer s3cret"}


@pytest.mark.parametrize(
    ("env", "expected"), [({}, "fallback"), ({"V": ""}, "fallback"), ({"V": "${X}"}, "${X}")]
)
def test_a_default_stands_in_as_in_a_shell_and_values_are_not_read_again(
    tmp_path: Path, env: dict[str, str], expected: str
) -> None:
    document = {"servers": {"web": {"endpoint": "http://h", "headers": {"A": "${V:-fallback}"}}}}
    assert load(tmp_path, document, env).server("web").headers["A"] == expected


def test_all_problems_come_at_once_with_file_line_and_path(tmp_path: Path) -> None:
    text = """{"servers": {
  "a": {"endpoint": "${A_URL}/x",
        "headers": {"K": "${A_KEY}"}},
  "b": {"transport": "carrier-pigeon", "colour": "red"}
}}"""
    with pytest.raises(InvalidDocument) as caught:
        load(tmp_path, text)
    found = [(p.code, p.path, p.line) for p in caught.value.problems]
    assert ("REG_VARIABLE_UNSET", "/servers/a/endpoint", 2) in found
    assert ("REG_VARIABLE_UNSET", "/servers/a/headers/K", 3) in found
    assert ("REG_TRANSPORT", "/servers/b/transport", 4) in found
    assert ("REG_UNKNOWN_KEY", "/servers/b/colour", 4) in found
    assert {p.file for p in caught.value.problems} == {str(tmp_path / "registry.json")}


def test_only_what_is_no_secret_is_offered_a_default(tmp_path: Path) -> None:
    headers = {"A": "${MAIL_API_KEY}", "B": "${REGION}"}
    with pytest.raises(InvalidDocument) as caught:
        load(tmp_path, {"servers": {"web": {"endpoint": "http://h", "headers": headers}}})
    hints = {problem.path[-1]: problem.hint for problem in caught.value.problems}
    assert "MAIL_API_KEY" in hints["A"] and ":-" not in hints["A"]
    assert "${REGION:-value}" in hints["B"]


def test_yaml_is_read_too_and_its_env_picks_an_override(tmp_path: Path) -> None:
    file = tmp_path / "registry.yaml"
    file.write_text("""
apiVersion: registry/v1
kind: ServerRegistry
env: ${STAGE:-test}
servers:
  web: {endpoint: "http://test", headers: {A: "1", B: "2"}, timeout: 5}
overrides:
  production:
    web: {endpoint: "${PROD_URL}", headers: {B: "3"}}
""")
    assert Registry.load(file, {}).server("web").url == "http://test/mcp"
    live = Registry.load(file, {"STAGE": "production", "PROD_URL": "https://live"}).server("web")
    assert live.url == "https://live/mcp"
    assert live.headers == {"A": "1", "B": "3"}
    assert live.timeout_s == 5


def test_variables_of_overrides_that_are_not_used_need_not_be_set(tmp_path: Path) -> None:
    document = {
        "env": "test",
        "servers": {"web": {"endpoint": "http://h"}},
        "overrides": {"production": {"web": {"endpoint": "${PROD}"}}},
    }
    assert load(tmp_path, document).server("web").url == "http://h/mcp"


def test_an_override_of_a_server_that_is_not_there_is_a_mistake(tmp_path: Path) -> None:
    document = {"env": "e", "servers": {}, "overrides": {"e": {"wbe": {}}}}
    assert problems(tmp_path, document) == [("REG_OVERRIDE", "/overrides/e/wbe")]


def test_stdio_is_refused_unless_the_registry_allows_it(tmp_path: Path) -> None:
    server = {"transport": "stdio", "command": "tool", "args": ["--x", "$HOME; rm"]}
    refused = load(tmp_path, {"servers": {"local": server, "web": {"endpoint": "http://h"}}})
    assert "write allowStdio: true" in refused.server("local").refused
    assert not refused.server("web").refused
    for document in (
        {"allowStdio": True, "servers": {"local": server}},
        {"servers": {"local": {**server, "allowStdio": True}}},
    ):
        found = load(tmp_path, document).server("local")
        assert (found.command, found.args) == ("tool", ("--x", "$HOME; rm"))
        assert not found.refused


def test_neither_an_override_nor_a_variable_can_allow_stdio(tmp_path: Path) -> None:
    document = {
        "env": "e",
        "allowStdio": "${YES}",
        "servers": {"local": {"endpoint": "http://h"}},
        "overrides": {"e": {"local": {"transport": "stdio", "command": "x", "allowStdio": True}}},
    }
    assert load(tmp_path, document, {"YES": "true"}).server("local").refused


def test_what_headers_arguments_and_environment_are_filled_from_are_the_secrets_of_a_server(
    tmp_path: Path,
) -> None:
    entry = {
        "endpoint": "${URL}",
        "headers": {"Authorization": "Bearer ${TOKEN:-none}", "X": "plain"},
        "args": ["--key=${KEY}"],
        "environment": {"A": "${INNER}"},
    }
    document = {
        "env": "production",
        "servers": {"web": {**entry, "headers": {"Old": "${OLD}"}}},
        "overrides": {"production": {"web": {"headers": {"Old": "", **entry["headers"]}}}},
    }
    env = {"URL": "http://h", "KEY": "k-value", "INNER": "i-value"}
    found = load(tmp_path, document, env).server("web")
    assert found.secrets == {"TOKEN": "", "KEY": "k-value", "INNER": "i-value"}
    assert "k-value" not in repr(found)
    assert "KEY" in repr(found)


def test_a_program_gets_path_home_and_what_the_registry_names(tmp_path: Path) -> None:
    server = {"transport": "stdio", "command": "x", "environment": {"A": "${B}", "HOME": "/tmp"}}
    env = {"PATH": "/bin", "HOME": "/root", "B": "b", "OTHER": "o"}
    found = load(tmp_path, {"allowStdio": True, "servers": {"s": server}}, env).server("s")
    assert found.environment == {"PATH": "/bin", "HOME": "/tmp", "A": "b"}


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("x", ("REG_SHAPE", "/servers/s")),
        ({}, ("REG_ENDPOINT", "/servers/s/endpoint")),
        ({"endpoint": "ftp://h"}, ("REG_ENDPOINT", "/servers/s/endpoint")),
        ({"endpoint": "http://u:p@h"}, ("REG_ENDPOINT", "/servers/s/endpoint")),
        ({"endpoint": "http://h", "timeout": 0}, ("REG_SHAPE", "/servers/s/timeout")),
        ({"endpoint": "http://h", "timeout": True}, ("REG_SHAPE", "/servers/s/timeout")),
        ({"endpoint": "http://h", "retries": 1.5}, ("REG_SHAPE", "/servers/s/retries")),
        ({"endpoint": "http://h", "headers": {"A": 1}}, ("REG_SHAPE", "/servers/s/headers")),
        ({"endpoint": "http://h", "connections": 17}, ("REG_SHAPE", "/servers/s/connections")),
        ({"endpoint": "http://h", "environment": ["A"]}, ("REG_SHAPE", "/servers/s/environment")),
        (
            {"endpoint": "http://h", "environment": {"A=B": "x"}},
            ("REG_SHAPE", "/servers/s/environment"),
        ),
        ({"endpoint": "http://h", "headers": {"A": "x\n"}}, ("REG_HEADER", "/servers/s/headers")),
    ],
)
def test_a_wrong_member_is_named(tmp_path: Path, entry: Any, problem: tuple[str, str]) -> None:
    assert problems(tmp_path, {"servers": {"s": entry}}) == [problem]


@pytest.mark.parametrize(
    ("text", "code"), [("[]", "REG_SHAPE"), ('{"servers": 3}', "REG_SHAPE"), ("{", "REG_SYNTAX")]
)
def test_a_file_that_is_no_registry_is_refused(tmp_path: Path, text: str, code: str) -> None:
    assert problems(tmp_path, text)[0][0] == code


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument, match=r"nowhere\.json"):
        Registry.load(tmp_path / "nowhere.json", {})


def test_an_unknown_server_is_answered_with_the_closest_ids(tmp_path: Path) -> None:
    registry = load(tmp_path, {"servers": {"websearch": {"endpoint": "http://h"}}})
    with pytest.raises(UnknownServer) as caught:
        registry.server("web_search")
    assert caught.value.closest == ("websearch",)


STUBBED = {
    "servers": {
        "played": {"endpoint": "${DCF_STUB_URL:-http://h}", "path": "/mcp/played"},
        "deep": {"endpoint": "${DCF_STUB_URL:-http://h}/mcp/deep", "path": ""},
        "own": {"endpoint": "http://stub-mcp:8765/", "headers": {"authorization": "Bearer own"}},
        "real": {"endpoint": "http://stub-mcp:8765.example.com"},
        "local": {"transport": "stdio", "command": "c", "allowStdio": True},
    }
}


def test_the_token_of_the_stub_is_sent_to_the_stub_alone(tmp_path: Path) -> None:
    env = {"DCF_STUB_URL": "http://stub-mcp:8765", "DCF_STUB_TOKEN": "t0ken"}
    registry = load(tmp_path, STUBBED, env)
    for server_id in ("played", "deep"):
        played = registry.server(server_id)
        assert played.headers == {"Authorization": "Bearer t0ken"}
        # No skill has to declare it.
        assert played.secrets == {}
        assert "t0ken" not in repr(played)
    assert registry.server("own").headers == {"authorization": "Bearer own"}
    for other in ("real", "local"):
        assert registry.server(other).headers == {}


def test_without_a_token_the_stub_is_sent_none(tmp_path: Path) -> None:
    for token in ({}, {"DCF_STUB_TOKEN": ""}):
        registry = load(tmp_path, STUBBED, {"DCF_STUB_URL": "http://stub-mcp:8765/", **token})
        assert registry.server("played").headers == {}


async def test_what_a_stub_plays_that_does_not_run_is_absent_and_says_so(tmp_path: Path) -> None:
    registry = load(tmp_path, STUBBED, {"DCF_STUB_URL": NO_STUB})
    assert [one for one in registry.ids() if registry.server(one).absent] == ["played", "deep"]
    async with Toolbox(registry, backoff=Backoff(0, 0)) as toolbox:
        with pytest.raises(ToolUnavailable, match="`dcf up` starts it") as caught:
            await toolbox.list_tools("played")
    assert not caught.value.sent


def test_a_token_that_http_does_not_allow_is_named(tmp_path: Path) -> None:
    env = {"DCF_STUB_URL": "http://stub-mcp:8765", "DCF_STUB_TOKEN": "t0ken\n"}
    assert ("REG_HEADER", "/servers/played/headers") in problems(tmp_path, STUBBED, env)


def test_secrets_are_in_no_repr_and_no_message(tmp_path: Path) -> None:
    document = {
        "allowStdio": True,
        "servers": {
            "web": {"endpoint": "http://h?k=${S}", "headers": {"X-Key": "${S}"}},
            "local": {"transport": "stdio", "command": "c", "args": ["${S}"]},
        },
    }
    registry = load(tmp_path, document, {"S": "s3cret"})
    shown = "".join(
        [
            repr(registry),
            *(repr(registry.server(i)) + str(registry.server(i)) for i in ("web", "local")),
        ]
    )
    assert "s3cret" not in shown
    assert "X-Key" in shown
