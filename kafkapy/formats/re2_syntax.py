"""Which regular expressions re2j takes, since the coordinator of a consumer group matches topics with it.

RE2 differs from Python's ``re``: no lookaround, no backreferences, no possessive or nested repetition, no count above
1,000, no ``\\Z``; but ``\\Q...\\E``, ``\\p{Greek}``, ``[[:alpha:]]``, ``\\x{10FFFF}`` and ``(?U)``. A ``{`` that
begins no count is itself. What is wrong is told in re2j's words.
"""

from __future__ import annotations

from kafkapy.errors import FormatError

_CHAR_RANGE = "invalid character class range"
_ESCAPE = "invalid escape sequence"
_NAMED_CAPTURE = "invalid named capture"
_PERL_OP = "invalid or unsupported Perl syntax"
_MAX_REPEAT = 1000
_MAX_RUNE = 0x10FFFF
_LONGEST_COUNT = 8

_OCTAL = frozenset("01234567")
_HEX = frozenset("0123456789abcdefABCDEF")
_DIGITS = frozenset("0123456789")
_WORD = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_C_ESCAPES = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_PERL_CLASSES = frozenset("dDsSwW")
_POSIX_NAMES = "alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit"
_UNICODE_NAMES = (  # those of re2j 1.8, which knows an old Unicode
    "Any C Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs "
    "Arabic Armenian Avestan Balinese Bamum Batak Bengali Bopomofo Brahmi Braille Buginese Buhid "
    "Canadian_Aboriginal Carian Cham Cherokee Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari "
    "Egyptian_Hieroglyphs Ethiopic Georgian Glagolitic Gothic Greek Gujarati Gurmukhi Han Hangul Hanunoo Hebrew "
    "Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada "
    "Katakana Kayah_Li Kharoshthi Khmer Lao Latin Lepcha Limbu Linear_B Lisu Lycian Lydian Malayalam Mandaic "
    "Meetei_Mayek Mongolian Myanmar New_Tai_Lue Nko Ogham Ol_Chiki Old_Italic Old_Persian Old_South_Arabian "
    "Old_Turkic Oriya Osmanya Phags_Pa Phoenician Rejang Runic Samaritan Saurashtra Shavian Sinhala Sundanese "
    "Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Tamil Telugu Thaana Thai Tibetan Tifinagh "
    "Ugaritic Unknown Vai Yi"
)
_POSIX_CLASSES = frozenset(_POSIX_NAMES.split())
_UNICODE_CLASSES = frozenset(_UNICODE_NAMES.split())


def check_syntax(pattern: str) -> None:
    """A FormatError with re2j's description where it would not compile ``pattern``."""
    _Syntax(pattern).check()


class _Syntax:
    """One pass over a pattern. Of what was parsed only this is kept: whether the last thing can be repeated."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self._open = 0
        self._names: set[str] = set()
        self._has_operand = False

    def check(self) -> None:
        was_repeat = False
        while self._at < len(self._text):
            was_repeat = self._item(self._text[self._at], was_repeat)
        if self._open:
            raise FormatError("missing closing )")

    def _item(self, char: str, after_repeat: bool) -> bool:
        """Go past what begins with ``char``; whether it was a repetition."""
        if char in "*+?" or (char == "{" and self._skip_count()):
            self._at += char != "{"
            self._repeat(after_repeat)
            return True
        if char == "(" and self._text.startswith("(?", self._at):
            self._perl_group()
        elif char == "[":
            self._class()
            self._has_operand = True
        elif char == "\\":
            self._escaped()
        else:
            self._at += 1
            self._plain(char)
        return char == "{"  # also where it stands for itself: re2j 1.8 refuses the operator behind it

    def _plain(self, char: str) -> None:
        if char == ")":
            if not self._open:
                raise FormatError("regexp/syntax: internal error")
            self._open -= 1
        self._open += char == "("
        self._has_operand = char not in "(|"

    def _repeat(self, after_repeat: bool) -> None:
        if self._text.startswith("?", self._at):
            self._at += 1
        if after_repeat:
            raise FormatError("invalid nested repetition operator")
        if not self._has_operand:
            raise FormatError("missing argument to repetition operator")

    def _skip_count(self) -> bool:
        """Go past ``{n}``, ``{n,}`` or ``{n,m}``; anything else is no count, and not gone past."""
        end = self._text.find("}", self._at)
        low, comma, high = self._text[self._at + 1 : end].partition(",")
        if end < 0 or not _is_number(low) or (high and not _is_number(high)):
            return False
        least = _count(low)
        most = _count(high) if high else (0 if comma else least)
        if max(least, most) > _MAX_REPEAT or (high and least > most):
            raise FormatError("invalid repeat count")
        self._at = end + 1
        return True

    def _perl_group(self) -> None:
        for opening in ("(?P<", "(?<"):
            if self._text.startswith(opening, self._at):
                self._named_group(self._at + len(opening))
                return
        self._at += 2
        negated = flagged = False
        while self._at < len(self._text):
            char = self._text[self._at]
            self._at += 1
            if char in "imsU":
                flagged = True
            elif char == "-" and not negated:
                negated, flagged = True, False
            elif char in ":)" and (flagged or not negated):
                if char == ":":
                    self._plain("(")
                return
            else:
                break
        raise FormatError(_PERL_OP)

    def _named_group(self, begin: int) -> None:
        end = self._text.find(">", begin)
        name = self._text[begin:end]
        if end < 0 or not name or not _WORD.union("_").issuperset(name):
            raise FormatError(_NAMED_CAPTURE)
        if name in self._names:
            raise FormatError("duplicate capture group name")
        self._names.add(name)
        self._at = end + 1
        self._plain("(")

    def _escaped(self) -> None:
        char = self._text[self._at + 1 : self._at + 2]
        if char == "Q":
            end = self._text.find("\\E", self._at + 2)
            stop = len(self._text) if end < 0 else end
            self._has_operand = self._has_operand or stop > self._at + 2
            self._at = stop + 2
            return
        if char == "C":
            raise FormatError(_ESCAPE)
        if char and char in "AbBz":
            self._at += 2
        elif not self._class_escape():
            self._escape()
        self._has_operand = True

    def _class_escape(self) -> bool:
        """Go past ``\\d`` and its like, or ``\\p{Greek}``."""
        char = self._text[self._at + 1 : self._at + 2]
        if self._text[self._at] != "\\" or not char or (char not in _PERL_CLASSES and char not in "pP"):
            return False
        self._at += 2
        if char in "pP":
            self._unicode_class()
        return True

    def _unicode_class(self) -> None:
        name = self._text[self._at : self._at + 1]
        self._at += 1
        if name == "{":
            end = self._text.find("}", self._at)
            if end < 0:
                raise FormatError(_CHAR_RANGE)
            name = self._text[self._at : end]
            self._at = end + 1
        if name.removeprefix("^") not in _UNICODE_CLASSES:
            raise FormatError(_CHAR_RANGE)

    def _class(self) -> None:
        self._at += 2 if self._text.startswith("[^", self._at) else 1
        is_first = True
        while is_first or not self._text.startswith("]", self._at):
            is_first = False
            if not self._posix_class() and not (self._at < len(self._text) and self._class_escape()):
                self._class_range()
        self._at += 1

    def _posix_class(self) -> bool:
        end = self._text.find(":]", self._at)
        if not self._text.startswith("[:", self._at) or end < 0:
            return False
        if self._text[self._at + 2 : end].removeprefix("^") not in _POSIX_CLASSES:
            raise FormatError(_CHAR_RANGE)
        self._at = end + 2
        return True

    def _class_range(self) -> None:
        low = self._class_char()
        if self._text.startswith("-", self._at) and not self._text.startswith("-]", self._at):
            self._at += 1
            if self._class_char() < low:
                raise FormatError(_CHAR_RANGE)

    def _class_char(self) -> int:
        if self._at >= len(self._text):
            raise FormatError("missing closing ]")
        if self._text[self._at] == "\\":
            return self._escape()
        self._at += 1
        return ord(self._text[self._at - 1])

    def _escape(self) -> int:
        """Go past an escape of one character; its code point."""
        char = self._text[self._at + 1 : self._at + 2]
        self._at += 2
        if not char:
            raise FormatError("trailing backslash at end of expression")
        if char not in _WORD:
            return ord(char)
        if char in _C_ESCAPES:
            return _C_ESCAPES[char]
        if char == "x":
            return self._hex()
        # a digit alone, other than 0, would be a backreference
        if char == "0" or (char in _OCTAL and self._text[self._at : self._at + 1] in _OCTAL):
            return self._octal(char)
        raise FormatError(_ESCAPE)

    def _octal(self, digits: str) -> int:
        while len(digits) < 3 and self._text[self._at : self._at + 1] in _OCTAL:
            digits += self._text[self._at]
            self._at += 1
        return int(digits, 8)

    def _hex(self) -> int:
        digits = self._text[self._at : self._at + 2]
        end = self._at + 2
        if digits.startswith("{"):
            end = self._text.find("}", self._at) + 1
            digits = self._text[self._at + 1 : end - 1]
        value = int(digits, 16) if digits and _HEX.issuperset(digits) else _MAX_RUNE + 1
        if value > _MAX_RUNE or end > len(self._text) or not end:
            raise FormatError(_ESCAPE)
        self._at = end
        return value


def _is_number(text: str) -> bool:
    return bool(text) and _DIGITS.issuperset(text) and (text == "0" or text[0] != "0")


def _count(text: str) -> int:
    return int(text) if len(text) <= _LONGEST_COUNT else _MAX_REPEAT + 1
