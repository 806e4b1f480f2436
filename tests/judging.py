"""Judging in tests: effects made by hand, a situation, and one judgement without a host or with one."""

from __future__ import annotations

from instinct_shell.engine.commands import command_effects
from instinct_shell.engine.judge import judge
from instinct_shell.instincts.registry import BUILTIN
from instinct_shell.model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from instinct_shell.model.fact import Answer
from instinct_shell.model.intent import Intent, IntentType
from instinct_shell.model.situation import Situation

WORKSPACE = "/srv/work/app"
HOME = "/home/dev"


class Still:
    """A clock that stands."""

    def now(self) -> float:
        return 0.0

    def monotonic_us(self) -> int:
        return 0


def effect(
    kind_name: str,
    text: str = "",
    *,
    target: str = "",
    dynamic: str = "",
    program: str = "",
    origin: tuple[str, ...] = (),
    **attributes: str,
) -> Effect:
    """An effect from its kind's name; the target is a path (below the workspace when relative), a pattern when it holds `*`, `?` or `[`."""
    if not target:
        target = "path" if kind_name.startswith("file.") or kind_name in ("git.discard", "code.script", "git.hook") else "object"
        if target == "path" and any(c in text for c in "*?["):
            target = "pattern"
    if target in ("path", "pattern") and text and not text.startswith("/"):
        text = f"{WORKSPACE}/{text}"
    pairs = tuple(sorted((name, str(value)) for name, value in attributes.items()))
    sure = Certainty.UNKNOWN if dynamic else Certainty.CERTAIN
    return Effect(EffectKind(kind_name), Target(TargetKind(target), text, dynamic), sure, program=program, attributes=pairs, origin=origin)


def situation(**changes: object) -> Situation:
    return Situation(home=HOME, user="dev", workspace=WORKSPACE).replace(**changes)


def intent(text: str = "", **changes: object) -> Intent:
    return Intent(IntentType.SHELL_COMMAND, text, cwd=WORKSPACE, env=(("HOME", HOME),)).replace(**changes)


def nothing_known(questions):
    return {question: Answer(False, (), "no host in this test") for question in questions}


def verdict(profile, *effects: Effect, ask=nothing_known, asked: Intent | None = None, where: Situation | None = None, instincts=BUILTIN):
    """The verdict of all instincts over these effects."""
    return judge(asked or intent(), tuple(effects), profile, where or situation(), ask, Still(), instincts)[0]


def said(instinct, profile, *effects: Effect, facts=None, asked: Intent | None = None, where: Situation | None = None):
    """The findings of one instinct."""
    from instinct_shell.model.fact import Facts

    return instinct.judge(asked or intent(), tuple(effects), profile, where or situation(), facts or Facts())


class EmptyHost:
    """A host on which nothing exists: every path leads to itself. `leads` are the links, `globs` what patterns match, `places` what a tool has
    selected (kube, terraform, gcloud, docker), `sizes` what a folder holds."""

    def __init__(
        self,
        leads: dict[str, str] | None = None,
        globs: dict[str, list[str]] | None = None,
        branch: str = "main",
        trees: dict[str, list[str]] | None = None,
        places: dict[str, str] | None = None,
        sizes: dict[str, dict[str, object]] | None = None,
    ) -> None:
        self._leads, self._globs, self._branch, self._trees = leads or {}, globs or {}, branch, trees or {}
        self._places, self._sizes = places or {}, sizes or {}

    def __call__(self, questions):
        return {question: Answer(True, tuple(self._one(question).items())) for question in questions}

    def _one(self, question):
        from instinct_shell.execution.known_packages import look_up
        from instinct_shell.model.fact import QuestionKind

        subject = question.subject
        match question.kind:
            case QuestionKind.RESOLVE:
                real = next(
                    (to + subject[len(name) :] for name, to in self._leads.items() if subject == name or subject.startswith(name + "/")),
                    subject,
                )
                link = subject in self._leads
                return {
                    "path": real,
                    "exists": real != subject,
                    "type": "file" if link else "missing",
                    "final_link": link,
                    "parent": subject if link else real,
                    "case_twin": "",
                    "same_as": "",
                }
            case QuestionKind.GLOB:
                return {"paths": self._globs.get(subject, []), "more": False}
            case QuestionKind.GIT_STATE:
                return {"top": WORKSPACE, "branch": self._branch, "tracked": 0, "modified": 0, "untracked": 0}
            case QuestionKind.TREE:
                counted = {"files": 0, "bytes": 0, "more": False, "untracked": 0, "modified": 0, "protected": self._trees.get(subject, [])}
                return {**counted, **self._sizes.get(subject, {})}
            case QuestionKind.PLACE:
                return {"place": self._places.get(subject.partition(" ")[0], "")}
            case QuestionKind.SYNTAX:
                import subprocess

                run = subprocess.run(
                    ["/bin/bash", "-n"], input=subject.encode("utf-8", "surrogateescape"), capture_output=True, check=False
                )
                return {"ok": run.returncode == 0, "message": run.stderr.decode("utf-8", "replace")}
            case QuestionKind.PACKAGE:
                known, near = look_up(*subject.split(" ")[:2])
                return {"known": known, "near": near, "declared": False}
            case _:
                return {}


_parser = None


def parse(text: str):
    """Parsed by the product's own parsers; one worker for the whole run."""
    global _parser
    if _parser is None:
        from instinct_shell.execution.parsers import WorkerParser

        _parser = WorkerParser(deadline_ms=5_000)
    return _parser.parse(text)


def effects_of(text: str, env: dict[str, str] | None = None):
    """The effects of shell text in the assumed world."""
    return _derive(text, env).effects


def _derive(text: str, env: dict[str, str] | None = None):
    from instinct_shell.effects.derive import derive
    from instinct_shell.shell.invocation import Surroundings

    names = {"HOME": HOME, "USER": "dev", "PWD": WORKSPACE, **(env or {})}
    return derive(parse(text), Surroundings(WORKSPACE, HOME, tuple(names.items()), user="dev"), parse, workspace=WORKSPACE)


def judge_text(text: str, profile, host=None, env: dict[str, str] | None = None, where: Situation | None = None):
    """The verdict over shell text, from parsing to the last tier."""
    unreadable = bool(parse(text).syntax_error)
    derived = _derive(text, env)
    effects = derived.effects
    if profile.allow_programs or profile.rules:
        effects += command_effects(derived.evaluation)
    asked = intent(text, env=(("HOME", HOME), *(env or {}).items()))
    return judge(asked, effects, profile, where or situation(), host or EmptyHost(), Still(), BUILTIN, unreadable=unreadable)[0]
