"""The rules of elections and reassignments, one by one and on what a real cluster went through."""

import pytest

from kafkapy.formats.uuid import DIRECTORY_LOST, DIRECTORY_UNASSIGNED
from kafkapy.metadata.changes import CreateTopic, ElectLeader, Reassign
from kafkapy.metadata.cluster_image import BrokerRegistration
from kafkapy.metadata.elections import ONLINE, PREFERRED, UNCLEAN, Cluster, Target, partition_change
from kafkapy.metadata.topics_image import PartitionRegistration, merge
from tests.metadata.test_controller import DIRECTORIES, ID, apply, cluster

ALL = frozenset(DIRECTORIES)


def partition(replicas=(1, 2, 3), isr=(1, 2, 3), leader=1, **fields) -> PartitionRegistration:
    directories = tuple(DIRECTORIES[replica] for replica in replicas)
    return PartitionRegistration(replicas, directories, isr, leader=leader, **fields)


def after(before, live=ALL, elr=True, min_isr=1, election=ONLINE, level=30, **target) -> PartitionRegistration:
    brokers = {number: BrokerRegistration(number, 0, ID, (), {}, directories=(d,)) for number, d in DIRECTORIES.items()}
    record = partition_change(
        ID,
        0,
        before,
        Cluster(brokers, live, level, elr),
        min_isr=min_isr,
        election=election,
        target=Target(**target),
    )
    return before if record is None else merge(before, record.value)


def test_nothing_to_do_is_no_record():
    assert after(partition()) == partition()


def test_the_leader_stays_while_it_can():
    assert after(partition(leader=2), isr=(2, 3)).leader == 2


def test_the_first_live_replica_of_the_isr_in_assignment_order_leads():
    changed = after(partition((2, 3, 1), (1, 3, 2), leader=2), live={1, 3}, isr=(1, 3))
    assert (changed.leader, changed.isr, changed.leader_epoch) == (3, (1, 3), 1)


def test_the_preferred_replica_leads_again():
    assert after(partition(leader=3)).leader == 3
    assert after(partition(leader=3), election=PREFERRED).leader == 1
    assert after(partition(leader=3, isr=(2, 3)), election=PREFERRED).leader == 3


def test_without_elr_the_last_of_the_isr_stays_in_it():
    changed = after(partition((1, 2), (1,)), live={2}, elr=False, isr=())
    assert (changed.leader, changed.isr, changed.elr) == (-1, (1,), ())


def test_with_elr_it_becomes_eligible_and_the_last_known_leader():
    changed = after(partition((1, 2), (1,)), live={2}, isr=())
    assert (changed.leader, changed.isr, changed.elr, changed.last_known_elr) == (-1, (), (1,), (1,))
    back = after(changed, live={1, 2})
    assert (back.leader, back.isr, back.elr, back.last_known_elr) == (1, (1,), (), ())


def test_who_leaves_is_eligible_only_while_the_isr_is_too_small():
    assert after(partition(), isr=(1, 2), min_isr=2).elr == ()
    assert after(partition(), isr=(1,), min_isr=2).elr == (2, 3)
    assert after(partition(), isr=(1,), min_isr=2, unclean_shutdown_replicas=(3,)).elr == (2,)
    assert after(partition(isr=(1,), elr=(2, 3)), isr=(1, 2), min_isr=2).elr == ()


def test_the_last_known_leader_is_elected_uncleanly():
    before = partition(isr=(), leader=-1, last_known_elr=(2,))
    changed = after(before)
    assert (changed.leader, changed.isr, changed.leader_recovery_state) == (2, (2,), 1)
    assert after(before, live={1, 3}) == before


def test_only_an_unclean_election_takes_a_replica_outside():
    before = partition((1, 2), (1,), leader=-1)
    assert after(before, live={2}, elr=False) == before
    changed = after(before, live={2}, elr=False, election=UNCLEAN)
    assert (changed.leader, changed.isr, changed.leader_recovery_state) == (2, (2,), 1)


@pytest.mark.parametrize(("directory", "leader"), [(DIRECTORY_LOST, 2), (DIRECTORY_UNASSIGNED, 1), (ID, 2)])
def test_a_replica_on_a_lost_directory_cannot_lead(directory, leader):
    before = partition((1, 2), (1, 2), leader=-1)._replace(directories=(directory, DIRECTORIES[2]))
    assert after(before).leader == leader


def test_a_shrinking_isr_raised_the_leader_epoch_before_3_6():
    assert after(partition(), isr=(1, 2)).leader_epoch == 0
    assert after(partition(), isr=(1, 2), level=11, elr=False).leader_epoch == 1


def test_a_move_adds_first_and_ends_in_the_record_that_completes_it():
    image = apply(cluster(), CreateTopic("t", assignments=((1, 2),)), Reassign("t", 0, (3, 2)))
    moving = image.topics["t"].partitions[0]
    assert (moving.replicas, moving.adding_replicas, moving.removing_replicas) == ((3, 2, 1), (3,), (1,))
    assert moving.directories == (DIRECTORIES[3], DIRECTORIES[2], DIRECTORIES[1])
    done = after(moving, isr=(1, 2, 3))
    assert (done.replicas, done.isr, done.leader, done.is_reassigning) == ((3, 2), (2, 3), 3, False)
    assert done.directories == (DIRECTORIES[3], DIRECTORIES[2])
    cancelled = apply(image, Reassign("t", 0, None)).topics["t"].partitions[0]
    assert (cancelled.replicas, cancelled.leader, cancelled.is_reassigning) == ((2, 1), 1, False)
    assert cancelled.leader_epoch == moving.leader_epoch + 1


def test_a_new_order_completes_at_once_and_the_leader_stays():
    image = apply(cluster(), CreateTopic("t", assignments=((1, 2),)), Reassign("t", 0, (2, 1)))
    reordered = image.topics["t"].partitions[0]
    assert (reordered.replicas, reordered.leader, reordered.leader_epoch) == ((2, 1), 1, 0)
    assert apply(image, ElectLeader("t", 0, PREFERRED)).topics["t"].partitions[0].leader == 2


def test_fewer_replicas_complete_at_once_when_all_that_stay_are_in_sync():
    image = apply(cluster(), CreateTopic("t", assignments=((1, 2, 3),)), Reassign("t", 0, (3,)))
    left = image.topics["t"].partitions[0]
    assert (left.replicas, left.isr, left.leader, left.leader_epoch) == ((3,), (3,), 3, 1)
