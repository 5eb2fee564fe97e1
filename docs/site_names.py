"""A hook of mkdocs: a name with hyphens is not broken at them, where it stands in code within a text.

Browsers break behind hyphens, so that of ``--log-dirs`` two hyphens would end a line and the rest begin the next.
"""

from __future__ import annotations

import re
from typing import Any

_BLOCK = re.compile(r"(<pre\b.*?</pre>)", re.DOTALL)
_CODE = re.compile(r"(?<=<code>)[^<]+(?=</code>)")
_NAME = re.compile(r"(?<!\S)(?=\S*-)[\w.-]{2,40}(?!\S)")


def on_page_content(html: str, **_: Any) -> str:
    """Put each such name into an element of its own, for site.css."""
    parts = _BLOCK.split(html)
    parts[::2] = [_CODE.sub(_with_names, part) for part in parts[::2]]
    return "".join(parts)


def _with_names(code: re.Match[str]) -> str:
    return _NAME.sub(r'<span class="name">\g<0></span>', code[0])
