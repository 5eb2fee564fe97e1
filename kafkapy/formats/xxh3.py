"""XXH3 of 64 bits with its default secret and seed 0: the hash that Kafka keeps of the topics a group reads.

Four ways by length, as xxHash defines them: up to 16 bytes, up to 128, up to 240, and longer, where stripes of 64 bytes
run through eight lanes that are scrambled after every 1024 bytes. All words are little-endian; the result is a signed
64-bit number, as Java has it.
"""

from __future__ import annotations

from struct import unpack, unpack_from

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
PRIME32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
PRIME64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
MASK32 = 0xFFFFFFFF
MASK = 0xFFFFFFFFFFFFFFFF

STRIPE = 64
STRIPES_OF_A_BLOCK = 16
SCRAMBLE_AT = len(SECRET) - STRIPE
LAST_STRIPE_AT = SCRAMBLE_AT - 7
MERGE_AT = 11


def xxh3_64(data: bytes) -> int:
    """The hash of ``data``, signed."""
    size = len(data)
    if size <= 16:
        value = _up_to_16(data)
    elif size <= 128:
        value = _up_to_128(data)
    else:
        value = _up_to_240(data) if size <= 240 else _longer(data)
    return value - (1 << 64) if value >> 63 else value


def _up_to_16(data: bytes) -> int:
    size = len(data)
    if size > 8:
        low = _word(data, 0) ^ _secret(24) ^ _secret(32)
        high = _word(data, size - 8) ^ _secret(40) ^ _secret(48)
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return _avalanche(size + swapped + high + _fold(low, high) & MASK)
    if size >= 4:
        first, last = int.from_bytes(data[:4], "little"), int.from_bytes(data[-4:], "little")
        return _rrmxmx((last + (first << 32)) ^ _secret(8) ^ _secret(16), size)
    if size:
        combined = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        first, second = unpack_from("<2I", SECRET)
        return _avalanche_of_xxh64(combined ^ first ^ second)
    return _avalanche_of_xxh64(_secret(56) ^ _secret(64))


def _up_to_128(data: bytes) -> int:
    size = len(data)
    total = size * PRIME64[0]
    for pair in range((size - 1) // 32 + 1):
        total += _mix(data, 16 * pair, 32 * pair) + _mix(data, size - 16 * (pair + 1), 32 * pair + 16)
    return _avalanche(total & MASK)


def _up_to_240(data: bytes) -> int:
    size = len(data)
    total = size * PRIME64[0] + sum(_mix(data, 16 * number, 16 * number) for number in range(8))
    total = _avalanche(total & MASK)
    total += sum(_mix(data, 16 * number, 16 * (number - 8) + 3) for number in range(8, size // 16))
    return _avalanche(total + _mix(data, size - 16, 136 - 17) & MASK)


def _longer(data: bytes) -> int:
    size = len(data)
    lanes = [PRIME32[2], *PRIME64[:4], PRIME32[1], PRIME64[4], PRIME32[0]]
    for at in range(0, size - STRIPE, STRIPE):
        number = at // STRIPE % STRIPES_OF_A_BLOCK
        _accumulate(lanes, data, at, 8 * number)
        if number == STRIPES_OF_A_BLOCK - 1:
            _scramble(lanes)
    _accumulate(lanes, data, size - STRIPE, LAST_STRIPE_AT)
    total = size * PRIME64[0]
    for pair in range(4):
        key = MERGE_AT + 16 * pair
        total += _fold(lanes[2 * pair] ^ _secret(key), lanes[2 * pair + 1] ^ _secret(key + 8))
    return _avalanche(total & MASK)


def _accumulate(lanes: list[int], data: bytes, at: int, secret_at: int) -> None:
    words, keys = unpack_from("<8Q", data, at), unpack_from("<8Q", SECRET, secret_at)
    for lane in range(8):
        keyed = words[lane] ^ keys[lane]
        lanes[lane] = lanes[lane] + words[lane ^ 1] + (keyed & MASK32) * (keyed >> 32) & MASK


def _scramble(lanes: list[int]) -> None:
    for lane, key in enumerate(unpack("<8Q", SECRET[SCRAMBLE_AT:])):
        value = lanes[lane]
        lanes[lane] = (value ^ value >> 47 ^ key) * PRIME32[0] & MASK


def _mix(data: bytes, at: int, secret_at: int) -> int:
    return _fold(_word(data, at) ^ _secret(secret_at), _word(data, at + 8) ^ _secret(secret_at + 8))


def _fold(first: int, second: int) -> int:
    product = first * second
    return product & MASK ^ product >> 64


def _word(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def _secret(at: int) -> int:
    return _word(SECRET, at)


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & MASK


def _rrmxmx(value: int, size: int) -> int:
    value ^= _rotated(value, 49) ^ _rotated(value, 24)
    value = value * 0x9FB21C651E98DF25 & MASK
    value ^= (value >> 35) + size
    value = value * 0x9FB21C651E98DF25 & MASK
    return value ^ value >> 28


def _avalanche(value: int) -> int:
    value = (value ^ value >> 37) * 0x165667919E3779F9 & MASK
    return value ^ value >> 32


def _avalanche_of_xxh64(value: int) -> int:
    value = (value ^ value >> 33) * PRIME64[1] & MASK
    value = (value ^ value >> 29) * PRIME64[2] & MASK
    return value ^ value >> 32
