"""The small market, whose index is made once for all tests of the planner."""

from __future__ import annotations

import pytest
from small_market import small_market

from dcf.planner import Market


@pytest.fixture(scope="session")
def market(tmp_path_factory: pytest.TempPathFactory) -> Market:
    return small_market(tmp_path_factory.mktemp("market"))
