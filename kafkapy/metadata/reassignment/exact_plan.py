"""The plan that moves the fewest bytes but for a hundredth, by a solver (SciPy's, HiGHS), of clusters not too large.

A variable for each partition and broker says whether it has a replica there. Replication factors and racks are hard;
the bounds of loads may be left at a price that is far above that of all bytes, so that a plan comes as near to balance
as any can. Without whole numbers the same program gives a lower bound for every plan.
"""

from __future__ import annotations

from typing import Any

from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.reassignment.broker_loads import BrokerLoads
from kafkapy.metadata.reassignment.goal import Goal
from kafkapy.metadata.reassignment.layout import Layout
from kafkapy.metadata.reassignment.minimal_plan import distance, finished, minimal_plan
from kafkapy.metadata.reassignment.plan_cost import bytes_moved

LARGEST = 20_000
SECONDS = 20.0
NODES = 1000
GAP = 0.01
"""Within a hundredth of the least is near enough: the last bytes take most of the time. Nodes end a search that is too
long at the same place on every machine, seconds only where one is very slow."""
PRICE_OF_IMBALANCE = 1000.0


def is_available() -> bool:
    """Whether the solver is installed."""
    import importlib.util

    return importlib.util.find_spec("scipy") is not None


def is_small(goal: Goal) -> bool:
    """Whether a solver finds the least in little time."""
    return len(goal.scope) * len(goal.brokers) <= LARGEST


def exact_plan(layout: Layout, goal: Goal) -> dict[TopicPartition, tuple[int, ...]]:
    """The better of what the solver finds and what the quick way does."""
    quick = minimal_plan(layout, goal)
    if not goal.rebalance:  # only what must move does, already
        return quick
    program = _Program(layout, goal)
    solution = program.solve(whole=True)
    if solution is None:
        return quick
    found = finished(layout, goal, program.replicas(solution))
    return min(quick, found, key=lambda plan: (distance(layout, goal, plan), bytes_moved(layout, plan)))


def lower_bound(layout: Layout, goal: Goal) -> int:
    """Fewer bytes than this no plan moves that comes as near to balance."""
    program = _Program(layout, goal)
    solution = program.solve(whole=False)
    return 0 if solution is None else program.bytes_moved(solution)


class _Program:
    def __init__(self, layout: Layout, goal: Goal) -> None:
        import numpy as np

        self._layout, self._goal = layout, goal
        self._loads = BrokerLoads(layout, goal)
        self._partitions = sorted(goal.scope)
        self._brokers = list(goal.brokers)
        self._shape = (len(self._partitions), len(self._brokers))
        self._sizes = np.array([layout.size(p) for p in self._partitions], dtype=float)
        self._is_home = np.array([[b in layout.replicas[p] for b in self._brokers] for p in self._partitions])

    def solve(self, whole: bool) -> Any:
        import numpy as np
        from scipy.optimize import Bounds, milp

        cells = self._shape[0] * self._shape[1]
        slacks = 4 * self._shape[1] if self._goal.rebalance else 0
        price = np.concatenate([self._prices(), np.full(slacks, PRICE_OF_IMBALANCE)])
        upper = np.concatenate([self._upper(), np.full(slacks, np.inf)])
        integrality = np.concatenate([np.full(cells, int(whole)), np.zeros(slacks)])
        result = milp(
            price,
            integrality=integrality,
            bounds=Bounds(np.zeros_like(upper), upper),
            constraints=self._constraints(cells, slacks),
            options={"time_limit": SECONDS, "node_limit": NODES, "mip_rel_gap": GAP},
        )
        return None if result.x is None else result.x[:cells].reshape(self._shape)

    def replicas(self, solution: Any) -> dict[TopicPartition, tuple[int, ...]]:
        """The replicas that a solution says, in no order that matters."""
        return {
            partition: (
                *(broker for broker, has in zip(self._brokers, row, strict=True) if has > 0.5),
                *(broker for broker in self._layout.replicas[partition] if broker in self._goal.kept),
            )
            for partition, row in zip(self._partitions, solution, strict=True)
        }

    def bytes_moved(self, solution: Any) -> int:
        """The bytes of a solution, also of one that is not whole."""
        return int(((solution * ~self._is_home).sum(axis=1) * self._sizes).sum())

    def _prices(self) -> Any:
        """Bytes moved, as parts of all; a move of nothing costs a little, too, and a leader's a little more."""
        import numpy as np

        total = max(1.0, float(self._sizes.sum()))
        first = [self._layout.replicas[p][0] for p in self._partitions]
        leads = np.array([[broker == leader for broker in self._brokers] for leader in first])
        return ((self._sizes[:, None] / total + 1e-9) * ~self._is_home - 1e-9 * leads).ravel()

    def _upper(self) -> Any:
        import numpy as np

        may = np.array([self._goal.may_receive(broker) for broker in self._brokers])
        return (self._is_home | may[None, :]).astype(float).ravel()

    def _constraints(self, cells: int, slacks: int) -> list[Any]:
        import numpy as np
        from scipy import sparse
        from scipy.optimize import LinearConstraint

        rows, columns = self._shape
        wanted = np.array([self._loads.wanted(p) for p in self._partitions])
        kept = np.array([len(self._goal.kept.intersection(self._layout.replicas[p])) for p in self._partitions])
        per_partition = sparse.kron(sparse.eye(rows), np.ones((1, columns)))
        found = [LinearConstraint(self._padded(per_partition, slacks), wanted - kept, wanted - kept)]
        rule = self._loads.rule
        if rule.is_active:
            racks = sorted({rule.racks[broker] for broker in self._brokers}, key=str)
            in_rack = np.array(
                [[rule.racks[broker] == rack for broker in self._brokers] for rack in racks], dtype=float
            )
            caps = np.repeat([rule.cap(int(each)) for each in wanted], len(racks))
            found.append(LinearConstraint(self._padded(sparse.kron(sparse.eye(rows), in_rack), slacks), -np.inf, caps))
        if slacks:
            found += self._balance_constraints()
        return found

    def _balance_constraints(self) -> list[Any]:
        """What a broker has in scope and out of it, less one slack and plus another, lies within its bounds."""
        import numpy as np
        from scipy import sparse
        from scipy.optimize import LinearConstraint

        rows, columns = self._shape
        loads, found = self._loads, []
        kinds = (
            (loads.counts, loads.count_bounds, np.ones(rows)),
            (loads.sizes, loads.size_bounds, self._sizes),
        )
        for number, (held, limits, weights) in enumerate(kinds):
            own = {
                b: sum(weights[i] for i, p in enumerate(self._partitions) if b in self._layout.replicas[p])
                for b in held
            }
            fixed = np.array([held[b] - own[b] for b in self._brokers])
            unit = max(1.0, float(sum(limits.high.values())) / columns)
            per_broker = sparse.kron(weights[None, :], sparse.eye(columns)) / unit
            slack = sparse.hstack([-sparse.eye(columns), sparse.eye(columns)])
            before, after = sparse.csr_matrix((columns, 2 * columns * number)), 2 * columns * (1 - number)
            matrix = sparse.hstack([per_broker, before, slack, sparse.csr_matrix((columns, after))])
            low = (np.array([limits.low[b] for b in self._brokers]) - fixed) / unit
            high = (np.array([limits.high[b] for b in self._brokers]) - fixed) / unit
            found.append(LinearConstraint(matrix, low, high))
        return found

    @staticmethod
    def _padded(matrix: Any, slacks: int) -> Any:
        from scipy import sparse

        return sparse.hstack([matrix, sparse.csr_matrix((matrix.shape[0], slacks))]) if slacks else matrix
