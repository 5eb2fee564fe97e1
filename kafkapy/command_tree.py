"""Every command of kafkapy, imported."""

from __future__ import annotations

from kafkapy.command_node import Node, Option, node_of, walk
from kafkapy.lazy_group import root_command

__all__ = ["Node", "Option", "command_tree", "walk"]


def command_tree() -> Node:
    """The whole tree."""
    return node_of(("kafkapy",), root_command(), None)
