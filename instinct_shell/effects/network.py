"""Programs that speak HTTP and its kin: curl, wget, httpie, aria2c. What goes out, what comes in, and where it is written.

`net.connect` asks for something, `net.upload` sends something (upload = text, file, stdin, env), `infra.destroy` is a DELETE or a mutation
that deletes. Charged APIs and ad budgets are worked out in spend.py.
"""

from __future__ import annotations

import re

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, literal
from .call import Call, Program, Scene
from .downloads import WGET_LONGS, WGET_OPTIONS, downloader, httpie, tunnel, wget
from .http_request import Request, joined_path, remote_name, without_head
from .roles import file_effects
from .verbs import head_of, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_CONTROL_SOCKETS = ("docker.sock", "podman.sock", "containerd.sock", "crio.sock", "lxd/unix.socket")


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
            yield from request.file(call, scene, without_head(field, 1))
        else:
            request.text(field)
    elif option == "--data-raw" or option == "--form-string" or option == "--url-query":
        if option != "--url-query":
            request.text(field)
    elif option == "--data-urlencode":
        head = head_of(field)
        name, at, _ = head.partition("@")
        if at and "=" not in name:
            yield from request.file(call, scene, without_head(field, len(name) + 1))
        else:
            request.text(field)
    elif option in ("-F", "--form"):
        head = head_of(field)
        match = re.match(r"[^=]*=[@<]", head)
        if match:
            rest = without_head(field, len(match[0]))
            yield from request.file(call, scene, literal(rest.text.split(";", 1)[0].strip('"')) if rest.text is not None else rest)
        else:
            request.text(field)
    elif option in ("-T", "--upload-file"):
        yield from request.file(call, scene, field)
    elif option in ("-H", "--header"):
        request.headers.append(field)
        if (field.text or field.prefix).startswith("@"):
            yield from file_effects(call, scene, EffectKind.FILE_READ, without_head(field, 1), source_of_copy="1")
    elif option in ("-K", "--config"):
        if field.text != "-":
            yield from file_effects(call, scene, EffectKind.FILE_READ, field)
        yield from _curl_config(field, call, scene)
    elif option == "--netrc-file":
        yield from file_effects(call, scene, EffectKind.FILE_READ, field, source_of_copy="1")
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
                place = joined_path(folder, field) if folder is not None and option in ("-o", "--output") else field
                yield from file_effects(call, scene, EffectKind.FILE_WRITE, place)
        elif option in ("-w", "--write-out"):
            for name in re.findall(r"%output\{(?:>>)?([^}]+)\}", shown(field)):
                yield from file_effects(call, scene, EffectKind.FILE_WRITE, literal(name))
    if call.has("-O", "--remote-name", "--remote-name-all", "-J", "--remote-header-name"):
        for url in request.urls:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, joined_path(folder, remote_name(url)))


# ---------------------------------------------------------------- wget, httpie, aria2c


PROGRAMS: tuple[Program, ...] = (
    Program(("curl", "curlie"), _CURL_OPTIONS, describe=curl, longs=_CURL_LONGS, summary="transfers by URL"),
    Program(("wget", "wget2"), WGET_OPTIONS, describe=wget, longs=WGET_LONGS, summary="downloads by URL into files"),
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
            "arping",
        ),
        style="raw",
        summary="asks the network, changes nothing",
    ),
    Program(
        ("getent",),
        "-s --service",
        when=(("shadow gshadow", "secret.read store=shadow prints=1 target=0"),),
        summary="looks names up: users, hosts, services",
    ),
)
