"""What plans cost: bytes moved by Kafka's --generate, by ``minimal`` and ``balanced``, and the least any plan could.

    python benchmarks/plan_table.py [--markdown docs/reassignment.md]

Clusters and sizes are drawn with fixed seeds, so that only the CPU seconds differ between machines. Kafka's placement
is random: its bytes are the mean of several draws. The lower bound of small clusters is a linear program without whole
numbers; of large ones, what must leave brokers that are over their bounds or reach those that are under, or what a
drain, a replication factor or racks ask for. That is no bound where the balance asked for cannot be reached: there is
none then.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import mean
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kafkapy.log.topic_partition import TopicPartition  # noqa: E402
from kafkapy.metadata.placement import PlacementSpec, UsableBroker, place  # noqa: E402
from kafkapy.metadata.reassignment.broker_loads import BrokerLoads  # noqa: E402
from kafkapy.metadata.reassignment.exact_plan import is_small, lower_bound  # noqa: E402
from kafkapy.metadata.reassignment.goal import DEFAULT_TOLERANCE, Goal  # noqa: E402
from kafkapy.metadata.reassignment.layout import Layout  # noqa: E402
from kafkapy.metadata.reassignment.minimal_plan import distance  # noqa: E402
from kafkapy.metadata.reassignment.plan_cost import PlanCost, bytes_moved, plan_cost  # noqa: E402
from kafkapy.metadata.reassignment.plan_jobs import Job, goal_of  # noqa: E402
from kafkapy.metadata.reassignment.plans import Planned, make_plan  # noqa: E402
from kafkapy.metadata.reassignment.strategy import Strategy  # noqa: E402

DRAWS = 5
GIGABYTE = 10**9
BEGIN, END = "<!-- plan_table.py: begin -->", "<!-- plan_table.py: end -->"

Brokers = dict[int, str | None]
Size = Callable[[Random], int]


class Case(NamedTuple):
    """A cluster and what is to be done to it."""

    name: str
    layout: Layout
    job: Job


def uniform(random: Random) -> int:
    """Every partition alike."""
    return GIGABYTE


def skewed(random: Random) -> int:
    """Most are small, some are a hundred times as large."""
    return int(random.lognormvariate(0, 1.2) * GIGABYTE)


def heavy_tailed(random: Random) -> int:
    """A heavy tail: of ten thousand partitions some are larger than a broker's share, so full balance cannot be."""
    return int(random.paretovariate(1.2) * GIGABYTE / 10)


def placed(brokers: Brokers, topics: int, partitions: int, factor: int, size: Size) -> Layout:
    """Topics where Kafka puts them."""
    random = Random(1)
    usable = [UsableBroker(broker, rack) for broker, rack in brokers.items()]
    replicas, sizes = {}, {}
    for topic in range(topics):
        for number, found in enumerate(place(usable, PlacementSpec(0, partitions, factor), random)):
            partition = TopicPartition(f"topic-{topic}", number)
            replicas[partition], sizes[partition] = found, size(random)
    return Layout(brokers, replicas, sizes)


def scattered(layout: Layout, brokers: Brokers) -> Layout:
    """The same with replicas anywhere, as before the brokers had racks."""
    random = Random(2)
    replicas = {p: tuple(random.sample(sorted(brokers), len(found))) for p, found in layout.replicas.items()}
    return layout._replace(brokers=brokers, replicas=replicas)


def cases(count: int, topics: int, partitions: int) -> list[Case]:
    """The same jobs on clusters of one size."""
    every: Brokers = dict.fromkeys(range(1, count + 1))
    racks: Brokers = {b: "a" if b <= count // 2 else "b" if b <= count * 5 // 6 else "c" for b in every}
    some: Brokers = dict.fromkeys(range(1, count - count // 10))
    new = frozenset(every).difference(some)
    two, three = (placed(every, topics, partitions, factor, skewed) for factor in (2, 3))
    grown = placed(some, topics, partitions, 3, skewed)._replace(brokers=every)
    unequal = scattered(three, racks)
    return [
        Case("uniform sizes, rebalance", placed(every, topics, partitions, 3, uniform), Job(rebalance=True)),
        Case("skewed sizes, rebalance", three, Job(rebalance=True)),
        Case(
            "heavy-tailed sizes, rebalance",
            placed(every, topics, partitions, 3, heavy_tailed),
            Job(rebalance=True),
        ),
        Case("racks of unequal size, rebalance", unequal, Job(rebalance=True)),
        Case("racks of unequal size, fix racks", unequal, Job(fix_racks=True)),
        Case("drain a broker", three, Job(drain=frozenset({2}))),
        Case(f"add {len(new)} broker{'s' * (len(new) > 1)}", grown, Job(add=new)),
        Case("replication factor 2 to 3", two, Job(replication_factor=3)),
        Case("demote a broker", three, Job(demote=frozenset({2}))),
    ]


def simple_bound(layout: Layout, goal: Goal) -> int:
    """Fewer bytes no plan moves that reaches the goal; a weak bound, but one for clusters of any size."""
    loads = BrokerLoads(layout, goal)
    needed = 0
    for partition, replicas in layout.replicas.items():
        if partition in goal.scope:
            staying = [b for b in replicas if b in loads.counts or b in goal.kept]
            if goal.fix_racks and loads.rule.is_active:
                cap = loads.rule.cap(loads.wanted(partition))
                counts = Counter(loads.rule.racks.get(broker) for broker in staying)
                staying = staying[: sum(min(count, cap) for count in counts.values())]
            needed += max(0, loads.wanted(partition) - len(staying)) * layout.size(partition)
    if not goal.rebalance:
        return needed
    over = sum(max(0.0, loads.sizes[b] - loads.size_bounds.high[b]) for b in goal.brokers)
    under = sum(max(0.0, loads.size_bounds.low[b] - loads.sizes[b]) for b in goal.brokers)
    return int(max(needed, over, under))


class Row(NamedTuple):
    """What was measured of a case."""

    case: Case
    kafkas: float | None
    minimal: PlanCost
    seconds: float
    balanced: PlanCost
    balanced_seconds: float
    bound: int | None


def measure(case: Case) -> Row:
    """Plan a case by every strategy."""
    kafkas = None
    if not case.job.demote:
        draws = [make_plan(case.layout, case.job, Strategy.KAFKA, 0.1, Random(seed)).plan for seed in range(DRAWS)]
        kafkas = mean(bytes_moved(case.layout, plan) for plan in draws)
    minimal, seconds = _timed(case, Strategy.MINIMAL)
    balanced, balanced_seconds = _timed(case, Strategy.BALANCED)
    goal = goal_of(case.layout, case.job)
    if is_small(goal):
        bound = lower_bound(case.layout, goal) if goal.scope else 0
    else:
        reached = not goal.rebalance or distance(case.layout, goal, minimal.plan) < 1e-5
        bound = simple_bound(case.layout, goal) if reached else None
    cost = plan_cost(case.layout, minimal.plan)
    best = plan_cost(case.layout, balanced.plan)
    return Row(case, kafkas, cost, seconds, best, balanced_seconds, bound)


def _timed(case: Case, strategy: Strategy) -> tuple[Planned, float]:
    begin = time.process_time()
    planned = make_plan(case.layout, case.job, strategy, DEFAULT_TOLERANCE, Random(1))
    return planned, time.process_time() - begin


def table(rows: list[Row]) -> str:
    """Markdown."""
    lines = [
        "| cluster and job | Kafka's --generate | minimal | lower bound | minimal: leaders moved | bytes off share | "
        "CPU s | balanced | bytes off share | CPU s |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        before = row.minimal.imbalance_before.bytes
        cells = [
            row.case.name,
            _gigabytes(row.kafkas),
            _gigabytes(row.minimal.bytes_moved),
            _gigabytes(row.bound),
            str(row.minimal.leaders_moved),
            f"{before:.0%} to {row.minimal.imbalance_after.bytes:.0%}",
            f"{row.seconds:.1f}",
            _gigabytes(row.balanced.bytes_moved),
            f"{row.balanced.imbalance_after.bytes:.0%}",
            f"{row.balanced_seconds:.1f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _gigabytes(size: float | None) -> str:
    return "" if size is None else f"{size / GIGABYTE:,.1f}"


def page(small: list[Row], large: list[Row]) -> str:
    """Both tables."""
    return (
        f"12 brokers, 20 topics of 12 partitions, in GB:\n\n{table(small)}\n\n"
        f"100 brokers, 200 topics of 50 partitions (10,000 partitions), in GB:\n\n{table(large)}"
    )


def main() -> None:
    """Measure, and print or write the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--markdown", type=Path, help="write the tables into this page, between their marks")
    asked = parser.parse_args()
    found = page([measure(case) for case in cases(12, 20, 12)], [measure(case) for case in cases(100, 200, 50)])
    if asked.markdown is None:
        print(found)
        return
    before, _, rest = asked.markdown.read_text().partition(BEGIN)
    asked.markdown.write_text(f"{before}{BEGIN}\n{found}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
