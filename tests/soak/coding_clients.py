"""The coding agents that npm has, each of one version: how they are told to ask a model on this
machine, and to run alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from packages import Packages


@dataclass(frozen=True)
class CodingClient:
    """``digests`` are those of its packages (by npm's name) with its own code, as npm wrote them
    down; ``shell`` is the tool that runs a command, and the name of the command in it. ``{url}`` in
    ``arguments``, ``env`` and ``settings`` (files in its home) is the origin of the model."""

    package: str
    digests: Mapping[str, str]
    program: str
    shell: tuple[str, str]
    arguments: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    def install(self, place: Packages) -> list[str]:
        """The command that starts it. Fails the test where npm has another package now."""
        place.install(self.package)
        modules = place.folder / "node_modules"
        locked = json.loads((modules / ".package-lock.json").read_text("utf-8"))["packages"]
        found = {name: locked.get(f"node_modules/{name}", {}) for name in self.digests}
        if not all(found.values()):
            pytest.skip("the programs are for Linux on x86-64")
        assert {name: one["integrity"] for name, one in found.items()} == self.digests
        program = str(modules / self.program)
        return [str(place.node), program] if program.endswith(".js") else [program]

    def told(self, url: str, home: Path) -> tuple[list[str], dict[str, str]]:
        """Its arguments and its environment, where the model is at ``url``."""
        for name, text in self.settings.items():
            file = home / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.replace("{url}", url), encoding="utf-8")
        arguments = [one.replace("{url}", url) for one in self.arguments]
        return arguments, {name: one.replace("{url}", url) for name, one in self.env.items()}


_OPENCODE = {
    "model": "scripted/scripted",
    "small_model": "scripted/scripted",
    "provider": {
        "scripted": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": "{url}/v1", "apiKey": "none"},
            "models": {"scripted": {}},
        }
    },
    "autoupdate": False,
    "share": "disabled",
}
_GEMINI = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
}
CLIENTS = {
    "claude-code": CodingClient(
        package="@anthropic-ai/claude-code@2.1.197",
        digests={
            "@anthropic-ai/claude-code": "sha512-EqrwbRcI7M5y8jQlayIfTMmbZJ2OQaLOc"
            "7KwIWKdryQCdKWUEFr+C9rMovZUuj2Asndi7aqLujEzRtr471gncg==",
            "@anthropic-ai/claude-code-linux-x64": "sha512-rIlKmrY0QMyHgPRX/MYWNj039vbypICvI"
            "9jVe3rs9Xy2RnNklySjyPxqh62QadznzoftEO23uYQ1tFePcQ//bg==",
        },
        program="@anthropic-ai/claude-code-linux-x64/claude",
        shell=("Bash", "command"),
        # Without a person nobody answers whether the server of the project may be used.
        arguments=(
            *("--settings", '{"enableAllProjectMcpServers": true}'),
            *("--allowedTools", "mcp__dcf,Bash", "-p"),
        ),
        env={
            "ANTHROPIC_BASE_URL": "{url}",
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            # Or the first request leaves before the server has started.
            "MCP_CONNECTION_NONBLOCKING": "false",
            "MCP_CONNECT_TIMEOUT_MS": "60000",
        },
    ),
    "codex": CodingClient(
        package="@openai/codex@0.171.0",
        digests={
            "@openai/codex": "sha512-1IOFzL2Xg86tLdw6kDo3GoKbkQENgQi7T"
            "I6rlEvN132R7ngSw7SNOIQoTcnKzSZZ8kf9N9GynCweSoaFbqk2Eg==",
            "@openai/codex-linux-x64": "sha512-l66NZkQgdk2C3pbcfULDz42yEUB581MVA"
            "6I+Y43Wp4OIqEy73HCdmZ0GTjeAHY2ycuH4N00d9VsLrwT1jxshTw==",
        },
        program="@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
        shell=("exec_command", "cmd"),
        arguments=(
            "exec",
            *("-c", "model_provider=scripted", "-c", "model=scripted"),
            *("-c", 'model_providers.scripted.name="scripted"'),
            *("-c", 'model_providers.scripted.base_url="{url}/v1"'),
            *("-c", 'model_providers.scripted.wire_api="responses"'),
            *("-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false"),
            # Or the first request leaves before the server has started.
            *("-c", "mcp_optional_startup_grace_ms=30000"),
            # A person trusts the hooks once, with /hooks.
            "--dangerously-bypass-hook-trust",
            *("--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"),
        ),
    ),
    "gemini-cli": CodingClient(
        package="@google/gemini-cli@0.61.0",
        digests={
            "@google/gemini-cli": "sha512-dbQ9A0qBtFJNi6XBkHvfZ6Azpn6PNgH/P"
            "8h2MZ67RLlX8hSAVjup39CRWqdRxZv7YXIuhrFaytr8y0jKnkoxnQ==",
        },
        program="@google/gemini-cli/bundle/gemini.js",
        shell=("run_shell_command", "command"),
        arguments=("--yolo", "--model", "gemini-2.5-flash", "--prompt"),
        env={
            "GOOGLE_GEMINI_BASE_URL": "{url}",
            "GEMINI_API_KEY": "none",
            "GEMINI_TELEMETRY_ENABLED": "false",
            # A person is asked once.
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        settings={".gemini/settings.json": json.dumps(_GEMINI)},
    ),
    "opencode": CodingClient(
        package="opencode-ai@1.18.33",
        digests={
            "opencode-ai": "sha512-58P1ffLRXiAY4QeoABqUjqf6DEzm1ihpo"
            "vvn9Ad+oOLbLiwK/rf88wruT9IATJ7AtNjmi8iA7pC8tN4o5y799Q==",
            "opencode-linux-x64": "sha512-q/t/3p2CTxOT9y2kvjesb/LZab2+1eqlh"
            "hWA02Be6mjTtmYtNBcBsrI5yDo4Fw7ZSPBW2oyMIGMNRqiKQjiAWw==",
        },
        program="opencode-linux-x64/bin/opencode",
        shell=("bash", "command"),
        arguments=("run",),
        env={
            "OPENCODE_CONFIG_CONTENT": json.dumps(_OPENCODE),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            # Beside a plugin it installs types for whoever writes it, and waits for them.
            "npm_config_fetch_retries": "0",
            "npm_config_offline": "true",
        },
    ),
}
