# Numbers out of bytes. A reader that returns a pointer returns NULL where the number runs past ``end``.

cdef inline uint32_t _u32(const uint8_t* p) noexcept nogil:
    return (<uint32_t>p[0] << 24) | (<uint32_t>p[1] << 16) | (<uint32_t>p[2] << 8) | p[3]


cdef inline int64_t _i64(const uint8_t* p) noexcept nogil:
    return <int64_t>((<uint64_t>_u32(p) << 32) | _u32(p + 4))


cdef inline int64_t _i16(const uint8_t* p) noexcept nogil:
    return <signed short>((<unsigned short>p[0] << 8) | p[1])


cdef void _read_head(const uint8_t* p, Head* head) noexcept nogil:
    head.base_offset = _i64(p)
    head.batch_length = <int32_t>_u32(p + 8)
    head.partition_leader_epoch = <int32_t>_u32(p + 12)
    head.magic = <signed char>p[16]
    head.crc = _u32(p + 17)
    head.attributes = _i16(p + 21)
    head.last_offset_delta = <int32_t>_u32(p + 23)
    head.base_timestamp = _i64(p + 27)
    head.max_timestamp = _i64(p + 35)
    head.producer_id = _i64(p + 43)
    head.producer_epoch = _i16(p + 51)
    head.base_sequence = <int32_t>_u32(p + 53)
    head.record_count = <int32_t>_u32(p + 57)


cdef int _head_of(object header, Head* head) except -1:
    head.base_offset = header.base_offset
    head.batch_length = header.batch_length
    head.partition_leader_epoch = header.partition_leader_epoch
    head.magic = header.magic
    head.crc = header.crc
    head.attributes = header.attributes
    head.last_offset_delta = header.last_offset_delta
    head.base_timestamp = header.base_timestamp
    head.max_timestamp = header.max_timestamp
    head.producer_id = header.producer_id
    head.producer_epoch = header.producer_epoch
    head.base_sequence = header.base_sequence
    head.record_count = header.record_count
    return 0


cdef inline int64_t _add(int64_t a, int64_t b) noexcept nogil:
    return <int64_t>(<uint64_t>a + <uint64_t>b)


cdef inline int64_t _increment_sequence(int64_t sequence, int64_t increment) noexcept nogil:
    cdef int32_t limit = <int32_t>(<uint32_t>0x7FFFFFFF - <uint32_t>increment)
    if <int32_t>sequence > limit:
        return <int32_t>(<uint32_t>increment - (<uint32_t>0x7FFFFFFF - <uint32_t>sequence) - 1)
    return <int32_t>(<uint32_t>sequence + <uint32_t>increment)


cdef const uint8_t* _long_varint(const uint8_t* p, const uint8_t* end, int longest, int64_t* value, bint* too_long) noexcept nogil:
    """Any varint or varlong; NULL where it runs past ``end`` or, with ``too_long`` set, past its longest form."""
    cdef uint64_t raw = 0
    cdef int shift = 0
    cdef uint8_t byte
    while p < end:
        byte = p[0]
        p += 1
        raw |= <uint64_t>(byte & 0x7F) << shift
        if byte < 0x80:
            if longest == 5:
                raw &= 0xFFFFFFFFu
            value[0] = <int64_t>(raw >> 1) ^ -<int64_t>(raw & 1)
            return p
        shift += 7
        if shift == 7 * longest:
            too_long[0] = True
            return NULL
    return NULL


cdef inline const uint8_t* _number(const uint8_t* p, const uint8_t* end, int longest, int64_t* value, bint* too_long) noexcept nogil:
    cdef uint32_t raw
    if end - p >= 2:
        if p[0] < 0x80:
            raw = p[0]
            value[0] = <int64_t>(raw >> 1) ^ -<int64_t>(raw & 1)
            return p + 1
        if p[1] < 0x80:
            raw = (p[0] & 0x7F) | (<uint32_t>p[1] << 7)
            value[0] = <int64_t>(raw >> 1) ^ -<int64_t>(raw & 1)
            return p + 2
    return _long_varint(p, end, longest, value, too_long)


cdef inline const uint8_t* _varint(const uint8_t* p, const uint8_t* end, int64_t* value) noexcept nogil:
    cdef bint too_long = False
    return _number(p, end, 5, value, &too_long)


cdef inline const uint8_t* _varlong(const uint8_t* p, const uint8_t* end, int64_t* value) noexcept nogil:
    cdef bint too_long = False
    return _number(p, end, 10, value, &too_long)
