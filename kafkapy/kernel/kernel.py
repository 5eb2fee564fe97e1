"""The scan kernel: the compiled one where it was built, else plain Python (``KAFKAPY_KERNEL=plain`` forces that)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING or os.environ.get("KAFKAPY_KERNEL") == "plain":
    from kafkapy.kernel import plain as _kernel
else:
    try:
        from kafkapy.kernel import _kernel
    except ImportError:
        from kafkapy.kernel import plain as _kernel

COMPILED = _kernel.COMPILED
TEXT, JSON_LINES, JSON_ARRAY = _kernel.TEXT, _kernel.JSON_LINES, _kernel.JSON_ARRAY
Columns = _kernel.Columns
LineWriter = _kernel.LineWriter
RecordBuffers = _kernel.RecordBuffers
dump_batches = _kernel.dump_batches
gather_batches = _kernel.gather_batches
check_records = _kernel.check_records
header_items = _kernel.header_items
