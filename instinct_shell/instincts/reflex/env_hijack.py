"""Environment hijack: variables that make harmless programs run something else.

*Stops* `LD_PRELOAD`, `LD_AUDIT`, `BASH_ENV`, `ENV`, `PROMPT_COMMAND`, exported functions and their like. *Asks* for variables that name a program
to run (`GIT_SSH_COMMAND`, `PAGER`, `EDITOR`, `LESSOPEN`, `NODE_OPTIONS=--require ...`), and for a `PATH` that puts a relative or scratch
folder first.

*Lets pass* ordinary settings: `NODE_ENV=test`, `NODE_OPTIONS=--max-old-space-size=4096`, `PATH="$PWD/node_modules/.bin:$PATH"`,
`GIT_EDITOR=true`, `PAGER=cat`, `LD_LIBRARY_PATH` inside the workspace.

*How it was fooled before*: `LD_PRELOAD=build/evil.so ls`, `BASH_ENV=x bash -c true`, `PATH=./x:$PATH git status`, `GIT_EXTERNAL_DIFF`,
`git -c core.pager=...` (judged with git's keys by operation-allowed).

*To adjust*: `"env.hijack"` in `[effects]`, `deny` in `[environment]`.
"""

from __future__ import annotations

import re

from ...model.effect import Effect, EffectKind
from ...model.verdict import Decision, Tier
from ..base import BuiltIn, shown
from ..ground import Ground, ground_of, inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.fact import Facts
    from ...model.intent import Intent
    from ...model.profile import Profile
    from ...model.situation import Situation
    from ...model.verdict import Finding

_ALWAYS = (
    "LD_PRELOAD",
    "enable -f",
    "LD_AUDIT",
    "LD_DEBUG_OUTPUT",
    "BASH_ENV",
    "ENV",
    "PROMPT_COMMAND",
    "PS4",
    "SHELLOPTS",
    "BASHOPTS",
    "BASH_XTRACEFD",
    "DYLD_INSERT_LIBRARIES",
    "GLIBC_TUNABLES",
    "GCONV_PATH",
    "PERL5DB",
    "PYTHONBREAKPOINT",
)
# Programs that only show or accept: naming one of them is no hijack.
HARMLESS_COMMANDS = frozenset(
    (
        "",
        "true",
        ":",
        "cat",
        "less",
        "more",
        "most",
        "head",
        "vi",
        "vim",
        "nvim",
        "nano",
        "emacs",
        "code",
        "false",
        "bat",
        "delta",
        "less -FRX",
        "less -R",
        "code --wait",
        "vim -u NONE",
        "/bin/true",
        "/bin/cat",
        "/usr/bin/less",
        "ssh",
        "/usr/bin/ssh",
        "xdg-open",
        "firefox",
        "0",
        "never",
    )
)
_HARMLESS_NODE = (
    "--max-old-space-size",
    "--max_old_space_size",
    "--no-warnings",
    "--trace-warnings",
    "--enable-source-maps",
    "--unhandled-rejections",
    "--experimental-vm-modules",
    "--openssl-legacy-provider",
    "--inspect",
    "--no-deprecation",
    "--trace-deprecation",
    "--stack-trace-limit",
    "--expose-gc",
    "--experimental-strip-types",
    "--test",
)
_JAVA = ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "MAVEN_OPTS", "GRADLE_OPTS")
_PATHS_OF_CODE = (
    "PYTHONPATH",
    "NODE_PATH",
    "PERL5LIB",
    "RUBYLIB",
    "CLASSPATH",
    "LD_LIBRARY_PATH",
    "GOFLAGS",
    "PKG_CONFIG_PATH",
    "DYLD_LIBRARY_PATH",
)


class EnvHijack(BuiltIn):
    id = "env-hijack"
    tier = Tier.REFLEX

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        found = []
        for effect in effects:
            if effect.kind is not EffectKind.ENV_HIJACK:
                continue
            name = effect.get("variable") or effect.target.text
            value = effect.get("value")
            ground = ground_of(intent, profile, situation)
            instead = "run the command without setting the variable"
            if name == "LD_PRELOAD" and _is_allocator(value):
                continue
            if name in _ALWAYS or name.startswith("BASH_FUNC_"):
                found.append(
                    self.finding(
                        Decision.DENY, f"sets {shown(name)}, which loads other code into the programs that follow", instead, effect=effect
                    )
                )
            elif not name.startswith("INSTINCT_") and not _harmless(name, value, ground):
                decision = max(profile.effect_decision(EffectKind.ENV_HIJACK), Decision.ASK)
                found.append(
                    self.finding(
                        decision, f"sets {shown(name)} to {shown(value)}, which decides what other programs run", instead, effect=effect
                    )
                )
        return tuple(found)


# Libraries of the system that are put before others to measure or to check, and packages of that kind for node.
_ALLOCATOR = (
    r"(?:/usr(?:/local)?/lib|/lib|/opt/homebrew/lib|/opt/local/lib)(?:64)?/(?:[\w.-]+/)*"
    r"lib(?:jemalloc|tcmalloc\w*|mimalloc|hoard|asan|tsan|ubsan|lsan|eatmydata|faketime)[\w.-]*\.so[\d.]*"
)
_LOADERS = frozenset(
    (
        "tsx tsx/esm tsx/cjs ts-node/register ts-node/esm ts-node/register/transpile-only esbuild-register @swc-node/register @swc/register @babel/register "
        "source-map-support/register tsconfig-paths/register dotenv/config esm sucrase/register global-agent/bootstrap"
    ).split()
)


def _is_allocator(value: str) -> bool:
    return ".." not in value and all(re.fullmatch(_ALLOCATOR, part) for part in re.split(r"[:\s]+", value.strip()))


def _harmless_node(value: str) -> bool:
    """Flags without code, and well-known loaders of the project's own dependencies."""
    words = value.replace("=", " ").split() if re.search(r"--(?:require|import|loader|experimental-loader)\b|(?:^|\s)-r\b", value) else value.split()
    loads = False
    for word in words:
        if loads and word not in _LOADERS:
            return False
        loads = word in ("--require", "-r", "--import", "--loader", "--experimental-loader")
        if word.startswith("-") and not loads and not word.startswith(_HARMLESS_NODE):
            return False
    return not loads


def _harmless(name: str, value: str, ground: Ground) -> bool:
    if name == "PATH":
        return _harmless_path(value, ground)
    if name == "NODE_OPTIONS":
        return _harmless_node(value)
    if name in _JAVA:
        return "-javaagent" not in value and "-agentpath" not in value and "-agentlib" not in value
    if name in _PATHS_OF_CODE:
        return all(
            not part.startswith("/") or ground.in_workspace(part) or part.startswith(("/usr/", "/opt/"))
            for part in value.split(":")
            if part
        )
    if name in ("RUBYOPT", "PERL5OPT"):
        return value.strip() in ("", "-w", "-W:no-deprecated", "-W0", "-W1", "-W2")
    if name in ("SHELL", "HOME", "TMPDIR", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_TERMINAL_PROMPT") or name.startswith(
        ("GIT_AUTHOR_", "GIT_COMMITTER_")
    ):
        return True
    return value.strip() in HARMLESS_COMMANDS


def _harmless_path(value: str, ground: Ground) -> bool:
    """No relative and no scratch folder in front of the system's; folders of the workspace's own tools are usual."""
    for part in value.split(":"):
        if part in ("$PATH", "${PATH}"):
            break
        if not part.startswith("/"):
            if part.startswith(("$", "~")) or (part and part.rstrip("/").endswith("bin") and not part.startswith("..")):
                continue
            return False
        if any(inside(part, folder) for folder in ground.scratch):
            return False
        if ground.in_workspace(part) and not part.rstrip("/").endswith("bin"):
            return False
    return True
