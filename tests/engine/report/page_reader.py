"""A report read as a browser would: its texts, its links, and whether it is well formed."""

from html.parser import HTMLParser
from pathlib import Path

APART = {"td", "th", "dt", "dd", "li", "p", "text", "summary"}
"""What stands apart from what follows, also where nothing lies between them in the file."""

VOID = {"meta", "br", "hr", "img", "link", "input", "wbr"}


class PageReader(HTMLParser):
    """tags: every element's name and attributes, in order; open: elements that were not closed;
    unbalanced: ends without a beginning."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.unbalanced: list[str] = []
        self._parts: list[str] = []
        self.feed(html)
        self.close()

    @classmethod
    def of(cls, path: Path) -> "PageReader":
        return cls(path.read_text(encoding="utf-8"))

    @property
    def text(self) -> str:
        """All that is read, with single spaces."""
        return " ".join("".join(self._parts).split())

    @property
    def anchors(self) -> set[str]:
        return {str(attributes["id"]) for _, attributes in self.tags if "id" in attributes}

    def of_name(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag in APART:
            self._parts.append(" ")
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self._parts.append(data)
