"""What is written goes out whole, and nobody writes to nobody."""

from __future__ import annotations

import os
import threading

import pytest

from kafkapy.output.sink import Sink


@pytest.fixture
def pipe() -> tuple[int, int]:
    return os.pipe()


def test_a_reader_that_is_gone_is_noticed_without_anything_to_write(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    sink = Sink(writer)
    sink.write(b"")
    os.close(reader)
    with pytest.raises(BrokenPipeError):
        sink.write(b"")
    os.close(writer)


def test_something_is_done_while_nobody_reads(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    data, read, called = os.urandom(300_000), bytearray(), threading.Event()

    def read_all() -> None:
        called.wait()
        while len(read) < len(data):
            read.extend(os.read(reader, 65_536))

    thread = threading.Thread(target=read_all, daemon=True)
    thread.start()
    Sink(writer, called.set).write(data)
    thread.join()
    assert bytes(read) == data
    os.close(reader)
    os.close(writer)
