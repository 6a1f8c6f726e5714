"""Rules that every tool keeps, those of later versions too."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from dcf.mcp import ROLES, Tool, load_catalogue, protocol
from dcf.mcp.arguments import WITHDRAWN
from dcf.mcp.cost import ROLE_LIMIT, WHOLE_LIMIT, cost_of_role

TOOLS = load_catalogue().tools()
each = pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS.keys())

EARLIER: dict[str, str] = {
    "get_skillset": "manifests_dir schema_path include_previews preview_chars",
    "get_skillset_from_catalog": "catalog_path schema_path include_previews preview_chars",
    "load_skill": "skill_json agent_id",
    "unload_skill": "manifest_id agent_id",
    "validate_skill_manifest": "skill_json schema_path",
    "yaml_to_manifests": "skills_dir tools_yaml_path out_dir catalog_path",
    "yaml_to_stub_config": "tools_yaml_path out_path",
    "validate_workflow": "workflow_json schema_path imports_base_dir skills_base_dir",
    "create_workflow_control_plane": "workflow_json expiry_secs agents_map_json",
    "create_worker_agents": "workflow_json imports_base_dir agent_name_prefix agent_name_suffix"
    " default_tags_json skip_if_exists",
    "read_workflow_control_plane": "workflow_id states_json include_meta compute_readiness",
    "update_workflow_control_plane": "workflow_id state new_status lease_token owner_agent_id"
    " lease_ttl_s attempts_increment error_message set_started_at set_finished_at output_json"
    " output_ttl_secs",
    "acquire_state_lease": "workflow_id state owner_agent_id lease_ttl_s require_ready"
    " require_owner_match allow_steal_if_expired set_running_on_acquire attempts_increment"
    " lease_token",
    "renew_state_lease": "workflow_id state lease_token owner_agent_id lease_ttl_s"
    " reject_if_expired touch_only",
    "release_state_lease": "workflow_id state lease_token owner_agent_id force clear_owner",
    "notify_next_worker_agent": "workflow_id source_state reason payload_json include_only_ready"
    " message_role async_message max_steps",
    "notify_if_ready": "workflow_id state reason payload_json require_ready"
    " skip_if_status_in_json message_role async_message max_steps",
    "finalize_workflow": "workflow_id delete_worker_agents preserve_planner close_open_states"
    " overall_status finalize_note",
    "json_create": "redis_key initial_json key_prefix overwrite",
    "json_read": "redis_key path pretty",
    "json_set": "redis_key path value_json",
    "json_append": "redis_key path value_json",
    "json_ensure": "redis_key path default_json",
    "json_merge": "redis_key path patch_json",
    "json_increment": "redis_key path delta",
    "json_copy": "redis_key from_path to_path overwrite",
    "json_move": "redis_key from_path to_path overwrite",
    "json_delete": "redis_key path",
    "list_directory": "path recursive include_hidden max_entries",
    "read_file": "path offset length encoding",
    "write_file": "path content append encoding create_parents",
    "create_directory": "path parents exist_ok",
    "delete_path": "path recursive",
    "move_path": "source destination overwrite create_parents",
    "resolve_agent_name_to_id": "agent_name",
    "delete_agent": "agent_name",
    "remove_tool_return_limits": "agent_id",
    "register_reflector": "planner_agent_id reflector_agent_id initial_guidelines_json",
    "read_shared_memory_blocks": "planner_agent_id reflector_agent_id include_labels_json"
    " exclude_labels_json include_all",
    "update_reflector_guidelines": "planner_agent_id guidelines_json add_skill_recommendation"
    " add_workflow_pattern add_user_intent_tip add_warning add_insight merge_mode",
    "trigger_reflection": "workflow_id planner_agent_id final_status execution_summary_json"
    " async_message max_steps",
    "create_session_context": "session_id conductor_id objective initial_context_json",
    "update_session_context": "session_id block_id state objective add_active_task complete_task"
    " companion_count announcement shared_data_json",
    "create_companion": "session_id conductor_id specialization shared_block_ids_json"
    " initial_skills_json companion_name persona_override",
    "dismiss_companion": "companion_id unload_skills detach_shared_blocks",
    "list_session_companions": "session_id include_status specialization_filter",
    "update_companion_status": "companion_id status specialization current_task_id",
    "finalize_session": "session_id session_context_block_id delete_companions"
    " delete_session_block preserve_wisdom",
    "delegate_task": "conductor_id companion_id task_description required_skills_json"
    " input_data_json priority timeout_seconds session_id",
    "broadcast_task": "conductor_id session_id task_description specialization_filter"
    " status_filter required_skills_json input_data_json max_companions",
    "report_task_result": "companion_id task_id conductor_id status summary output_data_json"
    " artifacts_json error_code error_message metrics_json",
    "register_strategist": "conductor_agent_id strategist_agent_id initial_guidelines_json",
    "trigger_strategist_analysis": "session_id conductor_agent_id trigger_reason"
    " tasks_since_last_analysis recent_failures include_full_history async_message max_steps",
    "read_session_activity": "session_id conductor_id session_context_block_id"
    " include_companion_details include_task_history include_skill_metrics",
    "update_conductor_guidelines": "conductor_id guidelines_json recommendation"
    " skill_preferences_json companion_scaling_json clear_guidelines",
}
"""Tools of the earlier server whose families exist, with their parameters."""


@pytest.mark.parametrize("name", EARLIER)
def test_what_the_earlier_server_took_is_taken(name: str) -> None:
    assert set(EARLIER[name].split()) <= TOOLS[name].input_schema["properties"].keys()


IRREVOCABLE = """decide_approval set_budget cancel_workflow redrive_workflow finalize_workflow
    delete_agent delete_path move_path write_file json_delete json_move call_skill_tool
    update_workflow_control_plane generate_all yaml_to_manifests yaml_to_stub_config
    yaml_to_registry yaml_to_schemas delete_memory_block archival_memory_delete
    rollback_memory plan_approve create_session_context update_session_context finalize_session
    archive_session send_session_message create_companion dismiss_companion
    update_companion_status report_task_result delegate_task delegate_workflow broadcast_task
    cancel_task redelegate_task observations_change"""


WRITING = """create_agent send_message_to_agent send_message_to_agent_async write_memory_block
    append_memory_block replace_in_memory_block create_memory_block attach_memory_block
    detach_memory_block archival_memory_insert update_reflector_guidelines register_strategist
    update_conductor_guidelines log_artifact"""
"""What is written to agents under a name that nobody reads would be lost."""


def test_tools_whose_work_cannot_be_taken_back_or_that_write_to_agents_are_strict() -> None:
    strict = {name for name, tool in TOOLS.items() if tool.strict}
    assert strict == {*IRREVOCABLE.split(), *WRITING.split()}


def test_a_state_is_called_state_by_every_tool_that_takes_one() -> None:
    paths = {name for name, tool in TOOLS.items() if "path" in tool.input_schema["properties"]}
    families = load_catalogue().families
    assert paths <= {tool.name for name in ("documents", "files") for tool in families[name]}


@each
def test_a_tool_says_what_it_does(tool: Tool) -> None:
    assert tool.description.endswith((".", ")")) and len(tool.description) >= 15


@each
def test_every_parameter_has_help(tool: Tool) -> None:
    for name, part in tool.input_schema["properties"].items():
        assert len(part["description"]) >= 3, name
        assert name not in WITHDRAWN


@each
def test_every_field_of_an_answer_is_described(tool: Tool) -> None:
    properties = tool.output_schema["properties"]
    assert {"status", "error"} == set(tool.output_schema["required"])
    for name, part in properties.items():
        assert len(part.get("description", "")) >= 3, name


@each
def test_schemas_are_short_and_valid(tool: Tool) -> None:
    for schema in (tool.input_schema, tool.output_schema):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        text = json.dumps(schema)
        assert '"$ref"' not in text and '"$defs"' not in text
    for part in tool.input_schema["properties"].values():
        assert "title" not in part and {"type": "null"} not in part.get("anyOf", ())


@each
def test_a_default_is_one_that_the_schema_allows(tool: Tool) -> None:
    for name, part in tool.input_schema["properties"].items():
        if "default" in part:
            assert Draft202012Validator(part).is_valid(part["default"]), name


def test_clients_can_afford_the_tools() -> None:
    catalogue = load_catalogue()
    assert cost_of_role(catalogue, None).shown < WHOLE_LIMIT
    for role in ROLES:
        assert cost_of_role(catalogue, role).shown < ROLE_LIMIT, role


def test_each_role_has_what_it_needs() -> None:
    wanted: dict[Any, str] = {
        "planner": "validate_workflow create_workflow_control_plane create_worker_agents"
        " get_skillset read_workflow_control_plane finalize_workflow notify_if_ready json_read"
        " write_file",
        "worker": "acquire_state_lease renew_state_lease release_state_lease load_skill"
        " unload_skill update_workflow_control_plane call_skill_tool json_read read_file",
        "companion": "load_skill unload_skill call_skill_tool read_file receive_task"
        " report_task_progress report_task_result update_companion_status",
        "reflector": "read_workflow_control_plane json_read",
        "conductor": "get_skillset create_session_context create_companion delegate_task"
        " broadcast_task delegate_workflow list_session_tasks read_task_result finalize_session"
        " send_session_message",
        "coder": "log_artifact augmented_context",
    }
    for role, names in wanted.items():
        assert set(names.split()) <= load_catalogue().tools(role).keys(), role


def test_a_tool_of_another_role_is_said_to_be_there() -> None:
    unknown = protocol._unknown("set_budget", load_catalogue().tools("worker"))
    assert "unknown_tool" in unknown["error"] and "not in this set" in unknown["error"]
    planning = protocol._unknown("cancel_workflow", load_catalogue().tools("worker"))
    assert "planner" in planning["hint"]
