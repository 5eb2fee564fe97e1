"""What a Python worker of Spark's does for itself, whichever session it belongs to.

Spark's daemon looks for garbage after every task, through every object of every module that is loaded: that is most of
the cost of a short task. Objects that are frozen are left out of it.
"""

from __future__ import annotations

import gc
import os
import sys
from functools import cache

import kafkapy

LIBRARIES = "_libraries"
"""Where a shipment has the libraries that a worker's own Python may lack."""


def find_libraries() -> None:
    """Let libraries that came with the job be found, behind those that are installed."""
    directory = os.path.join(os.path.dirname(os.path.abspath(kafkapy.__file__)), LIBRARIES)
    if directory not in sys.path and os.path.isdir(directory):
        sys.path.append(directory)


@cache
def freeze_once() -> None:
    """After a worker's first read: what is loaded by now stays."""
    gc.freeze()
