"""What a terminal is shown of long lines, and what a pipe is."""

from __future__ import annotations

from kafkapy.output.tour_lines import played_lines
from kafkapy.tour.play import Played

DESCRIBED = "\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2\tElr: \tLastKnownElr: "


def text(played: Played, width: int | None) -> list[str]:
    return ["".join(piece for piece, _ in line) for line in played_lines(played, width)]


def test_a_pipe_has_what_was_printed() -> None:
    assert text(Played(((DESCRIBED, "a note"), ("", None)), ()), None) == [DESCRIBED, "  # a note", ""]


def test_a_line_that_is_explained_is_folded_and_names_stay_with_values() -> None:
    assert text(Played(((DESCRIBED, "a note"), ("", None)), ()), 50) == [
        "        Topic: orders   Partition: 0    Leader: 1",
        "            Replicas: 1,2   Isr: 1,2        Elr:",
        "            LastKnownElr:",
        "  # a note",
        "",
    ]


def test_a_row_of_a_table_is_cut() -> None:
    rows = (("GROUP  TOPIC   LAG", None), ("g      orders  1  ", None))
    assert text(Played(rows, ("a note",)), 16) == ["GROUP  TOPIC   …", "g      orders  1", "  # a note"]
