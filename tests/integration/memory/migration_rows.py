"""Rows for every version of the memory file, which each step up and down must keep.

A new version adds an entry with rows of its new tables (and of new columns of old ones). Rows refer
to those of earlier versions.
"""

from __future__ import annotations

from typing import Any

Rows = dict[str, list[dict[str, Any]]]

AGENT = {
    "id": "agent-1",
    "name": "anna",
    "context_window": 4000,
    "parallel_tool_calls": 1,
    "enable_sleeptime": 0,
    "lifecycle": "pooled",
    "tags": '["t"]',
    "revision": 3,
    "created_at": 1,
    "updated_at": 2,
}
BLOCK = {
    "id": "block-1",
    "label": "human",
    "type": "shared",
    "value": "ünïcode \U0001f600\n",
    "hard_limit": 10,
    "on_limit": "truncate",
    "read_only": 1,
    "provenance": "project",
    "project": "/p",
    "revision": 2,
    "created_at": 1,
    "updated_at": 2,
}
EVENT = {
    "at": 1,
    "actor_kind": "user",
    "actor": "ada",
    "operation": "created",
    "entity": "block",
    "entity_id": "block-1",
    "agent_id": "agent-1",
    "label": "human",
    "change": '{"created": {}}',
}
HOLDER = {"agent_id": "agent-1", "block_id": "block-1", "label": "human", "position": 1}

MESSAGE = {
    "id": "message-1",
    "agent_id": "agent-1",
    "seq": 3,
    "role": "summary",
    "content": "Ünïcode 😀 was spoken of.",
    "parts": '[{"kind": "call", "id": "call-1", "tool": "t", "arguments": {}}]',
    "tokens": 12,
    "session_id": "session-1",
    "run_id": "run-1",
    "sender": "bert",
    "correlation_id": "c-1",
    "replaces_first": 1,
    "replaces_last": 2,
    "archived_at": 2,
    "created_at": 1,
}
PASSAGE = {
    "id": "passage-1",
    "agent_id": "agent-1",
    "text": "The harbour opens at six.",
    "tags": '["town"]',
    "salience": 0.75,
    "source": "turn-1",
    "reads": 2,
    "read_at": 2,
    "created_at": 1,
}
LETTER = {
    "id": "letter-1",
    "agent_id": "agent-1",
    "sender": "bert",
    "text": "How far are you?",
    "correlation_id": "c-1",
    "state": "answered",
    "deadline": 99,
    "tries": 1,
    "reply": '{"text": "Done.", "turn": "turn-1"}',
    "created_at": 1,
    "updated_at": 2,
}
TURN = {
    "id": "turn-1",
    "agent_id": "agent-1",
    "correlation_id": "c-1",
    "letter_id": "letter-1",
    "state": "answered",
    "first": 1,
    "last": 2,
    "model": "some:model",
    "requests": 1,
    "tool_calls": 0,
    "input_tokens": 10,
    "output_tokens": 3,
    "cost_usd": 0.25,
    "duration_ms": 1.5,
    "created_at": 1,
    "updated_at": 2,
}
ATTACHED_TOOL = {
    "agent_id": "agent-1",
    "name": "clock",
    "description": "The time.",
    "input_schema": '{"type": "object"}',
}

CONSOLIDATION = {
    "id": "consolidation-1",
    "agent_id": "agent-1",
    "status": "rolled_back",
    "actor": "sleeptime",
    "strategies": '["merge"]',
    "level": 5,
    "before": "{}",
    "after": "{}",
    "changes": "[]",
    "left_out": "[]",
    "tokens": 12,
    "started_at": 1,
    "completed_at": 2,
    "rolled_back_at": 3,
}
CLAIM = {"agent_id": "agent-1", "session_id": "consolidation-2", "until": 9}
PROJECT = {
    "id": "project-1",
    "path": "/work/ünï",
    "name": "ünï",
    "last_agent_id": "agent-1",
    "metadata": '{"k": 1}',
    "revision": 2,
    "created_at": 1,
    "updated_at": 2,
}
PROJECT_BLOCK = {
    "project_id": "project-1",
    "block_id": "block-1",
    "label": "conventions",
    "position": 1,
}
PROJECT_AGENT = {"agent_id": "agent-1", "project_id": "project-1", "entered_at": 1}
SESSION = {
    "id": "session-1",
    "agent_id": "agent-1",
    "project": "/work/ünï",
    "skills_directory": "/work/ünï/.skills",
    "has_loaded_skills": 1,
    "end_reason": "done",
    "started_at": 1,
    "ended_at": 2,
    "updated_at": 2,
}
PAD = {
    "id": "pad-1",
    "agent_id": "agent-1",
    "task": "run-1/Collect",
    "value": "half of it is done",
    "most_bytes": 100,
    "writes": 1,
    "expires_at": 9,
    "bytes": 18,
    "created_at": 1,
    "updated_at": 2,
}
SKILL = {
    "agent_id": "agent-1",
    "name": "greet",
    "description": "How to greet.",
    "content": "Say hello.",
    "source": "/work/ünï/.skills",
    "loaded_as": 1,
    "revision": 1,
    "created_at": 1,
    "updated_at": 2,
}
OBSERVATION = {
    "id": "observation-1",
    "project": "/work/ünï",
    "type": "bugfix",
    "title": "The harbour list is sorted",
    "subtitle": "Ships were shown twice.",
    "facts": '["the key was the name"]',
    "narrative": "Two ships have one name.",
    "concepts": '["gotcha"]',
    "artifacts": '[{"type": "file", "path": "ships.py", "action": "modified"}]',
    "related": '["dcf://observation/observation-0"]',
    "source_type": "agent_message",
    "source_id": "agent-1",
    "turn": 3,
    "agent_id": "agent-1",
    "digest": "d1",
    "tokens": 40,
    "at": 1,
    "revision": 1,
    "created_at": 1,
    "updated_at": 2,
}
THREAD = {
    "id": "thread-1",
    "source_type": "transcript",
    "source_id": "t-1",
    "project": "/work/ünï",
    "title": "Ships",
    "status": "active",
    "turns": 1,
    "started_at": 1,
    "updated_at": 2,
}
FENCED_TURN = {**TURN, "id": "turn-2", "letter_id": None, "holder": "run/A/1", "fence": 3}
THREAD_TURN = {"thread_id": "thread-1", "number": 1, "role": "user", "text": "Sort them.", "at": 1}
PLACED_TURN = {
    **THREAD_TURN,
    "number": 2,
    "key": "m2",
    "digest": b"0123456789abcdef",
    "place": 2,
    "standing": "current",
}
OBSERVATION_OF_A_STATE = {
    **OBSERVATION,
    "id": "observation-2",
    "digest": "d2",
    "state": "Each/0/Ship",
}
PINNED_OBSERVATION = {**OBSERVATION_OF_A_STATE, "id": "observation-3", "digest": "d3", "pinned": 1}
USED_OBSERVATION = {**OBSERVATION_OF_A_STATE, "id": "observation-4", "digest": "d4", "used": 2}
EXTRACTED_OBSERVATION = {
    **OBSERVATION_OF_A_STATE,
    "id": "observation-5",
    "digest": "d5",
    "extracted": 1,
    "said": "d6",
}
OBSERVATION_USE = {"observation_id": "observation-4", "used_by": "run/Ship/1", "at": 3}
OCCURRENCE = {
    "observation_id": "observation-1",
    "source_type": "run",
    "source_id": "run-1",
    "turn": 2,
    "state": "Ship",
    "note": "ünï",
    "at": 3,
}
OBSERVED_EVENT = {"source_type": "run", "source_id": "run-1", "event": "1/0", "at": 3}
OBSERVED_UNTIL = {"source_type": "run", "at": 4}
THREAD_FILE = {
    "path": "/home/ada/ünï.jsonl",
    "stamp": "12:34",
    "reader": 1,
    "report": "{}",
    "synced_at": 5,
}
EXTRACTION_EVENT = {
    "source_type": "claude_code",
    "source_id": "s-1",
    "event": "3",
    "project": "/work/ünï",
    "state": "set_aside",
    "fence": 4,
    "until": 5,
    "due": 6,
    "begun": 3,
    "failures": 3,
    "reason": "no answer",
    "queued_at": 7,
    "updated_at": 8,
}
EXTRACTION_REQUEST = {"model": "openai:gpt-5-mini", "tokens": 900, "nano_usd": 12, "at": 9}

SENT_REQUEST = {**EXTRACTION_REQUEST, "sent_at": 8}
QUEUED_TURN = {**PLACED_TURN, "number": 3, "place": 3, "queued": 1}

ROOT_NODE = {
    "id": "node-1",
    "project": "/p",
    "checkpoint": "",
    "name": "",
    "address": "%2Fp//",
    "revision": 1,
    "created_at": 1,
    "updated_at": 1,
}
NODE = {
    **ROOT_NODE,
    "id": "node-2",
    "checkpoint": "run 1",
    "name": "Ünï/0",
    "address": "%2Fp/run%201/Ünï/0",
    "parent": "node-1",
    "title": "first idea",
    "score": 0.5,
    "metadata": '{"a": 1}',
}
ENTRY = {
    "id": "entry-1",
    "node_id": "node-2",
    "kind": "note",
    "text": "ünïcode 😀",
    "metadata": '{"b": [2]}',
    "shadows": "entry-0",
    "revision": 1,
    "created_at": 2,
    "updated_at": 3,
}

NODE_READ = {
    "seq": 1,
    "at": 1_700_000_000_000,
    "by_kind": "user",
    "by_name": "ada",
    "by_reason": "",
    "operation": "search",
    "node_id": "node-1",
    "node": "exp/first",
    "source_id": "node-1",
    "source": "exp/first",
    "entries": '["entry-1"]',
    "count": 1,
}
DOCUMENT = {
    "id": "document-1",
    "project": "/shop",
    "path": "docs/tea.md",
    "title": "Tea",
    "format": "markdown",
    "size": 40,
    "digest": "d",
    "stamp": "40:1:2",
    "reader": 1,
    "pages": None,
    "pieces": 1,
    "problems": "[]",
    "added_at": 1_700_000_000_000,
    "read_at": 1_700_000_000_000,
}
DOCUMENT_PIECE = {
    "document_id": "document-1",
    "number": 1,
    "text": "Green tea is picked in spring.",
    "headings": '["Tea"]',
    "first_line": 1,
    "last_line": 3,
    "page": None,
}
PLAYBOOK = {
    "id": "playbook-1",
    "project": "/p",
    "pattern": "ProviderBusy: HTTP 503",
    "resolution": "Wait a minute, then try again.",
    "owner": "payments",
    "sources": '["observation-1"]',
    "helped": 1,
    "failed": 0,
    "uses": '[{"by": "ada", "at": 2, "helped": true}]',
    "confirmed_at": 2,
    "revision": 2,
    "created_at": 1,
    "updated_at": 2,
}

RECEIPT = {
    "id": "receipt-1",
    "about": "9f86d081884c7d65",
    "by_kind": "person",
    "by_name": "ada",
    "by_reason": "asked",
    "began_at": 1,
    "ended_at": None,
    "unreached": "[]",
}
TOMBSTONE = {
    "receipt_id": "receipt-1",
    "number": 1,
    "store": "memory",
    "kind": "passage",
    "ref": "passage-1",
    "fate": "removed",
    "digest": "00ff",
    "at": 2,
}

ROWS: dict[int, Rows] = {
    1: {
        "agents": [AGENT],
        "agent_tags": [{"tag": "t", "agent_id": "agent-1"}],
        "blocks": [BLOCK],
        "block_holders": [HOLDER],
        "events": [EVENT],
    },
    2: {"messages": [MESSAGE], "passages": [PASSAGE]},
    3: {"letters": [LETTER], "turns": [TURN], "attached_tools": [ATTACHED_TOOL]},
    4: {"consolidation_sessions": [CONSOLIDATION], "consolidation_claims": [CLAIM]},
    5: {
        "projects": [PROJECT],
        "project_blocks": [PROJECT_BLOCK],
        "project_agents": [PROJECT_AGENT],
        "sessions": [SESSION],
        "scratch_pads": [PAD],
        "skills": [SKILL],
        "forgotten_consolidations": [{"id": "consolidation-0"}],
    },
    6: {},
    7: {"observations": [OBSERVATION], "threads": [THREAD], "thread_turns": [THREAD_TURN]},
    8: {"turns": [FENCED_TURN]},
    9: {"observations": [OBSERVATION_OF_A_STATE]},
    10: {
        "observation_origins": [OCCURRENCE],
        "observed_events": [OBSERVED_EVENT],
        "observed_until": [OBSERVED_UNTIL],
    },
    11: {"thread_files": [THREAD_FILE], "thread_turns": [PLACED_TURN]},
    12: {"observations": [PINNED_OBSERVATION]},
    13: {
        "extraction_events": [EXTRACTION_EVENT],
        "extraction_requests": [EXTRACTION_REQUEST],
    },
    14: {"observations": [USED_OBSERVATION], "observation_uses": [OBSERVATION_USE]},
    15: {
        "observations": [EXTRACTED_OBSERVATION],
        "extraction_requests": [SENT_REQUEST],
        "thread_turns": [QUEUED_TURN],
    },
    16: {},
    17: {},
    18: {"nodes": [ROOT_NODE, NODE], "node_entries": [ENTRY]},
    19: {"node_reads": [NODE_READ]},
    20: {"documents": [DOCUMENT], "document_pieces": [DOCUMENT_PIECE]},
    21: {"playbooks": [PLAYBOOK]},
    22: {"receipts": [RECEIPT], "tombstones": [TOMBSTONE]},
    23: {},
}
