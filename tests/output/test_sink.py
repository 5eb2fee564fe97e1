"""What is written goes out whole, and nobody writes to nobody."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress

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


@pytest.mark.parametrize("fill", [100, 4096, 500_000])
def test_an_interrupted_drain_goes_on_where_it_stopped(pipe: tuple[int, int], fill: int) -> None:
    """Nobody reads until the interrupt, which comes while the pipe is full, or when all is in it."""
    reader, writer = pipe
    data, read = bytearray(os.urandom(fill)), bytearray()
    whole = bytes(data)
    sink = Sink(writer, lambda: signal.raise_signal(signal.SIGINT))

    def read_all() -> None:
        while chunk := os.read(reader, 65_536):
            read.extend(chunk)

    with suppress(KeyboardInterrupt):
        sink.drain(data)
        signal.raise_signal(signal.SIGINT)
    thread = threading.Thread(target=read_all, daemon=True)
    thread.start()
    sink.drain(data)
    os.close(writer)
    thread.join()
    os.close(reader)
    assert bytes(read) == whole
    assert not data


def test_signals_at_any_time_neither_lose_nor_double_anything(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    data, read = bytearray(os.urandom(3_000_000)), bytearray()
    whole, armed, came = bytes(data), threading.Event(), 0
    sink, us = Sink(writer, lambda: None), threading.get_ident()

    def interrupt(_: int, __: object) -> None:
        if armed.is_set():
            armed.clear()
            raise KeyboardInterrupt

    def read_all() -> None:
        while chunk := os.read(reader, 5_000):
            read.extend(chunk)
            if len(read) < len(whole) // 2:
                signal.pthread_kill(us, signal.SIGINT)

    before = signal.signal(signal.SIGINT, interrupt)
    thread = threading.Thread(target=read_all, daemon=True)
    thread.start()
    try:
        while data:
            try:
                armed.set()
                sink.drain(data)
                armed.clear()
            except KeyboardInterrupt:
                came += 1
    finally:
        os.close(writer)
        thread.join()
        signal.signal(signal.SIGINT, before)
        os.close(reader)
    assert bytes(read) == whole
    assert came > 0


def test_without_anything_to_come_an_interrupt_drops_the_rest(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    data = bytearray(1_000_000)
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        Sink(writer).drain(data)
    assert not data
    os.close(reader)
    os.close(writer)
