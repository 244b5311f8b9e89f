"""Which hosts may be asked and be sent a key: what the user named, and nothing that data name."""

import json
import stat

import pytest

from karat.core.errors import InputError, UsageError
from karat.models import EmbedderSettings, hosts
from karat.models.chat import ChatSettings

URL = "https://api.example.com/v1"
AT = EmbedderSettings("openai", "m", base_url=URL, key_env="AWS_SECRET")


@pytest.fixture(autouse=True)
def config(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(hosts, "_unsaved", [])
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return tmp_path / "config" / "karat" / "allowed.jsonl"


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://API.Example.com/v1", "api.example.com"),
        ("https://api.example.com:443", "api.example.com"),
        ("http://api.example.com/v1", "api.example.com:80"),
        ("https://api.example.com:8443/v1", "api.example.com:8443"),
        ("http://[::1]:11434/v1", "[::1]:11434"),
    ],
)
def test_a_host_has_one_spelling(address, host):
    assert hosts.host_of(address) == host
    hosts.allow_host(host)
    assert hosts.is_allowed(address)


@pytest.mark.parametrize(
    "address",
    [
        "ftp://host/", "host/v1", "https://", "https://user:pw@host/", "https://host/?key=1", "https://host:0/",
        "https://host:99999/", "https://allowed\\@evil.example/", "https://allowed\n.evil.example/", "https://a b/",
        "https://аpi.example.com/", "https://allowed%2eexample/",
    ],
)  # fmt: skip
def test_an_address_that_two_readers_may_take_for_different_hosts_is_refused(address):
    with pytest.raises(UsageError):
        hosts.host_of(address)


def test_what_data_name_is_refused_until_the_user_names_it():
    with pytest.raises(UsageError, match=r"^evil\.index names the host api\.example\.com, and karat sends nothing"):
        hosts.permitted(AT, "evil.index")
    hosts.allow_host("api.example.com")
    assert hosts.permitted(AT, "evil.index").key_env == "OPENAI_API_KEY"
    hosts.allow(EmbedderSettings("openai", "m", base_url=URL, key_env="MINE"))
    assert hosts.permitted(AT, "evil.index").key_env == "MINE"
    other = EmbedderSettings("openai", "m", base_url="http://api.example.com/v1")
    with pytest.raises(UsageError, match=r"--allow-host api\.example\.com:80"):
        hosts.permitted(other, "evil.index")


@pytest.mark.parametrize("settings", [EmbedderSettings("openai", "m"), ChatSettings("gpt-4o-mini")])
def test_the_default_host_is_a_host_like_any_other(settings):
    with pytest.raises(UsageError, match=r"--allow-host api\.openai\.com"):
        hosts.permitted(settings, "runs/x/manifest.json")
    hosts.allow(settings)
    assert hosts.permitted(settings, "runs/x/manifest.json") == settings


@pytest.mark.parametrize("name", ["wordllama", "sbert", "multilingual", "acme"])
def test_models_of_installed_packages_need_no_word(name):
    assert hosts.permitted(EmbedderSettings(name), "some.index") == EmbedderSettings(name)


@pytest.mark.parametrize("settings", [
    EmbedderSettings("onnx", "model"), EmbedderSettings("sbert", "model"),
    EmbedderSettings("onnx", "model", base_url=URL),
])  # fmt: skip
def test_a_folder_of_a_model_is_named_by_the_user_too(settings, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hosts.allow_host("api.example.com")
    with pytest.raises(UsageError, match=f"it may hold code. If you trust it: --allow-model {tmp_path / 'model'}"):
        hosts.permitted(settings, "evil.index")
    hosts.allow_model(tmp_path / "model")
    assert hosts.permitted(settings, "evil.index") == settings


def test_a_model_without_a_host_named_still_needs_its_host():
    hosts.allow_model("model")
    with pytest.raises(UsageError, match="--allow-host"):
        hosts.permitted(EmbedderSettings("onnx", "model", base_url=URL), "evil.index")


@pytest.mark.parametrize("address", ["http://127.0.0.1:8/v1", "http://localhost:8/v1", "http://[::1]/v1", URL])
def test_a_key_goes_to_this_machine_and_over_https(address, monkeypatch):
    monkeypatch.setenv("MINE", "sk-0123456789")
    assert hosts.key_for(address, "MINE") == "sk-0123456789"


@pytest.mark.parametrize("host", ["10.0.0.5:8000", "localhost.evil.example:80", "127.0.0.1.evil.example:80"])
def test_a_key_over_plain_http_needs_a_word(host, monkeypatch):
    monkeypatch.setenv("MINE", "sk-0123456789")
    address = f"http://{host}/v1"
    assert hosts.key_for(address, "NOT_SET") == ""
    with pytest.raises(UsageError, match=f"over plain http.*--insecure-key {host}") as refused:
        hosts.key_for(address, "MINE")
    assert "sk-0123456789" not in str(refused.value)
    hosts.allow_host(host)
    with pytest.raises(UsageError, match="plain http"):
        hosts.key_for(address, "MINE")
    hosts.allow_insecure_key(host)
    assert hosts.key_for(address, "MINE") == "sk-0123456789"


def test_the_file_is_private_and_holds_each_word_once(config):
    for _ in range(3):
        hosts.allow_host(URL, "MINE")
        hosts.allow_model("model")
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    lines = [json.loads(line) for line in config.read_text().splitlines()]
    assert lines[0] == {"host": "api.example.com", "key_env": "MINE"}
    assert len(lines) == 2


def test_a_file_that_karat_did_not_write_is_named(config):
    config.parent.mkdir(parents=True)
    for text in ("nonsense", '{"hots": "x"}', "[]", '{"host": 1, "key_env": 2}', '{"host": ["x"], "key_env": "y"}'):
        config.write_text(f"{text}\n")
        with pytest.raises(InputError, match=r"allowed\.jsonl.*1.*Delete the line"):
            hosts.permitted(AT, "evil.index")


def test_a_folder_that_cannot_be_written_keeps_the_word_for_now(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    hosts.allow_host("api.example.com")
    assert hosts.permitted(AT, "own.index").key_env == "OPENAI_API_KEY"


@pytest.mark.parametrize(
    ("platform", "environment", "folder"),
    [
        ("linux", {}, ".config/karat"),
        ("linux", {"XDG_CONFIG_HOME": "relative"}, ".config/karat"),
        ("darwin", {}, "Library/Application Support/karat"),
        ("win32", {"APPDATA": "/appdata/Roaming"}, "/appdata/Roaming/karat"),
    ],
)
def test_each_system_has_its_place_for_settings(platform, environment, folder, monkeypatch, tmp_path):
    for name in ("XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", platform)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert hosts.allowed_file().as_posix().endswith(f"{folder}/allowed.jsonl")


def test_nothing_is_read_from_the_folder_that_karat_works_in(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", "home")
    planted = tmp_path / "home" / ".config" / "karat" / "allowed.jsonl"
    planted.parent.mkdir(parents=True)
    planted.write_text('{"host": "api.example.com", "key_env": "AWS_SECRET"}\n')
    with pytest.raises(UsageError, match="--allow-host"):
        hosts.permitted(AT, "evil.index")
    hosts.allow_host("api.example.com")
    assert hosts.permitted(AT, "evil.index").key_env == "OPENAI_API_KEY"


def test_each_host_is_told_once_before_it_is_asked(monkeypatch):
    told = []
    hosts.on_host(told.append)
    monkeypatch.setenv("MINE", "sk-0123456789")
    hosts.announce_host(URL, "MINE")
    hosts.announce_host(URL, "MINE")
    hosts.announce_host("http://127.0.0.1:8/v1", "NOT_SET")
    hosts.on_host(None)
    hosts.announce_host("https://third.example/", "MINE")
    assert told == ["asking api.example.com, with the key in MINE", "asking 127.0.0.1:8, without a key"]
