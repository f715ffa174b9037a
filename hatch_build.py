"""Metadata of the wheel that depend on the address of the project.

`home` under ``[tool.evroute]`` in pyproject.toml is the address under which the repository is
read, such as ``https://example.org/evroute/blob/main``. It is empty until there is one. With an
address, relative links of README lead there, and the metadata have links of their own.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(?<=\]\()(?!https?:|#)(?P<target>[^()\s]+)(?=\))")
PAGES = {"Documentation": "docs/index.md", "Changelog": "CHANGELOG.md"}


class CustomMetadataHook(MetadataHookInterface):
    """Writes the description and the links of the project."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add ``readme`` and ``urls`` to the metadata."""
        root = Path(self.root)
        settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
        home = settings["tool"]["evroute"]["home"].rstrip("/")
        text = (root / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, home)}
        if home:
            metadata["urls"] = {"Homepage": home} | {
                name: f"{home}/{page}" for name, page in PAGES.items()
            }


def absolute(text: str, home: str) -> str:
    """Return a text in Markdown whose relative links begin with an address, if there is one."""
    return LINK.sub(lambda link: f"{home}/{link['target']}", text) if home else text
