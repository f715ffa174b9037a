"""The dashboard's own modules are found beside its main script, as Streamlit does."""

from pathlib import Path

import pytest

from evroute.resources import app_path


@pytest.fixture(autouse=True)
def _beside_the_main_script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(app_path()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVROUTE_PROFILE", str(tmp_path / "profile.json"))
