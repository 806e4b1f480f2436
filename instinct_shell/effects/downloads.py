"""wget, httpie, aria2c and tunnels: requests that end in files, and ports opened to the world."""

from __future__ import annotations

import re

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import literal
from .call import Call, Scene
from .hosts import address_attributes, host_of, url_target
from .http_request import Request, joined_path, remote_name, without_head
from .roles import file_effects, path_effects
from .verbs import head_of, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


WGET_OPTIONS = (
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


WGET_LONGS = "--spider --recursive --mirror --quiet --no-clobber --continue --timestamping --background --no-check-certificate"


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
            yield from file_effects(call, scene, kind, joined_path(folder, remote_name(url)))
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
            yield from request.file(call, scene, without_head(field, len(match[0])))
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
        yield from path_effects(call, EffectKind.FILE_WRITE, joined_path(folder, name), call.invocation.cwd, scene)


def tunnel(call: Call, scene: Scene) -> Iterator[Effect]:
    """ngrok, cloudflared ...: opens a port of this machine to the world."""
    words = [shown(word) for word in call.operands]
    if words[:1] in (["http"], ["tcp"], ["tls"], ["start"], ["tunnel"], ["local"], ["funnel"], ["serve"], ["share"]) or call.name in (
        "lt",
        "localtunnel",
    ):
        if not set(words) & {"list", "info", "status", "login", "--version"} and not (call.name == "tailscale" and words[:1] == ["serve"]):
            yield call.effect(EffectKind.NET_LISTEN, Target(TargetKind.HOST, "public"), public="1", tool=call.name)
