"""Where the graph is, and when it is written."""

from __future__ import annotations

import pytest

from dcf.knowledge import GraphConnection, GraphOff, GraphSetting, SettingUnusable


@pytest.mark.parametrize(
    ("env", "mode"),
    [
        ({}, "demand"),
        ({"DCF_GRAPH": ""}, "demand"),
        ({"DCF_GRAPH": "ON"}, "on"),
        ({"DCF_GRAPH": "off", "DCF_GRAPH_URL": "redis://h"}, "off"),
        ({"DCF_GRAPH_URL": "redis://h"}, "on"),
        ({"DCF_GRAPH": "demand", "DCF_GRAPH_URL": "redis://h"}, "demand"),
    ],
)
def test_the_mode_is_what_is_said_or_follows_from_the_address(
    env: dict[str, str], mode: str
) -> None:
    assert GraphSetting.from_env(env).mode == mode


def test_what_cannot_be_used_is_told_without_its_password() -> None:
    with pytest.raises(SettingUnusable, match="DCF_GRAPH cannot be used: 'perhaps'"):
        GraphSetting.from_env({"DCF_GRAPH": "perhaps"})
    with pytest.raises(SettingUnusable) as caught:
        GraphSetting.from_env({"DCF_GRAPH_URL": "http://:pa55word@host"})
    assert "pa55word" not in str(caught.value)
    with pytest.raises(SettingUnusable) as caught:
        GraphConnection("redis://:pa55word@host:notaport")
    assert "pa55word" not in str(caught.value)


async def test_a_graph_that_is_switched_off_is_nowhere() -> None:
    with pytest.raises(GraphOff, match="switched off"):
        await GraphSetting("off").address()


def test_a_setting_shows_no_password() -> None:
    assert "pa55word" not in repr(GraphSetting.from_env({"DCF_GRAPH_URL": "redis://:pa55word@h"}))


def test_a_reason_with_a_full_stop_of_its_own_is_not_given_another() -> None:
    said = SettingUnusable(name="DCF_GRAPH_URL", reason="the server is gone.").message
    assert said == "DCF_GRAPH_URL cannot be used: the server is gone."
    assert str(SettingUnusable("It is gone...")) == "It is gone."
