# Values as text. Each function writes at ``w``, where its caller has made room, and returns the place after it.

cdef inline uint8_t* _put(uint8_t* w, const char* words, Py_ssize_t size) noexcept nogil:
    memcpy(w, words, size)
    return w + size


cdef inline int _digits(uint64_t value) noexcept nogil:
    cdef int count = 1
    while value >= 10000:
        value //= 10000
        count += 4
    return count + (value >= 10) + (value >= 100) + (value >= 1000)


cdef inline uint8_t* _put_number(uint8_t* w, int64_t value) noexcept nogil:
    """A number, each digit stored once: a copy out of a buffer would have to wait for the stores into it."""
    cdef uint64_t rest = <uint64_t>value
    cdef uint32_t low
    cdef uint8_t* after
    cdef uint8_t* at
    if value < 0:
        w[0] = c"-"
        w += 1
        rest = 0 - rest
    if rest < 10:
        w[0] = <uint8_t>(48 + rest)
        return w + 1
    after = at = w + _digits(rest)
    while rest > 0xFFFFFFFFu:
        at -= 2
        memcpy(at, DIGITS + 2 * (rest % 100), 2)
        rest //= 100
    low = <uint32_t>rest
    while low >= 100:
        at -= 2
        memcpy(at, DIGITS + 2 * (low % 100), 2)
        low //= 100
    if low >= 10:
        memcpy(at - 2, DIGITS + 2 * low, 2)
    else:
        (at - 1)[0] = <uint8_t>(48 + low)
    return after


cdef inline uint8_t* _put_bool(uint8_t* w, bint value) noexcept nogil:
    return _put(w, b"true", 4) if value else _put(w, b"false", 5)


cdef inline bint _is_ascii(const uint8_t* p, Py_ssize_t size) noexcept nogil:
    cdef uint8_t all_bits = 0
    cdef Py_ssize_t i
    for i in range(size):
        all_bits |= p[i]
    return all_bits < 0x80


cdef inline bint _copy_is_ascii(uint8_t* w, const uint8_t* p, Py_ssize_t size) noexcept nogil:
    """Copy, and say whether all of it was ASCII."""
    cdef uint8_t all_bits = 0
    cdef Py_ssize_t i
    for i in range(size):
        w[i] = p[i]
        all_bits |= p[i]
    return all_bits < 0x80


cdef int _sequence(const uint8_t* p, const uint8_t* end, int* malformed) noexcept nogil:
    """How many bytes the UTF-8 sequence at ``p`` has; 0 where it is malformed, with how many bytes one U+FFFD replaces.

    The rule is that of Java's decoder, which differs from Unicode's only for an encoded surrogate: one U+FFFD for all
    of it. A sequence that the end cuts short is one U+FFFD for all that is left.
    """
    cdef Py_ssize_t left = end - p
    cdef uint8_t lead = p[0]
    malformed[0] = 1
    if lead < 0x80:
        return 1
    if lead < 0xC2 or lead > 0xF4:
        return 0
    if left < 2:
        malformed[0] = <int>left
        return 0
    if (p[1] & 0xC0) != 0x80:
        return 0
    if lead < 0xE0:
        return 2
    if (lead == 0xE0 and p[1] < 0xA0) or (lead == 0xF0 and p[1] < 0x90) or (lead == 0xF4 and p[1] > 0x8F):
        return 0
    if left < 3:
        malformed[0] = <int>left
        return 0
    if (p[2] & 0xC0) != 0x80:
        malformed[0] = 2
        return 0
    if lead < 0xF0:
        if lead == 0xED and p[1] > 0x9F:
            malformed[0] = 3
            return 0
        return 3
    if left < 4:
        malformed[0] = <int>left
        return 0
    if (p[3] & 0xC0) != 0x80:
        malformed[0] = 3
        return 0
    return 4


cdef uint8_t* _put_java_text(uint8_t* w, const uint8_t* p, Py_ssize_t size) noexcept nogil:
    """What Java makes of bytes: up to three bytes for each."""
    cdef const uint8_t* end = p + size
    cdef int length, malformed = 0
    if _copy_is_ascii(w, p, size):
        return w + size
    while p < end:
        length = _sequence(p, end, &malformed)
        if length:
            memcpy(w, p, length)
            w += length
            p += length
        else:
            w = _put(w, b"\xef\xbf\xbd", 3)
            p += malformed
    return w


cdef Py_ssize_t _complete_length(const uint8_t* p, Py_ssize_t size) noexcept nogil:
    """How many of ``size`` bytes, at least 4, can be decoded when more follow: a sequence begun at the end is left out."""
    cdef Py_ssize_t back
    cdef uint8_t byte
    for back in range(1, 4):
        byte = p[size - back]
        if byte < 0x80:
            return size
        if byte >= 0xC0:
            return size if back >= (4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2) else size - back
    return size


cdef bint _is_utf8(const uint8_t* p, Py_ssize_t size) noexcept nogil:
    cdef const uint8_t* end = p + size
    cdef int length, malformed = 0
    if _is_ascii(p, size):
        return True
    while p < end:
        length = _sequence(p, end, &malformed)
        if length == 0:
            return False
        p += length
    return True


cdef uint8_t* _put_batch_line(uint8_t* w, Head* head, int64_t position, bint valid) noexcept nogil:
    cdef int codec = head.attributes & 7
    w = _put(w, b"baseOffset: ", 12)
    w = _put_number(w, head.base_offset)
    w = _put(w, b" lastOffset: ", 13)
    w = _put_number(w, _add(head.base_offset, head.last_offset_delta))
    w = _put(w, b" count: ", 8)
    w = _put_number(w, head.record_count)
    w = _put(w, b" baseSequence: ", 15)
    w = _put_number(w, head.base_sequence)
    w = _put(w, b" lastSequence: ", 15)
    w = _put_number(w, -1 if head.base_sequence == -1 else _increment_sequence(head.base_sequence, head.last_offset_delta))
    w = _put(w, b" producerId: ", 13)
    w = _put_number(w, head.producer_id)
    w = _put(w, b" producerEpoch: ", 16)
    w = _put_number(w, head.producer_epoch)
    w = _put(w, b" partitionLeaderEpoch: ", 23)
    w = _put_number(w, head.partition_leader_epoch)
    w = _put(w, b" isTransactional: ", 18)
    w = _put_bool(w, head.attributes & 16)
    w = _put(w, b" isControl: ", 12)
    w = _put_bool(w, head.attributes & 32)
    if head.attributes & 64:
        w = _put(w, b" deleteHorizonMs: OptionalLong[", 31)
        w = _put_number(w, head.base_timestamp)
        w = _put(w, b"] position: ", 12)
    else:
        w = _put(w, b" deleteHorizonMs: OptionalLong.empty position: ", 47)
    w = _put_number(w, position)
    w = _put(w, b" LogAppendTime: ", 16) if head.attributes & 8 else _put(w, b" CreateTime: ", 13)
    w = _put_number(w, head.max_timestamp)
    w = _put(w, b" size: ", 7)
    w = _put_number(w, head.batch_length + 12)
    w = _put(w, b" magic: ", 8)
    w = _put_number(w, head.magic)
    w = _put(w, b" compresscodec: ", 16)
    w = _put(w, CODEC_NAMES[codec], CODEC_SIZES[codec])
    w = _put(w, b" crc: ", 6)
    w = _put_number(w, head.crc)
    w = _put(w, b" isvalid: ", 10)
    w = _put_bool(w, valid)
    w[0] = c"\n"
    return w + 1
