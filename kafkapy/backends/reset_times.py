"""The moments that ``--to-datetime`` and ``--by-duration`` name, as Kafka's tool reads them with Java's classes.

    --to-datetime   yyyy-MM-ddTHH:mm:ss.SSS, then Z, +hh:mm or +hh; UTC where nothing after the T has a +, - or Z
    --by-duration   PnDTnHnMn.nS, a java.time.Duration

Both readers are Java's, so some things surprise: the fraction is a number of milliseconds (``.5`` is 5 ms), it must be
there, blanks may stand before a field, and what follows a whole zone is ignored (``+0230`` is ``+02``). Days before
15 October 1582 are those of the Julian calendar.
"""

from __future__ import annotations

import re

from kafkapy.errors import KafkaError

MAX_LONG = 2**63 - 1
MIN_LONG = -(2**63)

_DATETIME = re.compile(
    r"[ \t]*([0-9]{1,9})-[ \t]*([0-9]+)-[ \t]*([0-9]+)T[ \t]*([0-9]+):[ \t]*([0-9]+):[ \t]*([0-9]+)"
    r"\.[ \t]*([0-9]+)[ \t]*(.*)",
    re.DOTALL,
)
_ZONE = re.compile(r"Z|([+-])([0-9]{2})(?::([0-5][0-9]))?")
_LEAST_ZONE, _GREATEST_ZONE = -13 * 60, 14 * 60
_LIMITS = (23, 59, 59, 999)
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_GREGORIAN_FROM = (1582, 10, 15)
_JULIAN_UNTIL = (1582, 10, 4)
_EPOCH_DAY = 719_468

_DURATION = re.compile(
    r"([-+]?)P(?:([-+]?[0-9]+)D)?(T(?:([-+]?[0-9]+)H)?(?:([-+]?[0-9]+)M)?(?:([-+]?[0-9]+)(?:[.,]([0-9]{0,9}))?S)?)?",
    re.IGNORECASE | re.ASCII,
)
_LAST_INSTANT = 31_556_889_864_403_199
_UNITS = (("days", 86_400), ("hours", 3_600), ("minutes", 60), ("seconds", 1))


def parse_datetime(text: str) -> int:
    """Milliseconds since the epoch; a KafkaError in Java's words for what is no such time."""
    parts = text.split("T")
    while parts and not parts[-1]:
        parts.pop()  # as Java's split does
    if len(parts) < 2:
        raise _no_date("Error parsing timestamp. It does not contain a 'T' according to ISO8601 format")
    if not any(sign in parts[1] for sign in "+-Z"):
        text += "Z"
    match = _DATETIME.match(text)
    if match is not None:
        year, month, day, *time = (int(number) for number in match.groups()[:7])
        zone = _zone_minutes(match[8])
        if zone is not None and _is_date(year, month, day) and all(map(int.__le__, time, _LIMITS)):
            hours, minutes, seconds, milliseconds = time
            whole = (_days((year, month, day)) * 24 + hours) * 60 + minutes - zone
            if (whole * 60 + seconds) * 1000 + milliseconds <= MAX_LONG:
                return (whole * 60 + seconds) * 1000 + milliseconds
    raise _no_date(f'Unparseable date: "{text}"')


def _zone_minutes(text: str) -> int | None:
    """East of UTC, in minutes. Minutes that would lead past the farthest zone are not read at all."""
    match = _ZONE.match(text)
    if match is None or match[0] == "Z":
        return None if match is None else 0
    sign, hours = -1 if match[1] == "-" else 1, int(match[2]) * 60
    for zone in (sign * (hours + int(match[3] or 0)), sign * hours):
        if _LEAST_ZONE <= zone <= _GREATEST_ZONE:
            return zone
    return None


def _is_date(year: int, month: int, day: int) -> bool:
    if year < 1 or not 1 <= month <= 12 or _JULIAN_UNTIL < (year, month, day) < _GREGORIAN_FROM:
        return False
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0 or year < _GREGORIAN_FROM[0])
    return 1 <= day <= _DAYS[month - 1] + (month == 2 and is_leap)


def _days(date: tuple[int, int, int]) -> int:
    """Days since the epoch, of any year. Years begin in March here, so that a leap day comes last."""
    year, month, day = date
    year, month = (year, month - 3) if month > 2 else (year - 1, month + 9)
    left_out = year // 100 - year // 400 if date >= _GREGORIAN_FROM else 2
    return 365 * year + year // 4 - left_out + (153 * month + 2) // 5 + day - 1 - _EPOCH_DAY


def parse_duration(text: str) -> int:
    """Nanoseconds; a KafkaError in Java's words for what is no ``java.time.Duration``."""
    match = _DURATION.fullmatch(text)
    if match is None or match[3] == "T" or not any(match.group(2, 4, 5, 6)):
        raise _no_duration("")
    numbers = zip(_UNITS, match.group(2, 4, 5, 6), strict=True)
    parts = [_checked(int(number or 0) * unit, name) for (name, unit), number in numbers]
    seconds = 0
    for part in reversed(parts):
        seconds = _checked(seconds + part, "overflow")
    fraction = int((match[7] or "").ljust(9, "0"))
    whole = seconds * 10**9 + (-fraction if (match[6] or "").startswith("-") else fraction)
    nanoseconds = -whole if match[1] == "-" else whole
    for total in (whole, nanoseconds):
        _checked(total // 10**9, "overflow")
    return nanoseconds


def _checked(seconds: int, name: str) -> int:
    if not MIN_LONG <= seconds <= MAX_LONG:
        raise _no_duration(f": {name}")
    return seconds


def before(now: int, nanoseconds: int) -> int:
    """The time, in ms, that lies so long before ``now``."""
    moment = now * 10**6 - nanoseconds
    if abs(moment // 10**9) > _LAST_INSTANT:
        raise KafkaError("DateTimeException", "Instant exceeds minimum or maximum instant")
    if not MIN_LONG <= moment // 10**6 <= MAX_LONG:
        raise KafkaError("ArithmeticException", "long overflow")
    return moment // 10**6


def _no_date(message: str) -> KafkaError:
    return KafkaError("ParseException", f"java.text.ParseException: {message}")


def _no_duration(why: str) -> KafkaError:
    return KafkaError("DateTimeParseException", f"Text cannot be parsed to a Duration{why}")
