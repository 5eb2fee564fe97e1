# Records out of the body of a batch.

cdef class Columns:
    """Decoded records. They are kept a row at a time, which the writer reads; a column is made when one is asked for."""

    cdef readonly Py_ssize_t capacity
    cdef readonly Py_ssize_t count
    cdef public int problem
    cdef public int64_t previous_offset
    cdef Py_ssize_t _end  # of the region that the rows were decoded from
    cdef Row* _rows
    cdef dict _columns

    def __cinit__(self, Py_ssize_t capacity=CAPACITY):
        self._rows = <Row*>malloc(capacity * sizeof(Row))
        if self._rows == NULL:
            raise MemoryError
        self.capacity = capacity
        self.previous_offset = -1
        self._columns = {}

    def __dealloc__(self):
        free(self._rows)

    @property
    def offset(self):
        return self._column(0)

    @property
    def timestamp(self):
        return self._column(1)

    @property
    def sequence(self):
        return self._column(2)

    @property
    def key_start(self):
        return self._column(3)

    @property
    def key_size(self):
        return self._column(4)

    @property
    def value_start(self):
        return self._column(5)

    @property
    def value_size(self):
        return self._column(6)

    @property
    def headers_start(self):
        return self._column(7)

    @property
    def header_count(self):
        return self._column(8)

    cdef array.array _column(self, int field):
        cdef array.array column
        cdef Py_ssize_t row
        if field in self._columns:
            return self._columns[field]
        column = array.clone(array.array("q"), self.count, zero=False)
        for row in range(self.count):
            column.data.as_longlongs[row] = (<int64_t*>&self._rows[row])[field]
        self._columns[field] = column
        return column

    def decode(self, header, const uint8_t[::1] body, Py_ssize_t start, Py_ssize_t end, Py_ssize_t records, bint complete):
        """Decode up to ``capacity`` of the ``records`` left, from ``start``; the position after the last one."""
        cdef Head head
        _head_of(header, &head)
        if not 0 <= start <= end <= body.shape[0]:
            raise ValueError("the region lies outside the body")
        self._columns = {}
        if end == 0:
            self.count, self.problem = 0, NEED_MORE if records > 0 else NO_PROBLEM
            return start
        return self._decode(&head, &body[0], start, end, records, complete)

    cdef Py_ssize_t _decode(
        self, Head* head, const uint8_t* body, Py_ssize_t start, Py_ssize_t end, Py_ssize_t records, bint complete
    ) noexcept nogil:
        cdef Py_ssize_t wanted = min(records, self.capacity)
        cdef const uint8_t* p = body + start
        cdef const uint8_t* limit = body + end
        cdef const uint8_t* first
        cdef int64_t length = 0
        cdef bint too_long = False
        self.count = 0
        self.problem = NO_PROBLEM
        self._end = end
        while self.count < wanted:
            first = _number(p, limit, 5, &length, &too_long)
            if first == NULL:
                self.problem = INVALID_RECORD if too_long else NEED_MORE
                break
            if length < 0:
                self.problem = INVALID_RECORD
                break
            if length > limit - first:
                self.problem = NEED_MORE
                break
            if not self._record(head, body, first, first + length):
                self.problem = INVALID_RECORD
                break
            p = first + length
            self.count += 1
            if complete and self.count == records and p != limit:
                self.count -= 1
                self.problem = REMAINING
                break
        return p - body

    cdef inline bint _record(self, Head* head, const uint8_t* body, const uint8_t* p, const uint8_t* end) noexcept nogil:
        """Put the record that should fill ``p`` to ``end`` into row ``count``; False where it does not."""
        cdef Row* row = self._rows + self.count
        cdef int64_t timestamp_delta = 0, offset_delta = 0, size = 0
        if p >= end:
            return False
        p = _varlong(p + 1, end, &timestamp_delta)
        if p == NULL:
            return False
        p = _varint(p, end, &offset_delta)
        if p == NULL:
            return False
        p = _varint(p, end, &size)
        if p == NULL or size > end - p:
            return False
        row.key_start = p - body
        row.key_size = max(size, -1)
        if size > 0:
            p += size
        p = _varint(p, end, &size)
        if p == NULL or size > end - p:
            return False
        row.value_start = p - body
        row.value_size = max(size, -1)
        if size > 0:
            p += size
        p = _varint(p, end, &size)
        if p == NULL:
            return False
        row.headers_start = p - body
        row.header_count = size
        if size != 0:
            p = _skip_headers(p, end, size)
        if p != end:
            return False
        row.offset = _add(head.base_offset, offset_delta)
        if head.attributes & 8:
            row.timestamp = head.max_timestamp
        else:
            row.timestamp = _add(head.base_timestamp, timestamp_delta)
        row.sequence = (
            _increment_sequence(head.base_sequence, offset_delta) if head.base_sequence >= 0 else -1
        )
        return True

    def gaps(self, found):
        """Call ``found(previous, offset)`` wherever an offset is not the one before plus 1, across calls."""
        cdef Py_ssize_t row
        cdef int64_t offset, previous = self.previous_offset
        for row in range(self.count):
            offset = self._rows[row].offset
            if offset != _add(previous, 1):
                found(previous, offset)
            previous = offset
        self.previous_offset = previous


cdef const uint8_t* _skip_headers(const uint8_t* p, const uint8_t* end, int64_t count) noexcept nogil:
    """The place after ``count`` headers, NULL where they cannot be."""
    cdef int64_t size = 0
    if count < 0 or count > end - p:
        return NULL
    while count > 0:
        p = _varint(p, end, &size)
        if p == NULL or size < 0 or size > end - p:
            return NULL
        p = _varint(p + size, end, &size)
        if p == NULL or size > end - p:
            return NULL
        if size > 0:
            p += size
        count -= 1
    return p


def header_items(Columns columns, body, Py_ssize_t row):
    """The headers of a record, as bytes."""
    cdef const uint8_t[::1] view = body
    cdef const uint8_t* p = NULL
    cdef const uint8_t* end = NULL
    cdef int64_t count, size = 0
    if not 0 <= row < columns.count:
        raise IndexError("no such row")
    items = []
    count = columns._rows[row].header_count
    if count == 0:
        return items
    p = &view[0] + columns._rows[row].headers_start
    end = &view[0] + view.shape[0]
    while count > 0:
        p = _varint(p, end, &size)
        if p == NULL or size < 0 or size > end - p:
            raise ValueError("the columns do not belong to this body")
        key = p[:size]
        p = _varint(p + size, end, &size)
        if p == NULL or size > end - p:
            raise ValueError("the columns do not belong to this body")
        if size < 0:
            items.append((key, None))
        else:
            items.append((key, p[:size]))
            p += size
        count -= 1
    return items
