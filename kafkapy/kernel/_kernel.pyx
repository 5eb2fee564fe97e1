# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The scan kernel, compiled. ``plain.py`` is its definition: the same names, the same bytes, the same problems.

Input is not trusted. Whoever reads checks against ``end`` first: ``_varint`` and ``_varlong`` return NULL where a number
runs past it, and every size is compared with the room that is left before it is added to a pointer. Whoever writes has
made room first: ``LineWriter._room`` flushes, ``_java_text`` writes what may be larger than the whole buffer in pieces,
and a JSON row makes the buffer as large as it needs.
"""

from cpython cimport array
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

import array

from kafkapy.formats.checksum import crc32c
from kafkapy.formats.record_batch import HEADER, BatchHeader
from kafkapy.kernel.buffer_names import BUFFERS
from kafkapy.kernel.lines import json_batch, json_batch_of_record

COMPILED = True
CAPACITY = 4096
TEXT, JSON_LINES, JSON_ARRAY = 0, 1, 2

BUFFER_SIZE = 1 << 20

cdef enum:
    STYLE_TEXT = 0
    STYLE_JSON_LINES = 1
    NO_PROBLEM = 0
    NEED_MORE = 1
    INVALID_RECORD = 2
    REMAINING = 3
    HEADER_SIZE = 61
    LINE_ROOM = 1024  # the fixed words and numbers of any line
    CODECS = 5
    SMALL = 4096
    MIDDLE_SIZE = 128  # three numbers of at most 20 digits and the words around them

cdef const char* DIGITS = (
    b"0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
    b"5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899"
)
cdef const char* HEX = b"0123456789abcdef"
cdef const char* BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
cdef const char** CODEC_NAMES = [b"none", b"gzip", b"snappy", b"lz4", b"zstd"]
cdef int* CODEC_SIZES = [4, 4, 6, 3, 4]


cdef struct Row:
    int64_t offset
    int64_t timestamp
    int64_t sequence
    int64_t key_start
    int64_t key_size
    int64_t value_start
    int64_t value_size
    int64_t headers_start
    int64_t header_count


cdef struct Head:
    int64_t base_offset
    int64_t batch_length
    int64_t partition_leader_epoch
    int64_t magic
    int64_t crc
    int64_t attributes
    int64_t last_offset_delta
    int64_t base_timestamp
    int64_t max_timestamp
    int64_t producer_id
    int64_t producer_epoch
    int64_t base_sequence
    int64_t record_count

include "parts/numbers.pxi"
include "parts/columns.pxi"
include "parts/text.pxi"
include "parts/json.pxi"
include "parts/line_writer.pxi"
include "parts/record_buffers.pxi"


def dump_batches(
    LineWriter writer, Columns columns, window, Py_ssize_t start, Py_ssize_t end, int64_t file_position, bint deep,
    found_gap, inflate,
):
    """Write every batch from ``start``, which lies at ``file_position``; where the first one begins that was left."""
    cdef const uint8_t[::1] view = window
    cdef const uint8_t* bytes_ = NULL
    cdef Head head
    cdef Py_ssize_t position = start, size
    cdef int codec
    cdef bint valid
    if not 0 <= start <= end <= view.shape[0]:
        raise ValueError("the region lies outside the window")
    columns.problem = NO_PROBLEM
    if start == end:
        return start
    bytes_ = &view[0]
    slices = memoryview(window)
    while position + HEADER_SIZE <= end:
        _read_head(bytes_ + position, &head)
        codec = head.attributes & 7
        size = head.batch_length + 12
        if head.magic != 2 or size < HEADER_SIZE or size > end - position or codec >= CODECS:
            break
        if deep and (head.attributes & 32 or head.record_count < 0):
            break
        valid = crc32c(slices[position + 21 : position + size]) == head.crc
        header = None if writer._style == STYLE_TEXT else BatchHeader(*HEADER.unpack_from(window, position))
        if deep and codec and head.record_count:
            inflated = inflate(codec, slices[position + HEADER_SIZE : position + size])
            if inflated is None:
                break
            writer._batch(&head, header, file_position + position - start, valid)
            _write_inflated(writer, columns, &head, inflated, found_gap)
        else:
            writer._batch(&head, header, file_position + position - start, valid)
            if deep and head.record_count:
                _write_records(writer, columns, &head, bytes_, position + HEADER_SIZE, position + size, found_gap)
        if columns.problem:
            break
        position += size
    return position


cdef int _write_inflated(LineWriter writer, Columns columns, Head* head, inflated, found_gap) except -1:
    """Write the records of a decompressed body, or none where one of them is damaged."""
    cdef const uint8_t[::1] body = inflated
    cdef const uint8_t* bytes_ = NULL
    cdef Py_ssize_t end = body.shape[0]
    if end == 0:
        columns.problem = NEED_MORE
        return 0
    bytes_ = &body[0]
    if head.record_count > columns.capacity:
        if not _check_records(columns, head, bytes_, end):
            _write_records(writer, columns, head, bytes_, 0, end, found_gap)
        return 0
    columns._decode(head, bytes_, 0, end, head.record_count, True)
    if not columns.problem:
        columns.gaps(found_gap)
        writer._all_records(columns, bytes_)
    return 0


cdef int _check_records(Columns columns, Head* head, const uint8_t* body, Py_ssize_t end) noexcept:
    cdef int64_t records = head.record_count
    cdef Py_ssize_t start = 0
    while records > 0:
        start = columns._decode(head, body, start, end, records, True)
        records -= columns.count
        if columns.problem:
            return columns.problem
    return NO_PROBLEM


cdef int _write_records(
    LineWriter writer, Columns columns, Head* head, const uint8_t* body, Py_ssize_t start, Py_ssize_t end, found_gap
) except -1:
    cdef int64_t records = head.record_count
    while records > 0:
        start = columns._decode(head, body, start, end, records, True)
        columns.gaps(found_gap)
        writer._all_records(columns, body)
        records -= columns.count
        if columns.problem:
            break
    return 0


def check_records(Columns columns, header, const uint8_t[::1] body):
    """Decode all records of a whole body and write nothing: 0, or the problem that was found."""
    cdef Head head
    _head_of(header, &head)
    if body.shape[0] == 0:
        columns.count, columns.problem = 0, NEED_MORE if head.record_count > 0 else NO_PROBLEM
        return columns.problem
    return _check_records(columns, &head, &body[0], body.shape[0])
