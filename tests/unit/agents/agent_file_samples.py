"""Agent files of both versions, small and whole."""

from __future__ import annotations

import copy
from typing import Any

GARDENER: dict[str, Any] = {
    "agent_type": "memgpt_agent",
    "name": "gardener",
    "description": None,
    "system": "Look after the garden.",
    "core_memory": [
        {
            "label": "persona",
            "value": "Patient.",
            "limit": 5000,
            "description": None,
            "metadata_": {"season": 3.0},
            "created_at": "2025-04-01T03:47:12",
        },
        {"label": "beds", "value": "Beans, peas and onions.", "limit": 10, "metadata_": {}},
    ],
    "llm_config": {
        "model": "gpt-4o-mini",
        "model_endpoint_type": "openai",
        "context_window": 32000,
        "temperature": 0.7,
    },
    "embedding_config": {"embedding_model": "small", "embedding_dim": 3},
    "messages": [
        {"role": "system", "content": [{"type": "text", "text": "Look after the garden."}]},
        {"role": "user", "content": "Is it dry?", "created_at": "2025-04-01T03:48:00"},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "I look."}],
            "tool_calls": [
                {
                    "id": "call-1",
                    "type": "function",
                    "function": {"name": "measure", "arguments": '{ "bed":\n 1 }'},
                }
            ],
        },
        {"role": "tool", "content": [{"type": "text", "text": "dry"}], "tool_call_id": "call-1"},
    ],
    "in_context_message_indices": [0, 2, 3],
    "tools": [
        {
            "name": "measure",
            "tool_type": "custom",
            "source_type": "python",
            "source_code": "raise SystemExit('never run')\n",
            "json_schema": {"name": "measure", "parameters": {"type": "object"}},
        },
        {"name": "memory_insert", "tool_type": "letta_core", "source_code": None},
    ],
    "tool_exec_environment_variables": [{"key": "GARDEN_KEY", "value": "xyzzy-7", "id": "v1"}],
    "tool_rules": [{"tool_name": "measure", "type": "continue_loop"}],
    "metadata_": None,
    "version": "0.6.47",
}

SHOP: dict[str, Any] = {
    "agents": [
        {
            "id": "agent-0",
            "name": "clerk",
            "system": "Serve customers.",
            "agent_type": "letta_v1_agent",
            "block_ids": ["block-7", "block-2"],
            "tool_ids": ["tool-1", "tool-0"],
            "source_ids": ["source-0"],
            "tags": ["shop", "day"],
            "llm_config": {
                "handle": "google_ai/gemini-pro",
                "model": "gemini-pro",
                "model_endpoint_type": "google_ai",
                "context_window": 9000,
                "api_key": "sk-hidden-5",
            },
            "embedding_config": None,
            "messages": [
                {"id": "message-4", "role": "user", "content": [{"type": "text", "text": "Hello"}]},
                {
                    "id": "message-5",
                    "role": "assistant",
                    "content": [
                        {"type": "reasoning", "reasoning": "Greet."},
                        {"type": "text", "text": "Good day", "signature": None},
                    ],
                    "step_id": "s-1",
                },
            ],
            "in_context_message_ids": ["message-5"],
            "enable_sleeptime": True,
            "parallel_tool_calls": False,
            "tool_exec_environment_variables": {"TILL": "s3cret-9"},
            "shelf": {"deep": [1, 1.0, True, None, "x"]},
        },
        {
            "id": "agent-1",
            "name": "owner",
            "block_ids": ["block-7"],
            "tool_ids": [],
            "messages": [],
            "in_context_message_ids": [],
            "llm_config": None,
            "group_ids": ["group-0"],
        },
    ],
    "blocks": [
        {"id": "block-2", "label": "human", "value": "", "limit": 100, "read_only": True},
        {
            "id": "block-7",
            "label": "prices",
            "value": "Tea 3",
            "limit": None,
            "metadata": {"by": "owner"},
            "hidden": None,
        },
    ],
    "groups": [{"id": "group-0", "agent_ids": ["agent-0", "agent-1"], "manager": {}}],
    "files": [],
    "sources": [{"id": "source-0", "name": "catalogue", "metadata": {"n": 1}}],
    "tools": [
        {"id": "tool-0", "name": "sell", "tool_type": "external_mcp", "description": "Sells."},
        {"id": "tool-1", "name": "conversation_search", "tool_type": "letta_core"},
    ],
    "mcp_servers": [
        {
            "server_name": "till",
            "server_url": "https://u:pw-4@till.example/mcp",
            "custom_headers": {"X-Shop": "hdr-6"},
        }
    ],
    "metadata": {"revision_id": "r9"},
    "created_at": "2025-11-21T03:09:19.093612+00:00",
    "unheard_of": {"kept": True},
}

SECRETS = ("xyzzy-7", "sk-hidden-5", "s3cret-9", "pw-4", "hdr-6")
"""The values of secrets in both."""


def gardener() -> dict[str, Any]:
    """A file of version 1."""
    return copy.deepcopy(GARDENER)


def shop() -> dict[str, Any]:
    """A file of version 2 with two agents that share a block."""
    return copy.deepcopy(SHOP)
