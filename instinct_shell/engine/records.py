"""What the audit records say: bodies as (name, JSON data) pairs, written by the pipeline and read by `instinct audit` and the replay.

Redaction and chaining are storage's business; here is only what a record holds. `v` is the shape's version: a reader refuses a newer one.
"""

from __future__ import annotations

from ..errors import InstinctError
from ..model.codec import encode
from ..model.digest import text_digest
from ..model.fact import QuestionKind
from ..model.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.intent import Intent
    from ..model.jailspec import JailSpec, RunResult
    from ..model.profile import Profile
    from ..model.record import Hold
    from .judgement import Judgement

    Body = tuple[tuple[str, object], ...]

SHAPE = 1
# Of a file tool's intent these say what it does, beside content and target.
FILE_METADATA = ("destination", "edits", "hunks", "recursive", "exclusive")


def judged(judgement: Judgement, profile: Profile, *, request: str = "", grant: str = "") -> Body:
    """One judged intent, allowed ones too: what was asked, what it would do, what was known, and what each instinct said.

    Of the environment only the names are kept: values are secrets until shown otherwise.
    """
    intent, verdict = judgement.intent, judgement.verdict
    body: list[tuple[str, object]] = [
        ("v", SHAPE),
        ("product", VERSION),
        ("profile", profile.name),
        ("profile_digest", profile.digest),
        ("door", intent.door),
        ("session", intent.session),
        ("agent", intent.agent),
        ("cwd", intent.cwd),
        ("workspace", judgement.situation.workspace),
        ("intent", encode(intent.replace(env=()))),
        ("env_names", [name for name, _ in intent.env]),
        ("intent_digest", intent_digest(intent, profile)),
        ("parser", judgement.parser),
        ("effects", encode(judgement.effects)),
        ("situation", encode(judgement.situation)),
        ("facts", encode(judgement.facts)),
        ("decision", verdict.decision.word),
        ("tier", str(verdict.tier)),
        ("findings", encode(verdict.findings)),
        ("ran", encode(verdict.ran)),
        ("elapsed_us", judgement.elapsed_us),
    ]
    if request:
        body.append(("request", request))
    if grant:
        body.append(("grant", grant))
    if judgement.parsed is not None and judgement.parsed.syntax_error:
        body.append(("unreadable", 1))
    if judgement.refused:
        body.append(("refused", 1))
    return tuple(body)


def started(spec: JailSpec, hold: Hold | None, undo: object) -> Body:
    """A run begins. Without a `finished` of the same run the outcome is unknown, which is a normal state."""
    return (
        ("v", SHAPE),
        ("level", str(spec.least_level)),
        ("network", spec.network),
        ("read_only", spec.read_only),
        *((("credentials", list(spec.credentials)),) if spec.credentials else ()),
        *((("sockets", list(spec.sockets)),) if spec.sockets else ()),
        ("spec_digest", text_digest(repr(spec.replace(env=())))),
        ("hold", encode(hold)),
        ("undo", encode(undo)),
    )


_MOST_REFUSED = 4


def refused_connections(result: RunResult) -> tuple[str, ...]:
    """What the network allow-list refused, in words for whoever gave the command: most programs only say that a connection failed."""
    places = dict.fromkeys((each.host, each.port, each.refused) for each in result.connections if each.state == "refused")
    told = [
        f"network: `{host}:{port}` was refused: {why}"
        + ("; a person can add it to [network] allow in their own profile" if "list" in why else "")
        for host, port, why in places
    ]
    rest = len(told) - _MOST_REFUSED
    return (*told[:_MOST_REFUSED], *((f"network: {rest} further hosts were refused; the audit record names them",) if rest > 0 else ()))


def finished(result: RunResult, changes: object, hold: Hold | None = None, cause: str = "") -> Body:
    """How a run ended, what was seen to change, and why it failed when that was the jail."""
    body = [("v", SHAPE), *((name, encode(getattr(result, name))) for name in result._fields)]
    return (*body, ("settled_micros", hold.amount if hold else 0), ("changes", encode(changes)), *((("cause", cause),) if cause else ()))


def fault(error: BaseException) -> Body:
    """We failed and nothing ran. Of an error that is none of ours only the kind is told."""
    if not isinstance(error, InstinctError):
        error = InstinctError(f"{type(error).__name__} before it started")
    return (("v", SHAPE), ("code", error.code), ("message", error.message))


def intent_digest(intent: Intent, profile: Profile) -> str:
    """What a grant is given for: exactly this text, here, under this profile; of a file tool's intent also what is replaced and where it goes."""
    parts = (str(intent.type), intent.content, intent.target, intent.cwd, profile.digest, intent.argv0, *intent.positional)
    if str(intent.type).startswith("file_"):
        parts += tuple(repr(intent.meta(name)) for name in FILE_METADATA)
    return text_digest("\0".join(parts))


def grant_digest(judgement: Judgement, profile: Profile) -> str:
    """What a person approves and a run uses up: the intent's digest and, after a `+`, that of the scripts it runs as they were judged."""
    digest = intent_digest(judgement.intent, profile)
    scripts = sorted(
        f"{question.subject}\0{answer.get('sha256')}"
        for question, answer in judgement.facts.items()
        if question.kind is QuestionKind.SCRIPT and answer.known
    )
    return f"{digest}+{text_digest(chr(0).join(scripts))}" if scripts else digest
