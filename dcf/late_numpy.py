"""numpy, imported by whoever first computes: that takes a tenth of a second, and most commands
never do. The package imports it nowhere else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

# OpenBLAS reads it when numpy is imported. Its threads wait for each other busily: for matrices as
# small as ours that costs five times the processor time, and longer waits on a busy machine. A
# number that the user has set stays.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

if TYPE_CHECKING:
    import numpy as np
else:

    class _Numpy:
        """Looks each name up once; from then on it is its own."""

        def __getattr__(self, name: str) -> Any:
            import numpy

            found = getattr(numpy, name)
            setattr(self, name, found)
            return found

    np = _Numpy()

__all__ = ["np"]
