"""Standard streams that were closed before the program began, as by ``kafkapy ... <&-``.

The next file that is opened would take the place of one, and be read for what was typed, or have lines written into it:
a log of Kafka's own, perhaps. So something harmless takes it first. An input that is closed is an empty one; what is
written to a closed output fails, as it should; and what would be told on a closed stderr is told nobody.
"""

from __future__ import annotations

import os
import sys


def fill_closed_streams() -> None:
    """Have descriptors 0, 1 and 2 open; in this order, since a file always gets the lowest that is free."""
    for descriptor, flags in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, flags), True)
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)
