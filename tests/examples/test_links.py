"""Links of the documentation lead somewhere, and the site that is made of it is whole and stays at home."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.examples.pages import BLOCK, ROOT, markdown_files

LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
INLINE_CODE = re.compile(r"`[^`\n]*`")
REFERENCE = sorted((ROOT / "docs" / "reference").glob("*.md"))
LOADS = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src", "object": "data"}


def anchors(path: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and the site make them."""
    headings = HEADING.findall(BLOCK.sub("", path.read_text("utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", [*markdown_files(), *REFERENCE], ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    text = INLINE_CODE.sub("", BLOCK.sub("", path.read_text("utf-8")))
    for link in LINK.findall(text):
        if link.startswith(("http://", "https://")):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_the_index_has_every_page() -> None:
    index = ROOT / "docs" / "README.md"
    links = (link.partition("#")[0] for link in LINK.findall(index.read_text("utf-8")))
    linked = {(index.parent / link).resolve() for link in links}
    assert [path for path in markdown_files() if path.parent != ROOT and path not in {*linked, index}] == []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as ``make docs`` makes it."""
    pytest.importorskip("material", reason="mkdocs-material is not installed")
    directory = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(directory)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return directory


def test_the_site_has_every_page(site: Path) -> None:
    pages = [path for path in (*markdown_files(), *REFERENCE) if path.is_relative_to(ROOT / "docs")]
    for page in pages:
        name = page.relative_to(ROOT / "docs").with_suffix(".html")
        assert (site / (name.with_name("index.html") if name.stem == "README" else name)).exists()


def test_the_navigation_has_the_reference(site: Path) -> None:
    index = (site / "index.html").read_text("utf-8")
    assert [
        page.stem for page in REFERENCE if page.stem != "README" and f"reference/{page.stem}.html" not in index
    ] == []


def test_names_of_options_are_not_broken(site: Path) -> None:
    """In code within a text; blocks of code are left as they are."""
    page = (site / "output.html").read_text("utf-8")
    assert '<code><span class="name">--columns</span></code> chooses columns' in page
    assert 'class="name"' not in "".join(re.findall(r"<pre\b.*?</pre>", page, re.DOTALL))


class Loaded(HTMLParser):
    """What a browser fetches for a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        address = given.get(LOADS.get(tag, ""))
        if address and given.get("rel") != "canonical":
            self.addresses.append(address)


def test_the_site_loads_nothing_from_other_hosts(site: Path) -> None:
    loaded = Loaded()
    for page in site.rglob("*.html"):
        loaded.feed(page.read_text("utf-8"))
    assert len(loaded.addresses) > 100
    assert [each for each in loaded.addresses if re.match(r"(https?:)?//", each)] == []
    styles = "".join(style.read_text("utf-8") for style in site.rglob("*.css"))
    assert re.findall(r"(?:url\(|@import\s+)[\"']?(?:https?:)?//[^)\"']+", styles) == []
