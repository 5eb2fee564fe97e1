"""Whether a query's own filters may bound what is read (the option ``pushFilters``).

Spark 4.3 keeps the outcome of a push in the source itself, which all uses of a frame share. A query that scans a frame
twice, by a join, a subquery or a name that stands for it, would read both times what the last one left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SCAN = "RelationV2["


def is_scanned_once(frame: DataFrame) -> bool:
    """Whether a query has one scan in all. It is planned for that: with filters pushed, it must be planned anew where
    the answer is no, over frames that push none."""
    return str(frame._jdf.queryExecution().optimizedPlan()).count(_SCAN) == 1
