# Records of many batches, as the buffers of Arrow columns.

cdef enum:
    KEY_BIT = 1
    VALUE_BIT = 2
    HEADERS_BIT = 4
    # in the order of buffer_names.BUFFERS
    OFFSETS = 0
    TIMES = 1
    TIME_BITS = 2
    SEQUENCES = 3
    KEY_BITS = 4
    KEY_ENDS = 5
    KEY_DATA = 6
    VALUE_BITS = 7
    VALUE_ENDS = 8
    VALUE_DATA = 9
    HEADER_ENDS = 10
    HEADER_KEY_ENDS = 11
    HEADER_KEY_DATA = 12
    HEADER_VALUE_BITS = 13
    HEADER_VALUE_ENDS = 14
    HEADER_VALUE_DATA = 15
    RUN_ENDS = 16
    RUN_ATTRIBUTES = 17
    RUN_PRODUCER_IDS = 18
    RUN_PRODUCER_EPOCHS = 19
    RUN_LEADER_EPOCHS = 20
    RUN_POSITIONS = 21
    BUFFER_COUNT = 22

cdef int64_t LARGEST_TIME = 9223372036854775  # in ms, of those that fit into 64 bits as us


cdef struct Buffer:
    uint8_t* data
    Py_ssize_t size
    Py_ssize_t room


cdef class RecordBuffers:
    """Records whose offset and timestamp lie within ``bounds``, with the columns that ``fields`` has a bit for."""

    cdef readonly Py_ssize_t count
    cdef readonly Py_ssize_t header_count
    cdef Py_ssize_t _most_bytes
    cdef int _fields
    cdef int64_t _first_offset, _end_offset, _first_time, _end_time
    cdef Buffer _buffers[BUFFER_COUNT]

    def __cinit__(self, int fields, bounds, Py_ssize_t most_bytes):
        self._fields = fields
        self._first_offset, self._end_offset, self._first_time, self._end_time = bounds
        self._most_bytes = most_bytes
        self._clear()

    def __dealloc__(self):
        for number in range(BUFFER_COUNT):
            free(self._buffers[number].data)

    cdef int _clear(self) except -1:
        cdef int number
        for number in range(BUFFER_COUNT):
            self._buffers[number].size = 0
        self.count = self.header_count = 0
        for number in (KEY_ENDS, VALUE_ENDS, HEADER_ENDS, HEADER_KEY_ENDS, HEADER_VALUE_ENDS):
            _put32(&self._buffers[number], 0)
        return 0

    @property
    def size(self):
        """Bytes of keys, values and headers."""
        return self._size()

    cdef Py_ssize_t _size(self) noexcept nogil:
        cdef Buffer* buffers = self._buffers
        return (
            buffers[KEY_DATA].size + buffers[VALUE_DATA].size
            + buffers[HEADER_KEY_DATA].size + buffers[HEADER_VALUE_DATA].size
        )

    def is_full(self, Py_ssize_t most_rows):
        """Whether there are enough rows, or bytes."""
        return self.count >= most_rows or self._size() >= self._most_bytes

    def add(self, Columns columns, header, int64_t position, const uint8_t[::1] body):
        """Add what was decoded from ``body``, of the batch at ``position``."""
        cdef Head head
        _head_of(header, &head)
        if columns.count:
            if columns._end > body.shape[0]:
                raise ValueError("the columns do not belong to this body")
            self._add(columns, &head, position, &body[0])

    cdef int _add(self, Columns columns, Head* head, int64_t position, const uint8_t* body) except -1:
        cdef Buffer* buffers = self._buffers
        cdef Py_ssize_t number, before = self.count
        cdef Row* row
        _room(&buffers[OFFSETS], 8 * columns.count)
        _room(&buffers[TIMES], 8 * columns.count)
        _room(&buffers[SEQUENCES], 4 * columns.count)
        _room(&buffers[KEY_ENDS], 4 * columns.count)
        _room(&buffers[VALUE_ENDS], 4 * columns.count)
        _room(&buffers[HEADER_ENDS], 4 * columns.count)
        for number in range(columns.count):
            row = columns._rows + number
            if (
                row.offset < self._first_offset or row.offset >= self._end_offset
                or row.timestamp < self._first_time or row.timestamp >= self._end_time
            ):
                continue
            _put64(&buffers[OFFSETS], row.offset)
            _put_bit(&buffers[TIME_BITS], self.count, 0 <= row.timestamp <= LARGEST_TIME)
            _put64(&buffers[TIMES], row.timestamp * 1000 if 0 <= row.timestamp <= LARGEST_TIME else 0)
            _put32(&buffers[SEQUENCES], row.sequence)
            if self._fields & KEY_BIT:
                _put_bit(&buffers[KEY_BITS], self.count, row.key_size >= 0)
                _put_data(&buffers[KEY_DATA], &buffers[KEY_ENDS], body + row.key_start, row.key_size)
            if self._fields & VALUE_BIT:
                _put_bit(&buffers[VALUE_BITS], self.count, row.value_size >= 0)
                _put_data(&buffers[VALUE_DATA], &buffers[VALUE_ENDS], body + row.value_start, row.value_size)
            if self._fields & HEADERS_BIT:
                if row.header_count:
                    self._add_headers(row, body, body + columns._end)
                _put32(&buffers[HEADER_ENDS], self.header_count)
            self.count += 1
        if self.count > before:
            _put32(&buffers[RUN_ENDS], self.count)
            _put64(&buffers[RUN_ATTRIBUTES], head.attributes)
            _put64(&buffers[RUN_PRODUCER_IDS], head.producer_id)
            _put64(&buffers[RUN_PRODUCER_EPOCHS], head.producer_epoch)
            _put64(&buffers[RUN_LEADER_EPOCHS], head.partition_leader_epoch)
            _put64(&buffers[RUN_POSITIONS], position)
        return 0

    cdef int _add_headers(self, Row* row, const uint8_t* body, const uint8_t* end) except -1:
        """Those of a record that ``Columns`` has checked."""
        cdef Buffer* buffers = self._buffers
        cdef const uint8_t* p = body + row.headers_start
        cdef int64_t count = row.header_count, size = 0
        while count > 0:
            p = _varint(p, end, &size)
            _put_data(&buffers[HEADER_KEY_DATA], &buffers[HEADER_KEY_ENDS], p, size)
            p = _varint(p + size, end, &size)
            _put_bit(&buffers[HEADER_VALUE_BITS], self.header_count, size >= 0)
            _put_data(&buffers[HEADER_VALUE_DATA], &buffers[HEADER_VALUE_ENDS], p, size)
            if size > 0:
                p += size
            self.header_count += 1
            count -= 1
        return 0

    def take(self):
        """Every buffer, by its name, and begin anew."""
        taken = {
            name: (<char*>self._buffers[number].data)[: self._buffers[number].size] if self._buffers[number].size else b""
            for number, name in enumerate(BUFFERS)
        }
        self._clear()
        return taken


cdef int _room(Buffer* buffer, Py_ssize_t more) except -1:
    cdef uint8_t* larger
    cdef Py_ssize_t room
    if buffer.size + more <= buffer.room:
        return 0
    room = max(buffer.size + more, 2 * buffer.room, 4096)
    larger = <uint8_t*>realloc(buffer.data, room)
    if larger == NULL:
        raise MemoryError
    buffer.data, buffer.room = larger, room
    return 0


cdef inline int _put64(Buffer* buffer, int64_t value) except -1:
    _room(buffer, 8)
    (<int64_t*>(buffer.data + buffer.size))[0] = value
    buffer.size += 8
    return 0


cdef inline int _put32(Buffer* buffer, int64_t value) except -1:
    _room(buffer, 4)
    (<int32_t*>(buffer.data + buffer.size))[0] = <int32_t>value
    buffer.size += 4
    return 0


cdef inline int _put_bit(Buffer* buffer, Py_ssize_t number, bint value) except -1:
    if number & 7 == 0:
        _room(buffer, 1)
        buffer.data[buffer.size] = 0
        buffer.size += 1
    buffer.data[number >> 3] |= <uint8_t>value << (number & 7)
    return 0


cdef inline int _put_data(Buffer* buffer, Buffer* ends, const uint8_t* data, int64_t size) except -1:
    if size > 0:
        if buffer.size + size > 0x7FFFFFFF:
            raise OverflowError("more than 2 GiB of data in one column")
        _room(buffer, size)
        memcpy(buffer.data + buffer.size, data, size)
        buffer.size += size
    _put32(ends, buffer.size)
    return 0


def gather_batches(
    RecordBuffers buffers, Columns columns, window, Py_ssize_t start, Py_ssize_t end, int64_t file_position,
    Py_ssize_t most_rows, inflate, is_left_out,
):
    """Add every batch from ``start``, which lies at ``file_position``; where the first one begins that was left."""
    cdef const uint8_t[::1] view = window
    cdef const uint8_t* bytes_ = NULL
    cdef const uint8_t[::1] body
    cdef Head head
    cdef Py_ssize_t position = start, size
    cdef int codec
    if not 0 <= start <= end <= view.shape[0]:
        raise ValueError("the region lies outside the window")
    columns.problem = NO_PROBLEM
    if start == end:
        return start
    bytes_ = &view[0]
    slices = memoryview(window)
    while position + HEADER_SIZE <= end and buffers.count < most_rows and buffers._size() < buffers._most_bytes:
        _read_head(bytes_ + position, &head)
        codec = head.attributes & 7
        size = head.batch_length + 12
        if head.magic != 2 or size < HEADER_SIZE or size > end - position or codec >= CODECS:
            break
        if not 0 <= head.record_count <= columns.capacity or head.last_offset_delta < 0:
            break
        if (
            _add(head.base_offset, head.last_offset_delta) >= buffers._first_offset
            and head.base_offset < buffers._end_offset
            and head.max_timestamp >= buffers._first_time
            and head.record_count
            and not (
                head.attributes & 48 == 16 and is_left_out is not None
                and is_left_out(head.producer_id, head.base_offset)
            )
        ):
            if crc32c(slices[position + 21 : position + size]) != head.crc:
                break
            if codec:
                inflated = inflate(codec, slices[position + HEADER_SIZE : position + size])
                if inflated is None or len(inflated) == 0:
                    break
                body = inflated
                columns._decode(&head, &body[0], 0, body.shape[0], head.record_count, True)
                if columns.problem:
                    break
                buffers._add(columns, &head, file_position + position - start, &body[0])
            else:
                columns._decode(&head, bytes_, position + HEADER_SIZE, position + size, head.record_count, True)
                if columns.problem:
                    break
                buffers._add(columns, &head, file_position + position - start, bytes_)
        position += size
    return position
