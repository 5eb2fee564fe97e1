from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import CorruptIndexError
from kafkapy.formats import transaction_index
from kafkapy.formats.transaction_index import AbortedTxn, TransactionIndex
from tests.dump_cases import dump_cases

INT64 = 2**63 - 1
aborted_txns = st.builds(AbortedTxn, *[st.integers(0, INT64)] * 4, version=st.just(0))
ONE = AbortedTxn(1, 2, 3, 4)


def index_of(data: bytes, base_offset: int = 0) -> TransactionIndex:
    return TransactionIndex(base_offset, data, "/d/0.txnindex")


@given(st.lists(aborted_txns, max_size=20), st.binary(max_size=33))
def test_round_trip_with_a_short_tail_ignored(txns: list[AbortedTxn], tail: bytes) -> None:
    data = transaction_index.encode(txns)
    assert len(data) == 34 * len(txns)
    assert index_of(data + tail).all_aborted_txns() == txns


@given(st.binary(max_size=200))
def test_hostile_bytes_raise_only_format_errors(data: bytes) -> None:
    for check in (TransactionIndex.all_aborted_txns, TransactionIndex.sanity_check):
        with suppress(CorruptIndexError):
            check(index_of(data))


@pytest.mark.parametrize(("first_bytes", "version"), [(b"\0\1", 0), (b"\xff\0", -1)])
def test_the_version_is_the_first_byte_alone(first_bytes: bytes, version: int) -> None:
    data = first_bytes + transaction_index.encode([ONE])[2:]
    assert index_of(data).all_aborted_txns() == [ONE._replace(version=version)]


def test_a_later_version_is_refused_even_after_good_entries() -> None:
    data = transaction_index.encode([ONE, ONE])
    with pytest.raises(CorruptIndexError) as caught:
        index_of(data[:34] + b"\1\0" + data[36:]).all_aborted_txns()
    assert str(caught.value) == (
        "Unexpected aborted transaction version 1 in transaction index /d/0.txnindex, current version is 0"
    )


def test_sanity_check_speaks_kafkas_words() -> None:
    with pytest.raises(CorruptIndexError) as caught:
        index_of(transaction_index.encode([ONE]), base_offset=9).sanity_check()
    assert str(caught.value) == (
        "Last offset of aborted transaction AbortedTxn(version=0, producerId=1, firstOffset=2, lastOffset=3, "
        "lastStableOffset=4) in index /d/0.txnindex is less than start offset 9"
    )


def test_collecting_stops_where_the_last_stable_offset_passes_the_bound() -> None:
    first, second, third = AbortedTxn(1, 0, 5, 6), AbortedTxn(2, 8, 12, 20), AbortedTxn(3, 10, 30, 31)
    index = index_of(transaction_index.encode([first, second, third]))
    assert index.collect_aborted_txns(0, 6) == ([first], True)
    assert index.collect_aborted_txns(6, 9) == ([second], True)
    assert index.collect_aborted_txns(6, 21) == ([second, third], True)
    assert index.collect_aborted_txns(0, 100) == ([first, second, third], False)
    assert index.collect_aborted_txns(31, 100) == ([], False)


def test_every_real_index_reencodes_to_its_bytes(golden: Path, zk_era: Path) -> None:
    paths = [*golden.rglob("*.txnindex"), *zk_era.rglob("*.txnindex")]
    for path in paths:
        index = TransactionIndex(int(path.name[:20]), path.read_bytes(), str(path))
        index.sanity_check()
        assert transaction_index.encode(index.all_aborted_txns()) == path.read_bytes()
    assert len(paths) >= 8


def test_prints_what_dump_log_segments_printed(golden: Path, zk_era: Path) -> None:
    cases = dump_cases(golden, ".txnindex") + dump_cases(zk_era, ".txnindex")
    for case in cases:
        lines = [
            f"version: {txn.version} producerId: {txn.producer_id} firstOffset: {txn.first_offset} "
            f"lastOffset: {txn.last_offset} lastStableOffset: {txn.last_stable_offset}"
            for txn in index_of(case.data)
        ]
        assert lines == case.printed, case.file
    assert len(cases) == 2
