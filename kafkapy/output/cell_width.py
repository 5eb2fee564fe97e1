"""How many columns of a terminal texts take: characters of Chinese, Japanese and Korean, and emoji, take two each."""

from __future__ import annotations


def width_of(text: str) -> int:
    """The columns that a text without tabs and line ends takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def to_the_left(text: str, width: int) -> str:
    """A text with blanks behind it."""
    return text + " " * (width - width_of(text))


def to_the_right(text: str, width: int) -> str:
    """A text with blanks before it."""
    return " " * (width - width_of(text)) + text


def beginning(text: str, width: int) -> str:
    """As much of a text as fits."""
    while width_of(text) > width:
        text = text[: min(width, len(text) - 1)]
    return text


def pieces(text: str, width: int) -> list[str]:
    """A text in pieces that fit, broken anywhere; at least one."""
    found = []
    while text:
        piece = beginning(text, width) or text[0]
        found.append(piece)
        text = text[len(piece) :]
    return found or [""]
