"""One HTTP request as a command line or a program spells it, and what it does: connect, upload, destroy, charge."""

from __future__ import annotations

import posixpath
import re

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known, literal
from . import spend
from .call import Call, Scene
from .database_apis import api_effects
from .hosts import address_attributes, host_of, is_local, url_target, url_text
from .roles import file_effects
from .verbs import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


_DESTROYS = re.compile(
    r"\bmutation\b[^{]*\{[^}]*?\b\w*(?:delete|destroy|remove|drop|purge|wipe|terminate|erase|truncate)\w*\s*[({]", re.IGNORECASE | re.DOTALL
)


_DESTROY_PATH = re.compile(
    r"[/:.](?:delete|destroy|purge|wipe|terminate|drop|deleteAll|delete_all|_delete_by_query|FLUSHALL)(?:[/?]|$)", re.IGNORECASE
)

# The address of one row by its key, below a collection.
_ONE_OBJECT = re.compile(r"^(?:\w+://)?[^/]+/(?:[^/?#]+/)+(?:\d+|[0-9a-f]{24}|[0-9a-f]{8}-[0-9a-f-]{27})(?:[?#]|$)", re.IGNORECASE)


# Addresses at which a request says something to the public, or writes to many people.
_PUBLISHED = re.compile(
    r"/api/v1/statuses\b|//api\.(?:twitter|x)\.com/2/tweets|/1\.1/statuses/update|//api\.linkedin\.com/(?:v2/ugcPosts|rest/posts)|//oauth\.reddit\.com/api/(?:submit|comment)|"
    r"com\.atproto\.repo\.createRecord|/campaigns/[\w-]+/(?:actions/)?send|//api\.sendgrid\.com/v3/(?:mail/send|marketing)|//api\.mailgun\.net/v3/[^/]+/messages|"
    r"//api\.postmarkapp\.com/email|/Messages\.json|//slack\.com/api/chat\.postMessage|//api\.telegram\.org/bot[^/]*/send|//graph\.facebook\.com/[^/]+/[^/]+/(?:feed|photos)|"
    r"//api\.medium\.com/v1/users/[^/]+/posts|/wp-json/wp/v2/posts|//api\.resend\.com/emails|//api\.brevo\.com/v3/smtp/email|//dev\.to/api/articles|"
    r"//registry\.npmjs\.org/[\w@%-]+$|//upload\.pypi\.org/",
    re.IGNORECASE,
)
_GIT_REF = re.compile(r"/repos/[^/]+/[^/]+/git/refs/heads/([^/?#]+)")


_OVERRIDE = re.compile(r"^x-(?:http-)?method(?:-override)?\s*:\s*(\w+)", re.IGNORECASE)


def fed_with(call: Call, scene: Scene) -> str:
    """What stdin carries out: "file" when files are read into it (`cat x | curl -d @-` is `curl -d @x`), else "stdin"."""
    from . import flow

    stdin = call.invocation.stdin
    if stdin.kind == "file":
        return "file"
    read = (effect for index in flow.upstream(stdin.producers, scene) for effect in scene.effects_of.get(index, ()))
    return "file" if any(effect.kind is EffectKind.FILE_READ and not effect.get("remote") for effect in read) else "stdin"


class Request:
    """One HTTP request as the command line spells it; `effects` says what it does."""

    __slots__ = ("body", "dynamic", "headers", "in_query", "method", "sends", "urls")

    def __init__(self) -> None:
        self.urls: list[Field] = []
        self.method = ""
        self.body: list[str] = []
        self.sends: list[str] = []  # what is sent: "text" | "file" | "stdin"
        self.headers: list[Field] = []
        self.dynamic = False
        self.in_query = False  # data goes into the URL of a GET

    def effects(self, call: Call, scene: Scene) -> Iterator[Effect]:
        """Connections, uploads, destroys and spending of the request, once per URL."""
        for header in self.headers:
            match = _OVERRIDE.match(shown(header))
            if match:
                self.method = match[1]
        method = (self.method or ("POST" if self.sends else "GET")).upper()
        body = "\n".join(self.body)
        many = "loop" in call.invocation.context or any(not url.glob and (url.known is Known.SET or url.many) for url in self.urls)
        for url in self.urls:
            yield from self._one(call, scene, url, method, body, many)

    def _one(self, call: Call, scene: Scene, url: Field, method: str, body: str, many: bool) -> Iterator[Effect]:
        target = url_target(url)
        if target.text.startswith("file:"):
            yield from file_effects(call, scene, EffectKind.FILE_READ, literal(re.sub(r"^file:/*", "/", target.text)))
            return
        address = address_attributes(host_of(target.text)) if target.text else {}
        repeated = "1" if many else ""
        lost = api_effects(call, scene, target.text, method, body) if method != "GET" or "?" in target.text or "/flush" in target.text.lower() else ()
        if lost:
            yield from lost
            return
        if method == "DELETE" or self._destroys(target.text, method, body):
            tool = "graphql" if method != "DELETE" and _DESTROYS.search(body) else "http"
            own = tool == "http" and not many and is_local(host_of(target.text)) and _ONE_OBJECT.search(target.text) is not None
            yield call.effect(EffectKind.INFRA_DESTROY, target, address, tool=tool, verb=method, many=repeated, own="1" if own else "")
            return
        if method not in ("GET", "HEAD") and (match := _PUBLISHED.search(target.text)):
            yield call.effect(EffectKind.PACKAGE_PUBLISH, target, tool="http", name=match[0].strip("/")[:60])
        ref = _GIT_REF.search(target.text)
        if ref and method in ("PATCH", "PUT", "POST") and re.search(r"\"?force\"?\s*[:=]\s*\"?true", body):
            yield call.effect(EffectKind.GIT_FORCE_PUSH, Target(TargetKind.REF, f"origin/{ref[1]}"), remote="origin", branch=ref[1])
        leaves = "file" in self.sends or "stdin" in self.sends if self.in_query else bool(self.sends) and method not in ("GET", "HEAD")
        if leaves:
            how = next((kind for kind in ("file", "stdin", "text") if kind in self.sends), "text")
            yield call.effect(EffectKind.NET_UPLOAD, target, address, method=method, upload=how, many=repeated)
        else:
            yield call.effect(EffectKind.NET_CONNECT, target, address, method=method, many=repeated)
        yield from spend.request_effects(call, scene, target.text, method, body, dynamic=self.dynamic, many=many)

    def _destroys(self, url: str, method: str, body: str) -> bool:
        if method in ("GET", "HEAD", "OPTIONS"):
            return False
        return bool(_DESTROYS.search(body)) or bool(_DESTROY_PATH.search(url.split("?", 1)[0]))

    def text(self, field: Field) -> None:
        """Notes text that is sent as it stands."""
        self.sends.append("text")
        self.body.append(shown(field) if field.known is not Known.DYNAMIC else field.prefix + " " + field.suffix)
        self.dynamic = self.dynamic or field.known is Known.DYNAMIC

    def file(self, call: Call, scene: Scene, name: Field) -> Iterator[Effect]:
        """Notes a file that is sent; "-" is stdin."""
        if name.text in ("-", "/dev/stdin", "."):
            from .output import stdin_text

            self.sends.append(fed_with(call, scene))
            sent = stdin_text(call.invocation, scene)
            self.body.append(sent or "")
            self.dynamic = self.dynamic or sent is None
            return
        self.sends.append("file")
        found = tuple(file_effects(call, scene, EffectKind.FILE_READ, name, source_of_copy="1"))
        for effect in found:
            written = scene.files.get(effect.target.text)
            self.body.append(written or "")
            self.dynamic = self.dynamic or written is None
        yield from found


def remote_name(url: Field) -> Field:
    """The file name under which a URL is saved."""
    text = url_text(url)
    if text is None:
        return Field(Known.DYNAMIC, prefix="./", reason="named after a URL that is not known", origins=url.origins)
    path = text.split("://", 1)[-1].split("?", 1)[0].split("#", 1)[0]
    return literal(posixpath.basename(path) if "/" in path and not path.endswith("/") else "index.html")


def joined_path(folder: Field | None, name: Field) -> Field:
    """folder/name, when both are known to the letter."""
    if folder is None:
        return name
    if folder.text is not None and name.text is not None:
        return literal(posixpath.join(folder.text, name.text))
    prefix = folder.text.rstrip("/") + "/" if folder.text is not None else folder.prefix
    return Field(Known.DYNAMIC, prefix=prefix, reason=name.reason or folder.reason or "one of several names")


def without_head(field: Field, skip: int) -> Field:
    from .verbs import part_of

    return part_of(field, skip)
