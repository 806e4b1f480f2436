"""`@package-registries`: the hosts that the files of an account name, and nothing that a project or a variable names."""

from __future__ import annotations

from pathlib import Path

import pytest

from instinct_shell.execution import registries
from instinct_shell.execution.registries import package_registries

FILES = {
    ".config/pip/pip.conf": (
        "[global]\nindex-url = https://pip.example/simple\nextra-index-url =\n    https://more.example:8443/simple\n    http://third.example/\ncert = https://c.example\n",
        {"pip.example:443", "more.example:8443", "third.example:80"},
    ),
    ".pip/pip.conf": ("[global]\nindex_url: https://user:secret@old.example/simple\n", {"old.example:443"}),
    ".npmrc": (
        "registry=https://npm.example/\n@corp:registry = http://10.0.0.5:4873/\n//npm.example/:_authToken=x\n; registry=https://off.example\n",
        {"npm.example:443", "10.0.0.5:4873"},
    ),
    ".config/uv/uv.toml": (
        'index-url = "https://uv.example/simple"\nextra-index-url = ["https://uv2.example/s", "https://uv3.example/s"]\n[[index]]\nurl = "https://uv4.example"\n',
        {"uv.example:443", "uv2.example:443", "uv3.example:443", "uv4.example:443"},
    ),
    ".cargo/config.toml": (
        '[source.mirror]\nregistry = "sparse+https://crates.example/index/"\n[registries.own]\nindex = "https://git.example/index"\n[http]\nproxy = "proxy.example:80"\n',
        {"crates.example:443", "git.example:443"},
    ),
    ".yarnrc.yml": ('npmRegistryServer: "https://yarn.example"\n', {"yarn.example:443"}),
    ".config/go/env": ("GOPROXY=https://go.example,https://go2.example|direct\nGOFLAGS=-mod=mod\n", {"go.example:443", "go2.example:443"}),
}


@pytest.fixture
def only_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves this machine's own files out."""
    kept = tuple((pattern, tuple(place for place in places if place.startswith("{home}"))) for pattern, places in registries._FILES)
    monkeypatch.setattr(registries, "_FILES", kept)


@pytest.mark.usefixtures("only_home")
@pytest.mark.parametrize("name", FILES)
def test_hosts_of_a_file(name: str, tmp_path: Path) -> None:
    text, hosts = FILES[name]
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    assert set(package_registries(str(tmp_path))) == hosts


@pytest.mark.usefixtures("only_home")
def test_an_account_without_files_or_home_names_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://variable.example/simple")
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "https://variable.example/")
    assert package_registries(str(tmp_path)) == ()
    assert package_registries("") == ()


@pytest.mark.usefixtures("only_home")
@pytest.mark.parametrize("content", [b"registry=https://\xff\xfe/\n", b"registry=file:///opt\n", b"\0" * 1000, b"registry=https://[::1/\n"])
def test_a_file_that_names_no_host(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".npmrc").write_bytes(content)
    assert package_registries(str(tmp_path)) == ()


@pytest.mark.usefixtures("only_home")
def test_a_folder_in_the_place_of_a_file_names_nothing(tmp_path: Path) -> None:
    (tmp_path / ".npmrc").mkdir()
    assert package_registries(str(tmp_path)) == ()
