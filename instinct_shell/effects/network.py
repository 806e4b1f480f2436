"""Programs that speak HTTP and its kin: curl, wget, httpie, aria2c. What goes out, what comes in, and where it is written.

`net.connect` asks for something, `net.upload` sends something (upload = text, file, stdin, env), `infra.destroy` is a DELETE or a mutation
that deletes. Charged APIs and ad budgets are worked out in spend.py.
"""

from __future__ import annotations

import posixpath
import re

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known, literal
from . import spend
from .call import Call, Program, Scene
from .hosts import address_attributes, host_of, url_target, url_text
from .roles import file_effects, path_effects
from .verbs import head_of, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_DESTROYS = re.compile(
    r"\bmutation\b[^{]*\{[^}]*?\b\w*(?:delete|destroy|remove|drop|purge|wipe|terminate|erase|truncate)\w*\s*[({]", re.IGNORECASE | re.DOTALL
)
_DESTROY_PATH = re.compile(
    r"[/:.](?:delete|destroy|purge|wipe|terminate|drop|deleteAll|delete_all|_delete_by_query|FLUSHALL)(?:[/?]|$)", re.IGNORECASE
)
_OVERRIDE = re.compile(r"^x-(?:http-)?method(?:-override)?\s*:\s*(\w+)", re.IGNORECASE)
_CONTROL_SOCKETS = ("docker.sock", "podman.sock", "containerd.sock", "crio.sock", "lxd/unix.socket")


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
        if method == "DELETE" or self._destroys(target.text, method, body):
            tool = "graphql" if method != "DELETE" and _DESTROYS.search(body) else "http"
            yield call.effect(EffectKind.INFRA_DESTROY, target, address, tool=tool, verb=method, many=repeated)
            return
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


# ---------------------------------------------------------------- curl

_CURL_OPTIONS = (
    "-A --user-agent -b --cookie -c --cookie-jar -C --continue-at -d --data --data-ascii --data-binary --data-raw "
    "--data-urlencode --json "
    "-D --dump-header -e --referer -E --cert --cert-type -F --form --form-string -h= -H --header -K --config -m "
    "--max-time -o --output "
    "--output-dir -P --ftp-port -Q --quote -r --range -T --upload-file -t --telnet-option -u --user -U --proxy-user "
    "-w --write-out -x --proxy "
    "--preproxy -X --request -y --speed-time -Y --speed-limit -z --time-cond --url --url-query --key --key-type "
    "--cacert --capath --ciphers "
    "--connect-timeout --connect-to --resolve --retry --retry-delay --retry-max-time --limit-rate --max-redirs "
    "--unix-socket "
    "--abstract-unix-socket --interface --trace --trace-ascii --stderr --oauth2-bearer --aws-sigv4 --netrc-file "
    "--noproxy --proto --socks5 "
    "--socks5-hostname --socks4 --hostpubmd5 --pass --pubkey --max-filesize --dns-servers --doh-url --etag-save "
    "--etag-compare --hsts "
    "--alt-svc --libcurl --mail-from --mail-rcpt --mail-auth --proto-default --request-target --service-name "
    "--tls-max --tls13-ciphers "
    "--cert-status --local-port --keepalive-time --happy-eyeballs-timeout-ms --rate --variable --expand-url "
    "--expand-data --engine --egd-file"
)
_CURL_LONGS = (
    "--get --head --remote-name --remote-name-all --remote-header-name --location --silent --show-error --fail --insecure --compressed"
)


def curl(call: Call, scene: Scene) -> Iterator[Effect]:
    """curl, with the groups that `--next` begins judged together (over-reading: any method or body may belong to any URL)."""
    request = Request()
    request.urls = [*call.operands, *(f for o, f in call.values if o in ("--url", "--expand-url"))]
    method = call.value("-X", "--request")
    get = call.has("-G", "--get")
    if method is not None:
        request.method = shown(method)
    elif call.has("-I", "--head"):
        request.method = "HEAD"
    elif call.has("-T", "--upload-file"):
        request.method = "PUT"
    for option, field in call.values:
        yield from _curl_option(option, field, request, call, scene)
    if get and method is None:
        request.method, request.in_query = "GET", True
    yield from _curl_outputs(call, scene, request)
    yield from request.effects(call, scene)


def _curl_option(option: str, field: Field, request: Request, call: Call, scene: Scene) -> Iterator[Effect]:
    if option in ("-d", "--data", "--data-ascii", "--data-binary", "--json", "--expand-data"):
        head = head_of(field)
        if head.startswith("@"):
            yield from request.file(call, scene, _tail(field, 1))
        else:
            request.text(field)
    elif option == "--data-raw" or option == "--form-string" or option == "--url-query":
        if option != "--url-query":
            request.text(field)
    elif option == "--data-urlencode":
        head = head_of(field)
        name, at, _ = head.partition("@")
        if at and "=" not in name:
            yield from request.file(call, scene, _tail(field, len(name) + 1))
        else:
            request.text(field)
    elif option in ("-F", "--form"):
        head = head_of(field)
        match = re.match(r"[^=]*=[@<]", head)
        if match:
            rest = _tail(field, len(match[0]))
            yield from request.file(call, scene, literal(rest.text.split(";", 1)[0].strip('"')) if rest.text is not None else rest)
        else:
            request.text(field)
    elif option in ("-T", "--upload-file"):
        yield from request.file(call, scene, field)
    elif option in ("-H", "--header"):
        request.headers.append(field)
        if (field.text or field.prefix).startswith("@"):
            yield from file_effects(call, scene, EffectKind.FILE_READ, _tail(field, 1), source_of_copy="1")
    elif option in ("-K", "--config"):
        if field.text != "-":
            yield from file_effects(call, scene, EffectKind.FILE_READ, field)
        yield from _curl_config(field, call, scene)
    elif option in ("-b", "--cookie") and "=" not in shown(field):
        yield from file_effects(call, scene, EffectKind.FILE_READ, field)
    elif option == "--unix-socket" and shown(field).endswith(_CONTROL_SOCKETS):
        yield call.effect(EffectKind.SYSTEM_PRIVILEGE, Target(TargetKind.PATH, shown(field)), tool="docker-socket")


def _curl_config(field: Field, call: Call, scene: Scene) -> Iterator[Effect]:
    """`-K FILE`: options, one a line; followed when the text is known."""
    from .output import stdin_text

    if field.text == "-":
        text = stdin_text(call.invocation, scene)
    else:
        named = file_effects(call, scene, EffectKind.FILE_READ, field)
        text = next((scene.files.get(effect.target.text) for effect in named), None)
    if text is None:
        yield call.effect(EffectKind.NET_UPLOAD, Target(TargetKind.URL, "", "the request stands in a configuration file"), upload="file")
        return
    words = [literal("curl")]
    for line in text.splitlines():
        match = re.match(r"\s*-{0,2}([\w-]+)\s*[\s=:]\s*(.*?)\s*$", line)
        if match and not line.lstrip().startswith("#") and match[1] not in ("K", "config"):
            dashes = "-" if len(match[1]) == 1 else "--"
            words += [literal(dashes + match[1]), literal(match[2].strip('"'))] if match[2] else [literal(dashes + match[1])]
    yield from scene.nested_argv(tuple(words), call, via="curl -K")


def _curl_outputs(call: Call, scene: Scene, request: Request) -> Iterator[Effect]:
    folder = call.value("--output-dir")
    for option, field in call.values:
        if option in (
            "-o",
            "--output",
            "-D",
            "--dump-header",
            "-c",
            "--cookie-jar",
            "--trace",
            "--trace-ascii",
            "--stderr",
            "--etag-save",
            "--libcurl",
            "--hsts",
            "--alt-svc",
        ):
            if field.text != "-":
                place = _joined(folder, field) if folder is not None and option in ("-o", "--output") else field
                yield from file_effects(call, scene, EffectKind.FILE_WRITE, place)
        elif option in ("-w", "--write-out"):
            for name in re.findall(r"%output\{(?:>>)?([^}]+)\}", shown(field)):
                yield from file_effects(call, scene, EffectKind.FILE_WRITE, literal(name))
    if call.has("-O", "--remote-name", "--remote-name-all", "-J", "--remote-header-name"):
        for url in request.urls:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, _joined(folder, remote_name(url)))


def remote_name(url: Field) -> Field:
    """The file name under which a URL is saved."""
    text = url_text(url)
    if text is None:
        return Field(Known.DYNAMIC, prefix="./", reason="named after a URL that is not known", origins=url.origins)
    path = text.split("://", 1)[-1].split("?", 1)[0].split("#", 1)[0]
    return literal(posixpath.basename(path) if "/" in path and not path.endswith("/") else "index.html")


def _joined(folder: Field | None, name: Field) -> Field:
    """folder/name, when both are known to the letter."""
    if folder is None:
        return name
    if folder.text is not None and name.text is not None:
        return literal(posixpath.join(folder.text, name.text))
    prefix = folder.text.rstrip("/") + "/" if folder.text is not None else folder.prefix
    return Field(Known.DYNAMIC, prefix=prefix, reason=name.reason or folder.reason or "one of several names")


def _tail(field: Field, skip: int) -> Field:
    from .verbs import part_of

    return part_of(field, skip)


# ---------------------------------------------------------------- wget, httpie, aria2c

_WGET_OPTIONS = (
    "-O --output-document -o --output-file -a --append-output -i --input-file -P --directory-prefix --post-data "
    "--post-file --body-data "
    "--body-file --method --header -e --execute -U --user-agent --user --password -t --tries -T --timeout -w --wait "
    "-Q --quota -l --level "
    "-A --accept -R --reject -D --domains -I -X --load-cookies --save-cookies --config --base -B --certificate "
    "--private-key --ca-certificate "
    "--referer --limit-rate --use-askpass --rejected-log --warc-file --start-pos --bind-address --cut-dirs "
    "--regex-type --accept-regex "
    "--reject-regex --default-page --dns-timeout --connect-timeout --read-timeout --waitretry --ca-directory "
    "--restrict-file-names -Y --exclude-domains"
)
_WGET_LONGS = "--spider --recursive --mirror --quiet --no-clobber --continue --timestamping --background --no-check-certificate"


def wget(call: Call, scene: Scene) -> Iterator[Effect]:
    """wget writes a file named after each URL unless told otherwise."""
    request = Request()
    request.urls = list(call.operands)
    method = call.value("--method")
    request.method = shown(method) if method is not None else "HEAD" if call.has("--spider") else ""
    for option, field in call.values:
        if option in ("--post-file", "--body-file"):
            yield from request.file(call, scene, field)
        elif option in ("--post-data", "--body-data"):
            request.text(field)
        elif option == "--header":
            request.headers.append(field)
        elif option in ("-i", "--input-file") and field.text != "-":
            yield from file_effects(call, scene, EffectKind.FILE_READ, field)
            yield call.effect(EffectKind.NET_CONNECT, Target(TargetKind.URL, "", "the addresses stand in a file"), method="GET")
        elif option in ("-o", "--output-file", "--save-cookies", "--rejected-log", "--warc-file") and field.text != "-":
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, field)
        elif option in ("-a", "--append-output"):
            yield from file_effects(call, scene, EffectKind.FILE_APPEND, field)
        elif option == "--use-askpass":
            yield from scene.nested_argv((field,), call, via="wget --use-askpass")
        elif option in ("-e", "--execute") and re.match(r"\s*use_?askpass\s*=", shown(field)):
            yield from scene.nested_shell(shown(field).split("=", 1)[1], call, via="wget -e use_askpass")
    output = call.value("-O", "--output-document")
    folder = call.value("-P", "--directory-prefix")
    if output is not None and output.text != "-":
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, output)
    elif output is None and not call.has("--spider"):
        kind = (
            EffectKind.FILE_WRITE
            if call.has("-N", "--timestamping", "-c", "--continue", "-r", "--recursive", "-m", "--mirror")
            else EffectKind.FILE_CREATE
        )
        for url in request.urls:
            yield from file_effects(call, scene, kind, _joined(folder, remote_name(url)))
    yield from request.effects(call, scene)


def httpie(call: Call, scene: Scene) -> Iterator[Effect]:
    """`http [METHOD] URL [ITEM...]`: key=value and key:=json are sent as data, key@file and @file as files, key:value are headers."""
    request = Request()
    words = list(call.operands)
    if (
        words
        and words[0].text is not None
        and re.fullmatch(r"[A-Za-z]+", words[0].text)
        and words[0].text.upper() == words[0].text
        and len(words) > 1
    ):
        request.method = words.pop(0).text or ""
    request.urls = words[:1]
    for field in words[1:]:
        head = head_of(field)
        match = re.match(r"[^=:@]*(:=@|=@|@|:=|==|=|:)", head)
        if match is None:
            continue
        if match[1] in (":=@", "=@", "@"):
            yield from request.file(call, scene, _tail(field, len(match[0])))
        elif match[1] in (":=", "="):
            request.text(field)
        elif match[1] == ":":
            request.headers.append(field)
    if not call.has("--ignore-stdin") and call.invocation.stdin.kind in ("pipe", "text", "file"):
        yield from request.file(call, scene, literal("-"))
    for option, field in call.values:
        if option in ("-o", "--output"):
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, field)
        elif option == "--raw":
            request.text(field)
    if call.has("-d", "--download") and call.value("-o", "--output") is None:
        for url in request.urls:
            yield from file_effects(call, scene, EffectKind.FILE_CREATE, remote_name(url))
    if request.sends and not request.method:
        request.method = "POST"
    if not call.has("--offline"):
        yield from request.effects(call, scene)


def downloader(call: Call, scene: Scene) -> Iterator[Effect]:
    """aria2c, axel, youtube-dl and the like: files land in a folder; hooks run commands."""
    folder = call.value("-d", "--dir", "-P", "--paths") if call.name != "axel" else None
    output = call.value("-o", "--out", "--output")
    for option, field in call.values:
        if option.startswith("--on-") or option == "--exec":
            text = field.text
            if text is None:
                yield call.effect(EffectKind.CODE_OPAQUE, reason=field.reason, source="variable", dynamic="interpreter")
            else:
                yield from scene.nested_shell(text, call, via=f"{call.name} {option}")
        elif option in ("-i", "--input-file", "-a", "--batch-file", "--cookies", "--load-cookies"):
            yield from file_effects(call, scene, EffectKind.FILE_READ, field)
    for url in call.operands:
        yield call.effect(EffectKind.NET_CONNECT, url_target(url), address_attributes(host_of(shown(url))), method="GET")
        name = output if output is not None else remote_name(url)
        yield from path_effects(call, EffectKind.FILE_WRITE, _joined(folder, name), call.invocation.cwd, scene)


def tunnel(call: Call, scene: Scene) -> Iterator[Effect]:
    """ngrok, cloudflared ...: opens a port of this machine to the world."""
    words = [shown(word) for word in call.operands]
    if words[:1] in (["http"], ["tcp"], ["tls"], ["start"], ["tunnel"], ["local"], ["funnel"], ["serve"], ["share"]) or call.name in (
        "lt",
        "localtunnel",
    ):
        if not set(words) & {"list", "info", "status", "login", "--version"}:
            yield call.effect(EffectKind.NET_LISTEN, Target(TargetKind.HOST, "public"), public="1", tool=call.name)


PROGRAMS: tuple[Program, ...] = (
    Program(("curl", "curlie"), _CURL_OPTIONS, describe=curl, longs=_CURL_LONGS, summary="transfers by URL"),
    Program(("wget", "wget2"), _WGET_OPTIONS, describe=wget, longs=_WGET_LONGS, summary="downloads by URL into files"),
    Program(
        ("http", "https", "xh", "xhs"),
        "-o --output -a --auth -A --auth-type --session --verify --timeout --proxy -p --print -s --style "
        "--raw --cert --cert-key --pretty --max-redirects",
        describe=httpie,
        summary="HTTP requests by items",
    ),
    Program(
        ("aria2c",),
        "-d --dir -o --out -i --input-file -s --split -x --max-connection-per-server -j --on-download-complete "
        "--on-download-start --on-download-error --on-download-stop --on-download-pause --on-bt-download-complete "
        "--load-cookies -k --header",
        describe=downloader,
        summary="downloads by URL into files",
    ),
    Program(
        ("axel",),
        "-o --output -n --num-connections -s --max-speed -H --header -U --user-agent",
        describe=downloader,
        summary="downloads by URL",
    ),
    Program(
        ("youtube-dl", "yt-dlp"),
        "-o --output -P --paths -f --format -a --batch-file --exec --cookies -r --limit-rate -S --proxy -u -p",
        describe=downloader,
        summary="downloads media",
    ),
    Program(
        ("ngrok", "cloudflared", "lt", "localtunnel", "bore", "tailscale", "frpc", "zrok"),
        "--port -p --subdomain --url --config",
        describe=tunnel,
        summary="opens a local port to the world",
    ),
    Program(
        (
            "ping",
            "ping6",
            "fping",
            "dig",
            "nslookup",
            "host",
            "whois",
            "traceroute",
            "tracepath",
            "mtr",
            "drill",
            "resolvectl",
            "getent",
            "arping",
        ),
        style="raw",
        summary="asks the network, changes nothing",
    ),
)
