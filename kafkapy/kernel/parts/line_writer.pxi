# Lines of batches and records, collected in a buffer.

cdef class LineWriter:
    """Batches and records as lines, handed to ``write`` in large pieces."""

    cdef object _write
    cdef bytearray _buffer
    cdef uint8_t* _start
    cdef Py_ssize_t _capacity, _used
    cdef int _style
    cdef bint _deep, _data, _metadata, _log_append_time
    cdef bytes _json_file, _json_record, _json_end
    # what a record's text has between its offset and its sequence: neighbours often have the same
    cdef int64_t _last_timestamp, _last_key_size, _last_value_size
    cdef uint8_t[MIDDLE_SIZE] _middle
    cdef Py_ssize_t _middle_size

    def __init__(self, write, int style=STYLE_TEXT, bint deep=False, bint data=False, bint metadata=True, str file=""):
        import json

        self._write = write
        self._buffer = bytearray(BUFFER_SIZE)
        self._start = <uint8_t*><char*>self._buffer
        self._capacity = len(self._buffer)
        self._style, self._deep, self._data, self._metadata = style, deep, data, metadata
        self._json_file = f'"file":{json.dumps(file, ensure_ascii=False)}'.encode("utf-8", "replace")
        self._json_record = (b"" if style == STYLE_JSON_LINES else b",\n") + b'{"type":"record",' + self._json_file
        self._json_end = b""

    def raw(self, const uint8_t[::1] data):
        """Write bytes as they are."""
        cdef Py_ssize_t done = 0, size = data.shape[0], n
        while done < size:
            if self._used == self._capacity:
                self.flush()
            n = min(size - done, self._capacity - self._used)
            memcpy(self._start + self._used, &data[done], n)
            self._used += n
            done += n

    def flush(self):
        """Hand on all that was written."""
        cdef Py_ssize_t used = self._used
        if used:
            self._used = 0
            with memoryview(self._buffer) as whole, whole[:used] as view:
                self._write(view)

    def row(self, bytes data):
        """Write a JSON row with what the style puts between rows."""
        self.raw(data + b"\n" if self._style == STYLE_JSON_LINES else b",\n" + data)

    def batch(self, header, int64_t position, bint valid):
        """Write a batch; what its records share with it is kept for ``records``."""
        cdef Head head
        _head_of(header, &head)
        self._batch(&head, header, position, valid)

    cdef int _batch(self, Head* head, header, int64_t position, bint valid) except -1:
        cdef uint8_t* w
        self._log_append_time = head.attributes & 8
        self._middle_size = 0
        if self._style == STYLE_TEXT:
            w = self._room(LINE_ROOM)
            self._used = _put_batch_line(w, head, position, valid) - self._start
        elif self._deep:
            self._json_end = json_batch_of_record(header, position, valid)
            if self._style == STYLE_JSON_LINES:
                self._json_end += b"\n"
        else:
            self.row(b'{"type":"batch",' + self._json_file + json_batch(header, position, valid))
        return 0

    def records(self, Columns columns, const uint8_t[::1] body, const uint8_t[::1] selection=None):
        """Write the records of ``columns``, or those that ``selection`` has a non-zero byte for."""
        cdef Py_ssize_t row
        if columns.count and body.shape[0]:
            for row in range(columns.count):
                if selection is None or selection[row]:
                    self._record(columns._rows + row, &body[0], &body[0] + columns._end)

    def head(self, Columns columns, const uint8_t[::1] body, Py_ssize_t row):
        """Write the start of a record's text line, up to where its data would stand."""
        if not 0 <= row < columns.count:
            raise IndexError("no such row")
        self._head(columns._rows + row, &body[0], &body[0] + columns._end)

    cdef uint8_t* _room(self, Py_ssize_t size) except NULL:
        """Where the next ``size`` bytes, not more than the buffer holds, may be written."""
        if self._capacity - self._used < size:
            self.flush()
        return self._start + self._used

    cdef int _all_records(self, Columns columns, const uint8_t* body) except -1:
        cdef Py_ssize_t row
        for row in range(columns.count):
            self._record(columns._rows + row, body, body + columns._end)
        return 0

    cdef inline int _record(self, Row* row, const uint8_t* body, const uint8_t* end) except -1:
        if self._style == STYLE_TEXT:
            return self._text_record(row, body, end)
        return self._json_record_row(row, body, end)

    cdef int _head(self, Row* row, const uint8_t* body, const uint8_t* end) except -1:
        cdef uint8_t* w = self._put_head(self._room(LINE_ROOM), row)
        self._used = w - self._start
        if row.header_count:
            self._header_keys(body + row.headers_start, end, row.header_count)
        w = self._room(1)
        w[0] = c"]"
        self._used += 1
        return 0

    cdef inline uint8_t* _put_head(self, uint8_t* w, Row* row) noexcept nogil:
        w = _put(w, b"| offset: ", 10)
        w = _put_number(w, row.offset)
        if (
            self._middle_size == 0
            or row.timestamp != self._last_timestamp
            or row.value_size != self._last_value_size
            or row.key_size != self._last_key_size
        ):
            self._set_middle(row)
        memcpy(w, self._middle, MIDDLE_SIZE)
        w = _put_number(w + self._middle_size, row.sequence)
        return _put(w, b" headerKeys: [", 14)

    cdef void _set_middle(self, Row* row) noexcept nogil:
        cdef uint8_t* w = self._middle
        w = _put(w, b" LogAppendTime: ", 16) if self._log_append_time else _put(w, b" CreateTime: ", 13)
        w = _put_number(w, row.timestamp)
        w = _put(w, b" keySize: ", 10)
        w = _put_number(w, row.key_size)
        w = _put(w, b" valueSize: ", 12)
        w = _put_number(w, row.value_size)
        w = _put(w, b" sequence: ", 11)
        self._middle_size = w - self._middle
        self._last_timestamp, self._last_key_size, self._last_value_size = row.timestamp, row.key_size, row.value_size

    cdef int _header_keys(self, const uint8_t* p, const uint8_t* end, int64_t count) except -1:
        """Header keys that ``decode`` has checked."""
        cdef int64_t size = 0, number
        for number in range(count):
            p = _varint(p, end, &size)
            if number:
                self._room(1)[0] = c","
                self._used += 1
            self._java_text(p, size)
            p = _varint(p + size, end, &size)
            p += max(size, 0)
        return 0

    cdef int _java_text(self, const uint8_t* p, Py_ssize_t size) except -1:
        """Text of any size, in pieces that end between two sequences."""
        cdef Py_ssize_t piece, most = self._capacity // 3
        cdef uint8_t* w
        while size > most:
            piece = _complete_length(p, most)
            w = self._room(3 * piece)
            self._used = _put_java_text(w, p, piece) - self._start
            p += piece
            size -= piece
        w = self._room(3 * size)
        self._used = _put_java_text(w, p, size) - self._start
        return 0

    cdef int _text_record(self, Row* row, const uint8_t* body, const uint8_t* end) except -1:
        cdef int64_t key_size = row.key_size
        cdef int64_t value_size = row.value_size
        cdef const uint8_t* key = body + row.key_start
        cdef const uint8_t* value = body + row.value_start
        cdef uint8_t* w
        cdef bint begun = self._metadata
        if row.header_count or 3 * (key_size + value_size) + LINE_ROOM > self._capacity:
            return self._large_text_record(row, body, end)
        w = self._room(3 * (max(key_size, 0) + max(value_size, 0)) + LINE_ROOM)
        if self._metadata:
            w = self._put_head(w, row)
            w[0] = c"]"
            w += 1
        if self._data:
            if key_size >= 0:
                w = _put(w, b" key: ", 6) if begun else _put(w, b"| key: ", 7)
                w = _put_java_text(w, key, key_size)
                begun = True
            if value_size >= 0:
                w = _put(w, b" payload: ", 10) if begun else _put(w, b"| payload: ", 11)
                w = _put_java_text(w, value, value_size)
        w[0] = c"\n"
        self._used = w + 1 - self._start
        return 0

    cdef int _large_text_record(self, Row* row, const uint8_t* body, const uint8_t* end) except -1:
        cdef bint begun = self._metadata
        if self._metadata:
            self._head(row, body, end)
        if self._data:
            begun = self._part(b"key: ", begun, body + row.key_start, row.key_size)
            self._part(b"payload: ", begun, body + row.value_start, row.value_size)
        self.raw(b"\n")
        return 0

    cdef bint _part(self, bytes name, bint begun, const uint8_t* p, int64_t size) except? -1:
        if size < 0:
            return begun
        self.raw((b" " if begun else b"| ") + name)
        self._java_text(p, size)
        return True

    cdef int _json_record_row(self, Row* row, const uint8_t* body, const uint8_t* end) except -1:
        cdef int64_t key_size = row.key_size
        cdef int64_t value_size = row.value_size
        cdef int64_t count = row.header_count
        cdef const uint8_t* headers = body + row.headers_start
        cdef const uint8_t* after = headers
        cdef Py_ssize_t prefix = len(self._json_record), suffix = len(self._json_end), most
        cdef uint8_t* w
        if count:
            after = _skip_headers(headers, end, count)
        most = 6 * (after - headers) + 64 * count + prefix + suffix + LINE_ROOM
        most += _json_room(body + row.key_start, key_size)
        most += _json_room(body + row.value_start, value_size)
        if most > self._capacity:
            self._grow(most)
        w = self._room(most)
        w = _put(w, self._json_record, prefix)
        w = _put(w, b',"offset":', 10)
        w = _put_number(w, row.offset)
        w = _put(w, b',"timestamp":', 13)
        w = _put_number(w, row.timestamp)
        if self._log_append_time:
            w = _put(w, b',"timestamp_type":"LogAppendTime","key_size":', 45)
        else:
            w = _put(w, b',"timestamp_type":"CreateTime","key_size":', 42)
        w = _put_number(w, key_size)
        w = _put(w, b',"value_size":', 14)
        w = _put_number(w, value_size)
        w = _put(w, b',"sequence":', 12)
        w = _put_number(w, row.sequence)
        w = _put(w, b',"headers":[', 12) if self._data else _put(w, b',"header_keys":[', 16)
        w = self._put_json_headers(w, headers, end, count)
        w[0] = c"]"
        w += 1
        if self._data:
            w[0] = c","
            w = _put_json_bytes(w + 1, b"key", 3, body + row.key_start, key_size)
            w[0] = c","
            w = _put_json_bytes(w + 1, b"value", 5, body + row.value_start, value_size)
        w = _put(w, self._json_end, suffix)
        self._used = w - self._start
        return 0

    cdef uint8_t* _put_json_headers(self, uint8_t* w, const uint8_t* p, const uint8_t* end, int64_t count) noexcept:
        """Headers that ``decode`` has checked."""
        cdef int64_t size = 0, number
        for number in range(count):
            if number:
                w[0] = c","
                w += 1
            p = _varint(p, end, &size)
            if self._data:
                w = _put(w, b'{"key":', 7)
            w = self._put_json_key(w, p, size)
            p = _varint(p + size, end, &size)
            if self._data:
                w[0] = c","
                w = _put_json_bytes(w + 1, b"value", 5, p, size)
                w[0] = c"}"
                w += 1
            p += max(size, 0)
        return w

    cdef uint8_t* _put_json_key(self, uint8_t* w, const uint8_t* p, int64_t size) noexcept:
        cdef bytearray text
        cdef uint8_t* start
        if _is_utf8(p, size):
            return _put_json_text(w, p, size)
        text = bytearray(3 * size)
        start = <uint8_t*><char*>text
        return _put_json_text(w, start, _put_java_text(start, p, size) - start)

    cdef int _grow(self, Py_ssize_t size) except -1:
        """A JSON row is written in one piece; the record that needs the room is in memory already."""
        self.flush()
        self._buffer = bytearray(size)
        self._start = <uint8_t*><char*>self._buffer
        self._capacity = size
        return 0
