"""One module for each version of the memory file."""

from __future__ import annotations

from dcf.memory.database.migration import Migration
from dcf.memory.database.migrations.v0001_blocks import STEP as V1
from dcf.memory.database.migrations.v0002_messages import STEP as V2
from dcf.memory.database.migrations.v0003_letters import STEP as V3
from dcf.memory.database.migrations.v0004_consolidation import STEP as V4
from dcf.memory.database.migrations.v0005_projects import STEP as V5
from dcf.memory.database.migrations.v0006_abouts import STEP as V6
from dcf.memory.database.migrations.v0007_observations import STEP as V7
from dcf.memory.database.migrations.v0008_fences import STEP as V8
from dcf.memory.database.migrations.v0009_origins import STEP as V9
from dcf.memory.database.migrations.v0010_occurrences import STEP as V10
from dcf.memory.database.migrations.v0011_places import STEP as V11
from dcf.memory.database.migrations.v0012_pins import STEP as V12
from dcf.memory.database.migrations.v0013_extraction import STEP as V13
from dcf.memory.database.migrations.v0014_uses import STEP as V14
from dcf.memory.database.migrations.v0015_extracted import STEP as V15
from dcf.memory.database.migrations.v0016_signs import STEP as V16
from dcf.memory.database.migrations.v0017_searched_turns import STEP as V17
from dcf.memory.database.migrations.v0018_nodes import STEP as V18
from dcf.memory.database.migrations.v0019_node_reads import STEP as V19
from dcf.memory.database.migrations.v0020_documents import STEP as V20
from dcf.memory.database.migrations.v0021_playbooks import STEP as V21
from dcf.memory.database.migrations.v0022_receipts import STEP as V22
from dcf.memory.database.migrations.v0023_turns_in_order import STEP as V23

STEPS: tuple[Migration, ...] = (
    *(V1, V2, V3, V4, V5, V6, V7, V8),
    *(V9, V10, V11, V12, V13, V14, V15, V16, V17, V18, V19, V20, V21, V22, V23),
)
