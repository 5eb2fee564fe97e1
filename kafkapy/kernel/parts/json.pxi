# Values as JSON, in the same manner as text.pxi.

cdef inline bint _needs_no_escape(const uint8_t* p, Py_ssize_t size) noexcept nogil:
    cdef uint8_t found = 0
    cdef Py_ssize_t i
    for i in range(size):
        found |= (p[i] < 0x20) | (p[i] == c'"') | (p[i] == c"\\")
    return found == 0


cdef Py_ssize_t _json_room(const uint8_t* p, int64_t size) noexcept nogil:
    """At least as many bytes as ``size`` bytes need in JSON, closely so where they are many."""
    cdef Py_ssize_t i, escaped = 0
    if size <= SMALL:
        return 6 * max(size, 0) + 64
    for i in range(size):
        escaped += (p[i] < 0x20) | (p[i] == c'"') | (p[i] == c"\\")
    return size + 5 * escaped + size // 3 + 64


cdef uint8_t* _put_json_text(uint8_t* w, const uint8_t* p, Py_ssize_t size) noexcept nogil:
    """UTF-8 as a JSON string, as Python's json writes it: up to six bytes for each, and two quotes."""
    cdef Py_ssize_t i
    cdef uint8_t c
    w[0] = c'"'
    w += 1
    if _needs_no_escape(p, size):
        memcpy(w, p, size)
        w += size
    else:
        for i in range(size):
            c = p[i]
            if c == c'"' or c == c"\\":
                w[0] = c"\\"
                w[1] = c
                w += 2
            elif c >= 0x20:
                w[0] = c
                w += 1
            elif c == 10:
                w = _put(w, b"\\n", 2)
            elif c == 13:
                w = _put(w, b"\\r", 2)
            elif c == 9:
                w = _put(w, b"\\t", 2)
            elif c == 12:
                w = _put(w, b"\\f", 2)
            elif c == 8:
                w = _put(w, b"\\b", 2)
            else:
                w = _put(w, b"\\u00", 4)
                w[0] = HEX[c >> 4]
                w[1] = HEX[c & 15]
                w += 2
    w[0] = c'"'
    return w + 1


cdef uint8_t* _put_base64(uint8_t* w, const uint8_t* p, Py_ssize_t size) noexcept nogil:
    cdef uint32_t word
    while size >= 3:
        word = (<uint32_t>p[0] << 16) | (<uint32_t>p[1] << 8) | p[2]
        w[0], w[1] = BASE64[word >> 18], BASE64[(word >> 12) & 63]
        w[2], w[3] = BASE64[(word >> 6) & 63], BASE64[word & 63]
        w += 4
        p += 3
        size -= 3
    if size:
        word = <uint32_t>p[0] << 16
        if size == 2:
            word |= <uint32_t>p[1] << 8
        w[0], w[1] = BASE64[word >> 18], BASE64[(word >> 12) & 63]
        w[2] = BASE64[(word >> 6) & 63] if size == 2 else c"="
        w[3] = c"="
        w += 4
    return w


cdef uint8_t* _put_json_bytes(
    uint8_t* w, const char* name, Py_ssize_t name_size, const uint8_t* p, int64_t size
) noexcept nogil:
    """``"name":"text"``, or base64 with a ``name_encoding`` beside it."""
    w[0] = c'"'
    w = _put(w + 1, name, name_size)
    w = _put(w, b'":', 2)
    if size < 0:
        return _put(w, b"null", 4)
    if _is_utf8(p, size):
        return _put_json_text(w, p, size)
    w[0] = c'"'
    w = _put_base64(w + 1, p, size)
    w = _put(w, b'","', 3)
    w = _put(w, name, name_size)
    return _put(w, b'_encoding":"base64"', 19)
