"""Profiles: shipped ones, the person's, project files; strictness, tightening."""

from __future__ import annotations

import os

import pytest
from profile_files import load, own, project, store

from instinct_shell.errors import ProfileError
from instinct_shell.model.effect import EffectKind
from instinct_shell.model.verdict import Decision
from instinct_shell.storage import profile_schema as schema
from instinct_shell.storage.profile_build import tables_of
from instinct_shell.storage.profiles import loosening, shipped_directory

CHOICES = ("dev", "staging", "prod")


def test_dev_is_the_default(person):
    profile = load(person)
    assert (profile.name, profile.extends) == ("dev", ("base",))
    assert profile.effect_decision(EffectKind.DB_DROP) is Decision.DENY


@pytest.mark.parametrize(("loose", "strict"), [("dev", "staging"), ("staging", "prod"), ("dev", "prod")])
def test_shipped_profiles_tighten_in_order(person, loose, strict):
    resolved = {name: store(person).resolve(name) for name in (loose, strict)}
    assert loosening(resolved[loose], resolved[strict]) is None
    assert loosening(resolved[strict], resolved[loose]) is not None


def test_every_key_has_a_tightening_order_and_stands_in_base():
    with open(os.path.join(shipped_directory(), "base.toml"), encoding="utf-8") as stream:
        text = stream.read()
    for path, key in schema.KEYS.items():
        assert schema.direction(path)
        assert key.kind in ("word", "list", "hosts", "ports", "words", "count", "seconds", "money", "flag", "text")
        if path not in ("effects.file.execute", "effects.process.spawn"):
            assert path.rpartition(".")[2].replace('"', "") in text


def test_the_digest_changes_with_a_value_and_not_with_the_workspace(person):
    one = load(person)
    assert store(person).load("", "/elsewhere", {}).digest == one.digest
    own(person, "mine.toml", 'extends = "dev"\n[effects]\n"net.upload" = "deny"\n')
    assert load(person, "mine").digest != one.digest


# ---------------------------------------------------------------------------------------------------------------- strictness

WRONG = [
    ('extends = "dev"\n[pahts]\nwritable = []\n', "pahts: unknown key (did you mean `paths`?)"),
    ('extends = "dev"\n[paths]\nwriteable = []\n', "paths.writeable: unknown key (did you mean `paths.writable`?)"),
    ('extends = "dev"\n[effects]\n"net.uplaod" = "ask"\n', "effects.net.uplaod: unknown key (did you mean `effects.net.upload`?)"),
    ('extends = "dev"\n[effects]\n"net.upload" = "maybe"\n', 'effects.net.upload: `maybe` is not one of "allow", "ask", "deny"'),
    ('extends = "dev"\n[paths]\nwritable = "x"\n', "paths.writable: `x` is not a list of non-empty strings"),
    ('extends = "dev"\n[jail]\nprivate_tmp = "yes"\n', "jail.private_tmp: `yes` is not true or false"),
    ('extends = "dev"\n[jail.limits]\nprocesses = -1\n', "jail.limits.processes: `-1` is not a whole number"),
    ('extends = "dev"\n[spend]\nsession_ceiling = 10.0\n', "spend.session_ceiling: `10.0` is not an amount"),
    ('extends = "dev"\n[spend]\nsession_ceiling = "10.0000001"\n', "is not an amount"),
    ('extends = "dve"\n', "extends: `dve` is not a shipped profile (did you mean `dev`?)"),
    ('extends = "mine"\n', "extends: `mine` is not a shipped profile"),
    ("version = 1\n", "extends: missing"),
    ('extends = "dev"\nrule = 1\n', "rule: must be an array of tables"),
    ('extends = "dev"\n[[rule]]\nid = "x"\ndecision = "deny"\nreason = "r"\n', "no condition"),
    ('extends = "dev"\n[[rule]]\nid = "x"\ndecision = "no"\nreason = "r"\neffects = ["*"]\n', "decision: `no` is not one of"),
    (
        'extends = "dev"\n[[rule]]\nid = "x"\ndecision = "deny"\nreason = "r"\neffects = ["*"]\npats = []\n',
        "pats: unknown key (did you mean `paths`?)",
    ),
    ('extends = "dev"\n[[rule]]\nid = "x"\ndecision = "deny"\nreason = "r"\npaths = ["re:("]\n', "is not a regular expression"),
    ('extends = "dev"\n[paths.protected]\nremove = ["*.evn"]\n', "`*.evn` is not in the inherited list (did you mean `*.env`?)"),
    ('extends = "dev"\n[paths.protected]\nad = ["*.x"]\n', "paths.protected.ad: unknown key (did you mean `add`?)"),
    ('extends = "dev"\n[caches]\nX = "../y"\n', "caches: must map variables to plain folder names"),
    ("extends = \n", "is not valid TOML"),
]


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[row[1][:40] for row in WRONG])
def test_wrong_profiles_are_named(person, text, message):
    own(person, "mine.toml", text)
    with pytest.raises(ProfileError) as caught:
        load(person, "mine")
    assert message in caught.value.message
    assert "mine.toml" in caught.value.message
    assert caught.value.hint
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("name", ["nope", "../dev", "base", "", "dev.toml", "é"])
def test_unknown_names(person, name):
    with pytest.raises(ProfileError) as caught:
        store(person).resolve(name)
    assert caught.value.hint


def test_lists_are_changed_by_add_and_remove(person):
    own(person, "mine.toml", 'extends = "dev"\n[paths]\nprotected = { add = ["*.key"], remove = ["*.pem"] }\nsole_copies = ["*.raw"]\n')
    profile = store(person).resolve("mine")
    assert "*.key" in profile.values["paths.protected"]
    assert "*.pem" not in profile.values["paths.protected"]
    assert profile.values["paths.sole_copies"] == ("*.raw",)


# ---------------------------------------------------------------------------------------------------------------- who may choose


def test_the_person_chooses(person):
    own(person, "config.toml", 'profile = "staging"\n')
    assert load(person).name == "staging"


def test_flags_and_environment_may_only_tighten(person):
    own(person, "config.toml", 'profile = "staging"\n')
    assert load(person, "prod").name == "prod"
    assert load(person, INSTINCT_PROFILE="prod").name == "prod"
    for asked in ({"name": "dev"}, {"INSTINCT_PROFILE": "dev"}):
        with pytest.raises(ProfileError) as caught:
            load(person, **asked)
        assert "looser" in caught.value.message


@pytest.mark.parametrize("value", ["off", "none", "", "0"])
def test_nonsense_in_the_environment_is_refused_or_nothing(person, value):
    if not value:
        assert load(person, INSTINCT_PROFILE=value).name == "dev"
        return
    with pytest.raises(ProfileError):
        load(person, INSTINCT_PROFILE=value)


def test_dotted_flags_tighten(person):
    assert load(person, **{"effects.net.upload": '"deny"'}).effect_decision(EffectKind.NET_UPLOAD) is Decision.DENY
    with pytest.raises(ProfileError):
        load(person, **{"effects.net.upload": "allow"})
    with pytest.raises(ProfileError):
        load(person, **{"effects.nothing": "deny"})


TIGHTER = [
    ('[effects]\n"net.upload" = "deny"\n', lambda p: p.effect_decision(EffectKind.NET_UPLOAD) is Decision.DENY),
    ('[paths]\nprotected = ["*.key"]\n', lambda p: "*.key" in p.protected and "*.env" in p.protected),
    ('[paths]\nwritable = ["{workspace}"]\n', lambda p: p.writable == ("{workspace}",)),
    ('[spend]\nsession_ceiling = "1.50"\n', lambda p: p.session_ceiling_micros == 1_500_000),
    ('[spend]\nday_ceiling = "3"\n', lambda p: p.day_ceiling_micros == 3_000_000),
    ("[jail.limits]\nwall_seconds = 60\n", lambda p: p.limits.wall_seconds == 60),
    ('[scope]\npaths = ["src/*"]\n', lambda p: p.scope_paths == ("src/*",)),
    ("[jail]\nprivate_tmp = true\n", lambda p: p.private_tmp),
    ('extends = "staging"\n', lambda p: p.name == "staging"),
    ('extends = "dev"\n', lambda p: p.name == "dev"),
    (
        '[[rule]]\nid = "x"\ndecision = "ask"\nreason = "r"\neffects = ["file.write"]\n',
        lambda p: p.rules[0].source.endswith(".instinct.toml"),
    ),
]
LOOSER = [
    '[effects]\n"net.upload" = "allow"\n',
    '[paths]\nwritable = ["{workspace}", "/"]\n',
    '[paths]\nprotected = { remove = ["*.env"] }\n',
    '[paths]\nbuild_output = ["src"]\n',
    '[spend]\nsession_ceiling = "99"\n',
    "[jail.limits]\nprocesses = 0\n",
    '[jail]\nlevel = "none"\n',
    '[environment]\nallow = ["*"]\n',
    '[paths]\nprotected_exceptions = [".env"]\n',
    '[[rule]]\nid = "x"\ndecision = "allow"\nreason = "r"\neffects = ["*"]\n',
    '[caches]\nHOME = "x"\n',
    '[git]\nprotected_refs = { remove = ["main"] }\n',
    '[ask]\nbecomes = "overlay"\n',
]


@pytest.mark.parametrize(("text", "holds"), TIGHTER, ids=[row[0] for row in TIGHTER])
def test_a_project_file_tightens(person, text, holds):
    project(person, text)
    assert holds(load(person))


@pytest.mark.parametrize("text", LOOSER)
def test_a_project_file_cannot_loosen(person, text):
    project(person, text)
    with pytest.raises(ProfileError) as caught:
        load(person)
    assert ".instinct.toml" in caught.value.message
    assert caught.value.hint


def test_a_project_cannot_undo_the_persons_choice(person):
    own(person, "config.toml", 'profile = "prod"\n')
    project(person, 'extends = "dev"\n')
    assert load(person).name == "prod"


# ---------------------------------------------------------------------------------------------------------------- files


def test_files_that_others_can_write_are_refused(person):
    own(person, "mine.toml", 'extends = "dev"\n')
    (person / "home/.config/instinct-shell/mine.toml").chmod(0o666)
    with pytest.raises(ProfileError, match="can be written by others"):
        load(person, "mine")


def test_pipes_and_huge_files_are_refused(person):
    os.mkfifo(person / "w/.instinct.toml")
    with pytest.raises(ProfileError, match="not a regular file"):
        load(person)
    os.unlink(person / "w/.instinct.toml")
    project(person, "# " + "x" * 300_000)
    with pytest.raises(ProfileError, match="larger than"):
        load(person)


def test_an_empty_or_binary_file_is_no_traceback(person):
    (person / "w/.instinct.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ProfileError, match="not valid TOML"):
        load(person)
    project(person, "")
    assert load(person).name == "dev"


@pytest.mark.parametrize("name", CHOICES)
def test_what_show_prints_reads_back_to_the_same(person, name):
    shown = store(person).effective(name, "", {})
    lines = tables_of(shown.values, shown.caches, shown.rules)
    own(person, "again.toml", f'extends = "{name}"\n' + "\n".join(lines))
    again = store(person).resolve("again")
    assert again.values == shown.values


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("10.00", 10_000_000),
        ("0", 0),
        ("0.000001", 1),
        ("1.5", 1_500_000),
        ("", None),
        ("-1", None),
        ("1e3", None),
        ("1.0000001", None),
        (10, None),
        ("١", None),
        ("1_0", None),
    ],
)
def test_money_is_exact(text, micros):
    assert schema.money(text) == micros
    if micros is not None:
        assert schema.money(schema.as_money(micros)) == micros


# ------------------------------------------------------------------------------------------------------------------------- network


NETWORK = [
    ('allow = ["example.com", "*.example.com:8443", "10.0.0.0/8:443", "@package-registries"]', ""),
    ("publish = [3000, 8080]", ""),
    ('allow = ["http://example.com"]', "not an address of a page"),
    ('allow = ["example.com:99999"]', "no port"),
    ('allow = ["@pakage-registries"]', "neither a host name"),
    ('allow = ["10.0.0.1/8"]', "no address"),
    ("allow = [1]", "a list of hosts"),
    ("publish = [0]", "1 to 65535"),
    ('publish = ["3000"]', "1 to 65535"),
    ("publish = [true]", "1 to 65535"),
    ("publish = 3000", "1 to 65535"),
    ("ports = [3000]", "unknown key"),
    ('credentials = ["git"]', ""),
    ('credentials = ["ssh"]', 'a list of "git"'),
    ("credentials = true", 'a list of "git"'),
]


@pytest.mark.parametrize(("line", "wrong"), NETWORK)
def test_network_keys_are_strict(person, line, wrong):
    own(person, "mine.toml", f'extends = "staging"\n[network]\n{line}\n')
    if wrong:
        with pytest.raises(ProfileError, match=wrong):
            store(person).resolve("mine")
    else:
        assert store(person).resolve("mine").values["network.mode"] == "allowlist"


def test_hosts_and_ports_only_shrink_in_a_project(person):
    own(person, "config.toml", 'profile = "mine"\n')
    own(person, "mine.toml", 'extends = "staging"\n[network]\nallow = { add = ["a.example"] }\npublish = [3000, 4000]\n')
    assert load(person).network_allow == ("@package-registries", "a.example")
    project(person, '[network]\nallow = ["a.example"]\npublish = { remove = [4000] }\n')
    profile = load(person)
    assert (profile.network_allow, profile.publish) == (("a.example",), (3000,))
    for looser in ('allow = { add = ["b.example"] }', "publish = [3000, 5000]", 'mode = "open"'):
        project(person, f"[network]\n{looser}\n")
        with pytest.raises(ProfileError, match="would loosen"):
            load(person)
