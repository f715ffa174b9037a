"""Pages of the repository outside ``docs/`` as pages of the site, and links to them."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
OUTSIDE = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "THIRD_PARTY.md": "third-party.md",
    "data/README.md": "data.md",
    "data/denver/README.md": "data-denver.md",
}
"""Pages from elsewhere in the repository, and where they lie in the site."""

_LINK = re.compile(r"(?<=\]\()(?P<target>[^()\s#:]+)(?P<anchor>#[^()\s]*)?(?=\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside."""
    for source, name in OUTSIDE.items():
        path = ROOT / source
        if path.exists():
            files.append(
                File.generated(
                    config, name, content=_moved(path.read_text(encoding="utf-8"), source, name)
                )
            )
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links out of ``docs/`` to where those pages lie in the site."""
    if page.file.abs_src_path is None:
        return markdown
    return _moved(markdown, f"docs/{page.file.src_uri}", page.file.src_uri)


def _moved(markdown: str, source: str, name: str) -> str:
    """Rewrite relative links of the page ``source`` for its location ``name`` in the site."""
    here, there = (ROOT / source).parent, Path(name).parent

    def turned(link: re.Match[str]) -> str:
        target = (here / link["target"]).resolve()
        if not target.is_relative_to(ROOT):
            return link[0]
        path = str(target.relative_to(ROOT))
        place = OUTSIDE.get(path) or (
            path.removeprefix("docs/") if path.startswith("docs/") else None
        )
        if place is None:
            return link[0]
        return str(Path(*[".."] * len(there.parts), place)) + (link["anchor"] or "")

    return _LINK.sub(turned, markdown)
