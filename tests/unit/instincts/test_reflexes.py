"""Reflexes over effects made by hand: each harm beside its harmless twin. The decision is that of the one instinct, profile dev."""

from __future__ import annotations

import pytest
from judging import effect, intent, said, situation, verdict

from instinct_shell.instincts.registry import BUILTIN
from instinct_shell.model.intent import IntentType
from instinct_shell.model.situation import Spend
from instinct_shell.model.verdict import Decision, Tier, merge

BY_ID = {instinct.id: instinct for instinct in BUILTIN}

# (instinct, decision, effect)
ROWS = [
    # protected-files
    ("protected-files", "deny", effect("file.read", ".env")),
    ("protected-files", "allow", effect("file.read", ".env.example")),
    ("protected-files", "deny", effect("file.write", "config/secrets.yml")),
    ("protected-files", "allow", effect("file.metadata", ".env")),
    ("protected-files", "deny", effect("file.read", ".e?v")),
    ("protected-files", "allow", effect("file.read", "*.json")),
    ("protected-files", "deny", effect("file.read", "certs/*.pem")),
    ("protected-files", "allow", effect("file.read", "docs/*.pem.md")),
    ("protected-files", "deny", effect("file.read", "/srv/work/app", recursive="1", filter=".env*")),
    ("protected-files", "allow", effect("file.read", "/srv/work/app", recursive="1")),
    ("protected-files", "deny", effect("file.delete", "/srv/work/app", sweep="1", filter=".env*")),
    ("protected-files", "allow", effect("file.read", "/srv/work/app", recursive="1", filter="*.y*ml")),
    ("protected-files", "deny", effect("file.read", "/srv/work/app", recursive="1", filter="*.p*m")),
    ("protected-files", "deny", effect("file.read", "/srv/work/app", recursive="1", filter="*cret*.y*ml")),
    ("protected-files", "allow", effect("file.delete", "/srv/work/app", sweep="1", filter="*.pyc")),
    ("protected-files", "deny", effect("file.link", "build/x", to="/srv/work/app/.env", hard="1")),
    ("protected-files", "allow", effect("file.link", "build/x", to="/srv/work/app/src")),
    ("protected-files", "deny", effect("file.write", "package-lock.json")),
    ("protected-files", "allow", effect("file.write", "package-lock.json", by_manager="npm")),
    ("protected-files", "allow", effect("file.read", "package-lock.json")),
    ("protected-files", "deny", effect("git.discard", "yarn.lock", named="1")),
    ("protected-files", "allow", effect("git.discard", "src/app.ts", named="1")),
    ("protected-files", "deny", effect("file.read", "", dynamic="output of a command", suffix="/.env")),
    ("protected-files", "allow", effect("file.read", "", dynamic="output of a command")),
    # destructive-operation: files
    ("destructive-operation", "deny", effect("file.delete", "/home/dev", recursive="1")),
    ("destructive-operation", "deny", effect("file.delete", "/", recursive="1")),
    ("destructive-operation", "deny", effect("file.delete", "/srv/work/app", recursive="1")),
    ("destructive-operation", "deny", effect("file.delete", "/srv/work", recursive="1")),
    ("destructive-operation", "deny", effect("file.delete", "/srv/work/application/build", recursive="1")),
    ("destructive-operation", "allow", effect("file.delete", "build", recursive="1")),
    ("destructive-operation", "allow", effect("file.delete", "src", recursive="1")),
    ("destructive-operation", "deny", effect("file.delete", "/srv/work/app/*")),
    ("destructive-operation", "deny", effect("file.delete", "/srv/work/app/.[!.]*")),
    ("destructive-operation", "deny", effect("file.delete", "/srv/work/app/[a-z]*")),
    ("destructive-operation", "allow", effect("file.delete", "build/*")),
    ("destructive-operation", "allow", effect("file.delete", "*.log")),
    ("destructive-operation", "deny", effect("file.delete", ".git", recursive="1")),
    ("destructive-operation", "allow", effect("file.delete", ".github-old", recursive="1")),
    ("destructive-operation", "allow", effect("file.delete", ".git/index.lock")),
    ("destructive-operation", "deny", effect("file.delete", ".git/objects", recursive="1")),
    ("destructive-operation", "deny", effect("file.delete", "/srv/work/app", sweep="1")),
    ("destructive-operation", "deny", effect("file.delete", "/srv/work/app", sweep="1", filter="*")),
    ("destructive-operation", "allow", effect("file.delete", "/srv/work/app", sweep="1", filter="node_modules")),
    ("destructive-operation", "allow", effect("file.delete", "dist", sweep="1")),
    ("destructive-operation", "deny", effect("file.write", "/dev/sda")),
    ("destructive-operation", "allow", effect("file.write", "/dev/null")),
    ("destructive-operation", "deny", effect("file.write", "/etc/hosts")),
    ("destructive-operation", "deny", effect("file.append", "/home/dev/.bashrc")),
    ("destructive-operation", "allow", effect("file.write", "src/app.ts")),
    ("destructive-operation", "allow", effect("file.write", "/tmp/x")),
    ("destructive-operation", "deny", effect("file.write", "/proc/sysrq-trigger")),
    ("destructive-operation", "deny", effect("file.create", "/proc/sys/x")),
    ("destructive-operation", "deny", effect("file.metadata", "/usr/local", recursive="1")),
    ("destructive-operation", "allow", effect("file.metadata", "build", recursive="1")),
    ("destructive-operation", "allow", effect("file.delete", "/tmp/app-test", recursive="1")),
    ("destructive-operation", "ask", effect("file.delete", "/tmp", sweep="1")),
    ("destructive-operation", "ask", effect("file.delete", "/tmp/*")),
    ("destructive-operation", "ask", effect("file.delete", "data/app.sqlite3")),
    ("destructive-operation", "allow", effect("file.delete", "build/test.sqlite3")),
    ("destructive-operation", "deny", effect("file.delete", "notes.db", program="shred", shred="1")),
    ("destructive-operation", "allow", effect("file.delete", "/tmp/app.", dynamic="fresh scratch name", bound="1")),
    ("destructive-operation", "allow", effect("file.delete", "build/", dynamic="unset variable")),
    ("destructive-operation", "ask", effect("file.delete", "", dynamic="output of `cat`")),
    ("destructive-operation", "ask", effect("file.delete", "/srv/work/app/", dynamic="output of `cat`")),
    ("destructive-operation", "deny", effect("file.delete", "/home/dev/", dynamic="loop")),
    ("destructive-operation", "deny", effect("file.delete", "/", dynamic="unset variable")),
    ("destructive-operation", "deny", effect("file.delete", "/app", recursive="1", unset="CACHE_HOME")),
    ("destructive-operation", "allow", effect("file.write", "", dynamic="variable")),
    ("destructive-operation", "deny", effect("file.write", "/etc/", dynamic="variable")),
    ("destructive-operation", "deny", effect("file.metadata", "", dynamic="output of `npm`", recursive="1", origin=("sudo",))),
    ("destructive-operation", "deny", effect("file.delete", "/proc/self/root/etc", recursive="1")),
    ("destructive-operation", "deny", effect("file.move", "/home/dev/repo")),
    ("destructive-operation", "allow", effect("file.move", "dist")),
    # destructive-operation: git
    ("destructive-operation", "deny", effect("git.discard", sweep="1")),
    ("destructive-operation", "deny", effect("git.discard", "", force="1")),
    ("destructive-operation", "allow", effect("git.discard", "src/app.ts", named="1")),
    ("destructive-operation", "deny", effect("git.discard", stash="clear")),
    ("destructive-operation", "ask", effect("git.discard", stash="drop")),
    ("destructive-operation", "deny", effect("git.force_push", remote="origin", branch="main")),
    ("destructive-operation", "deny", effect("git.force_push", remote="origin", branch="refs/heads/release/2.0")),
    ("destructive-operation", "ask", effect("git.force_push", remote="origin", branch="feature/x")),
    ("destructive-operation", "deny", effect("git.force_push", remote="backup", all="1")),
    ("destructive-operation", "ask", effect("git.delete_ref", "old", target="ref", kind="branch")),
    ("destructive-operation", "ask", effect("git.delete_ref", "feature/x", target="ref", kind="remote_branch", remote="origin")),
    ("destructive-operation", "deny", effect("git.delete_ref", "release/1.2", target="ref", kind="remote_branch", remote="origin")),
    ("destructive-operation", "deny", effect("git.delete_ref", "refs/heads/x", target="ref", kind="ref")),
    ("destructive-operation", "deny", effect("git.rewrite", how="filter-branch")),
    # destructive-operation: systems
    ("destructive-operation", "deny", effect("db.drop", "users", engine="postgres")),
    ("destructive-operation", "allow", effect("db.drop", "users", engine="sqlite", database=":memory:")),
    ("destructive-operation", "deny", effect("db.delete_unscoped", "users")),
    ("destructive-operation", "deny", effect("infra.destroy", "prod", tool="terraform")),
    ("destructive-operation", "deny", effect("system.power", action="reboot")),
    ("destructive-operation", "deny", effect("system.service", "docker", action="stop")),
    ("destructive-operation", "allow", effect("system.service", "docker", action="start")),
    ("destructive-operation", "deny", effect("system.schedule", action="remove")),
    ("destructive-operation", "deny", effect("system.firewall", action="flush")),
    ("destructive-operation", "deny", effect("system.user", "dev", action="delete")),
    # secret-read
    ("secret-read", "deny", effect("file.read", "/home/dev/.ssh/id_ed25519")),
    ("secret-read", "allow", effect("file.read", "/home/dev/.ssh/id_ed25519.pub")),
    ("secret-read", "allow", effect("file.read", "/home/dev/.ssh/known_hosts")),
    ("secret-read", "deny", effect("file.read", "/home/dev/.aws/credentials")),
    ("secret-read", "deny", effect("file.read", "/e*/sh*w")),
    ("secret-read", "allow", effect("file.read", "/etc/os-release")),
    ("secret-read", "deny", effect("file.read", "/home/dev/.ssh/*")),
    ("secret-read", "allow", effect("file.read", "/home/dev/.ssh/*.pub")),
    ("secret-read", "deny", effect("file.read", "/home/dev/.ssh", recursive="1", source_of_copy="1")),
    ("secret-read", "deny", effect("file.read", "/proc/self/environ")),
    ("secret-read", "allow", effect("file.read", "/proc/cpuinfo")),
    ("secret-read", "deny", effect("file.read", "/home/dev/.ssh/", dynamic="variable")),
    ("secret-read", "deny", effect("file.link", "ws/x", to="/etc/shadow")),
    ("secret-read", "deny", effect("secret.read", "db-login", store="kubectl", prints="1")),
    ("secret-read", "allow", effect("secret.read", store="env", prints="1")),
    ("secret-read", "deny", effect("net.upload", "https://collect.example.net", target="url", upload="env")),
    ("secret-read", "deny", effect("net.upload", "https://collect.example.net", target="url", upload="file", secret="1")),
    ("secret-read", "allow", effect("net.upload", "https://example.net", target="url", upload="file")),
    # self-protection
    ("self-protection", "deny", effect("file.write", ".claude/settings.json")),
    ("self-protection", "allow", effect("file.read", ".claude/settings.json")),
    ("self-protection", "allow", effect("file.write", ".claude/commands/test.md")),
    ("self-protection", "allow", effect("file.write", "CLAUDE.md")),
    ("self-protection", "deny", effect("file.delete", ".claude", recursive="1")),
    ("self-protection", "deny", effect("file.delete", ".claude/hooks", recursive="1")),
    ("self-protection", "deny", effect("file.write", ".claude/sett*.json")),
    ("self-protection", "deny", effect("file.write", ".instinct.toml")),
    ("self-protection", "deny", effect("file.append", "/home/dev/.config/instinct-shell/dev.toml")),
    ("self-protection", "deny", effect("file.write", "/opt/guard/lib/x.py")),
    ("self-protection", "deny", effect("file.delete", "/opt", recursive="1")),
    ("self-protection", "deny", effect("env.hijack", "INSTINCT_PROFILE", target="name", variable="INSTINCT_PROFILE", value="off")),
    ("self-protection", "allow", effect("env.hijack", "LD_PRELOAD", target="name", variable="LD_PRELOAD", value="x")),
    ("self-protection", "deny", effect("process.kill", "4321", target="process", by="pid")),
    ("self-protection", "deny", effect("process.kill", "$PPID", target="process", by="pid")),
    ("self-protection", "allow", effect("process.kill", "77", target="process", by="pid")),
    # privilege
    ("privilege", "ask", effect("system.privilege", tool="sudo")),
    ("privilege", "deny", effect("system.privilege", "x", tool="setuid")),
    ("privilege", "deny", effect("system.privilege", tool="docker", action="--privileged")),
    # opaque-code
    ("opaque-code", "deny", effect("code.opaque", source="network", language="shell")),
    ("opaque-code", "ask", effect("code.opaque", source="file", reason="output of a command")),
    ("opaque-code", "ask", effect("code.opaque", dynamic="command", reason="first line of a file")),
    ("opaque-code", "deny", effect("code.opaque", reason="nesting limit")),
    ("opaque-code", "allow", effect("code.inline", language="python")),
    # env-hijack
    ("env-hijack", "deny", effect("env.hijack", "LD_PRELOAD", target="name", variable="LD_PRELOAD", value="build/evil.so")),
    ("env-hijack", "deny", effect("env.hijack", variable="BASH_ENV", value="build/evil.sh")),
    ("env-hijack", "ask", effect("env.hijack", variable="PATH", value="./x:/usr/bin")),
    ("env-hijack", "ask", effect("env.hijack", variable="PATH", value="/tmp/x:/usr/bin")),
    ("env-hijack", "allow", effect("env.hijack", variable="PATH", value="/srv/work/app/node_modules/.bin:/usr/bin")),
    ("env-hijack", "allow", effect("env.hijack", variable="GIT_EDITOR", value="true")),
    ("env-hijack", "ask", effect("env.hijack", variable="GIT_SSH_COMMAND", value="sh x.sh")),
    ("env-hijack", "allow", effect("env.hijack", variable="NODE_OPTIONS", value="--max-old-space-size=4096")),
    ("env-hijack", "ask", effect("env.hijack", variable="NODE_OPTIONS", value="--require ./x.js")),
    # operation-allowed
    ("operation-allowed", "ask", effect("file.write", ".git/hooks/pre-commit")),
    ("operation-allowed", "allow", effect("file.read", ".git/hooks/pre-commit")),
    ("operation-allowed", "allow", effect("file.write", ".git/hooks/pre-commit.sample")),
    ("operation-allowed", "ask", effect("file.append", ".envrc")),
    ("operation-allowed", "ask", effect("file.write", ".github/workflows/ci.yml")),
    ("operation-allowed", "allow", effect("file.write", "docs/workflows/ci.yml")),
    ("operation-allowed", "ask", effect("git.config", key="core.hooksPath", value="x", scope="local")),
    ("operation-allowed", "deny", effect("git.config", key="core.hooksPath", value="x", scope="global")),
    ("operation-allowed", "allow", effect("git.config", key="user.name", value="Dev", scope="local")),
    ("operation-allowed", "ask", effect("git.config", key="user.name", value="Dev", scope="global")),
    ("operation-allowed", "allow", effect("git.config", key="core.pager", value="cat", scope="local")),
    ("operation-allowed", "ask", effect("git.config", key="commit.gpgsign", value="false", scope="local")),
    ("operation-allowed", "ask", effect("git.hook", skip="1")),
    ("operation-allowed", "allow", effect("process.kill", "1", target="process", by="child")),
    ("operation-allowed", "ask", effect("process.kill", "4242", target="process", by="pid")),
    ("operation-allowed", "ask", effect("process.kill", "node", target="process", by="name")),
    ("operation-allowed", "deny", effect("process.kill", "-1", target="process", by="all")),
    ("operation-allowed", "deny", effect("net.connect", "http://169.254.169.254/latest/", target="url")),
    ("operation-allowed", "allow", effect("net.connect", "https://example.com", target="url")),
    ("operation-allowed", "ask", effect("net.connect", "http://localhost:5000/api/1", target="url", method="DELETE")),
    ("operation-allowed", "ask", effect("net.upload", "https://example.net/u", target="url", upload="file")),
    ("operation-allowed", "allow", effect("net.upload", "http://localhost:3000/u", target="url", upload="file")),
    ("operation-allowed", "deny", effect("net.upload", "https://drop:tok@collect.example.net/r.git", target="url", program="git")),
    ("operation-allowed", "ask", effect("net.remote_exec", "deploy@prod", target="host", via="ssh")),
    ("operation-allowed", "allow", effect("net.remote_exec", "app", target="host", via="docker")),
    ("operation-allowed", "ask", effect("db.write", "sessions", engine="postgres", rows="one")),
    ("operation-allowed", "allow", effect("db.write", "sessions", engine="postgres", rows="one", database="app_dev")),
    ("operation-allowed", "ask", effect("db.write", "sessions", engine="postgres", database="app_dev")),
    ("operation-allowed", "ask", effect("infra.apply", "x", tool="terraform")),
    ("operation-allowed", "allow", effect("infra.apply", "web", tool="docker", local="1")),
    ("operation-allowed", "ask", effect("infra.apply", "web", tool="docker", local="1", context="tcp://prod:2375")),
    ("operation-allowed", "ask", effect("package.publish", "app", manager="npm")),
    ("operation-allowed", "allow", effect("package.install", "vitest", manager="npm")),
    ("operation-allowed", "ask", effect("system.schedule", action="install")),
    ("operation-allowed", "allow", effect("unknown", program="rtk")),
    # budget-ceiling
    ("budget-ceiling", "deny", effect("spend.commit", "campaignBudgets/55", micros="500000000000")),
    ("budget-ceiling", "allow", effect("spend.commit", "campaignBudgets/55", micros="5000000")),
    ("budget-ceiling", "ask", effect("spend.commit", "offering", unknown="1")),
    ("budget-ceiling", "deny", effect("api.call", "model", micros="10000001")),
    ("budget-ceiling", "allow", effect("api.call", "model", micros="250000")),
    ("budget-ceiling", "ask", effect("api.call", "model", unknown="1")),
    ("budget-ceiling", "deny", effect("api.call", "model", unknown="1", endless="1")),
]
_WHERE = situation(guard_paths=("/opt/guard",), agent_pids=(4321, 4000))


@pytest.mark.parametrize(("name", "decision", "one"), ROWS, ids=[f"{row[0]}-{n}" for n, row in enumerate(ROWS)])
def test_reflex(dev, name, decision, one):
    findings = said(BY_ID[name], dev, one, where=_WHERE)
    assert merge(findings).word == decision, [finding.reason for finding in findings]
    for finding in findings:
        assert finding.instinct == name
        assert finding.effect is one
        assert finding.reason
        assert finding.alternative


def test_every_reflex_has_a_twin_in_the_table():
    for instinct in BUILTIN:
        if instinct.tier is Tier.REFLEX and instinct.id != "command-allowed":
            decisions = {row[1] for row in ROWS if row[0] == instinct.id}
            assert "allow" in decisions or instinct.id == "privilege"
            assert decisions & {"deny", "ask"}


def test_files_moved_into_what_is_deleted_ask(dev):
    moved = effect("file.move", "catalog1/*.pdf", to="/srv/work/app/catalog2")
    gone = effect("file.delete", "catalog2", recursive="1")
    assert merge(said(BY_ID["destructive-operation"], dev, moved, gone)) is Decision.ASK
    assert (
        merge(
            said(
                BY_ID["destructive-operation"],
                dev,
                effect("file.move", "dist", to="/srv/work/app/build/old"),
                effect("file.delete", "build"),
            )
        )
        is Decision.ALLOW
    )


@pytest.mark.parametrize(
    ("cost", "budget", "spent", "decision"),
    [
        (0.25, None, None, "allow"),
        (10.0, None, None, "allow"),
        (10.000001, None, None, "deny"),
        (10.0000000001, None, None, "deny"),
        (1, 2, 1.5, "deny"),
        (0.5, 2, 1.5, "allow"),
        (5, 100, 0, "allow"),
        (50, 100, 0, "deny"),
        (-1, None, None, "deny"),
        (float("nan"), None, None, "deny"),
        (float("inf"), None, None, "deny"),
        ("0.50", None, None, "allow"),
        ("free", None, None, "deny"),
        (1e-9, None, None, "allow"),
        (0, None, None, "allow"),
        (True, None, None, "deny"),
        ("1e1", None, 1, "deny"),
    ],
)
def test_the_seeds_metadata(dev, cost, budget, spent, decision):
    metadata = tuple(
        (name, value) for name, value in (("estimatedCost", cost), ("sessionBudget", budget), ("sessionSpent", spent)) if value is not None
    )
    asked = intent(type=IntentType.API_CALL, target="model", metadata=metadata)
    assert merge(said(BY_ID["budget-ceiling"], dev, asked=asked)).word == decision


def test_metadata_may_only_tighten_the_ledger(dev):
    where = situation(spend=(Spend("session", 10_000_000, 6_000_000, 3_500_000),))
    asked = intent(type=IntentType.API_CALL, metadata=(("estimatedCost", 1), ("sessionBudget", 1000), ("sessionSpent", 0)))
    findings = said(BY_ID["budget-ceiling"], dev, asked=asked, where=where)
    assert merge(findings) is Decision.DENY
    assert "9.50 + 1.00 > 10.00" in findings[0].reason


def test_a_value_a_million_times_off_is_named(dev):
    findings = said(BY_ID["budget-ceiling"], dev, effect("spend.commit", "budget", micros="50000000000000"))
    assert "a million times 50.00" in findings[0].reason


def test_prod_is_an_allow_list(prod):
    read = effect("file.read", "/var/log/syslog", program="cat")
    assert merge(said(BY_ID["command-allowed"], prod, read, asked=intent("cat /var/log/syslog"))) is Decision.ALLOW
    push = effect("net.connect", "origin", target="name", program="git")
    assert merge(said(BY_ID["command-allowed"], prod, push, asked=intent("git push origin main"))) is Decision.DENY
    assert merge(said(BY_ID["command-allowed"], prod, effect("process.spawn", "make", target="name", program="make"))) is Decision.DENY


def test_scope_operations_as_in_the_seeds(dev):
    narrow = dev.replace(scope_operations=("file_read", "file.read"), digest="narrow")
    assert verdict(narrow, effect("file.read", "README.md")).allow
    assert verdict(narrow, effect("file.write", "README.md")).reason.startswith("[operation-allowed]")
    assert verdict(narrow, asked=intent(type=IntentType.API_CALL)).decision is Decision.DENY
