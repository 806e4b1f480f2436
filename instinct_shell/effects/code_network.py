"""Network in the code reader: HTTP requests, sockets, servers, mail."""

from __future__ import annotations

from itertools import pairwise

from ..model.effect import EffectKind, Target, TargetKind
from ..shell.invocation import Field, literal
from .code_ground import Args, Ground
from .hosts import address_attributes, host_of
from .http_request import Request
from .python_values import UNKNOWN, Table, Thing, Unknown, field_of, taint
from .verbs import shown


class Network(Ground):
    """Effects on other machines."""

    def request(self, url: object, method: str, body: object = None) -> object:
        """One HTTP request."""
        request = Request()
        request.urls = [field_of(url)]
        request.method = method
        if body is not None:
            request.text(field_of(body))
        found = list(request.effects(self.call, self.scene))
        if body is not None and "env" in taint(body):
            found = [
                e.replace(
                    kind=EffectKind.NET_UPLOAD, attributes=tuple(sorted({**dict(e.attributes), "upload": "env", "secret": "1"}.items()))
                )
                for e in found
            ]
        self.effects.extend(found)
        return Thing("response")

    def do_fetch(self, name: str, args: Args) -> object:
        options = next((one for one in args if isinstance(one, Table)), None)
        url = args[0] if args and not isinstance(args[0], Table) else options.get("url") if options is not None else UNKNOWN
        method = field_of(options.get("method")).text if options is not None and options.get("method") is not None else "GET"
        body = (options.get("body") or options.get("data") or options.get("json")) if options is not None else None
        return self.request(url, (method or "POST").upper(), body)

    def do_http_get(self, name: str, args: Args) -> object:
        if name.endswith("request") and any(isinstance(one, Table) for one in args):
            return self.do_fetch(name, args)
        if name.endswith("getstore") and len(args) > 1:
            self.touch(EffectKind.FILE_WRITE, args[1])
        if (
            self.language == "perl"
            and name == "get"
            and not (isinstance(args[0], Field) and "://" in (args[0].text or args[0].prefix) if args else False)
        ):
            return UNKNOWN
        if args:
            self.request(args[0], "GET")
        return Unknown("network")

    def do_http_post(self, name: str, args: Args) -> object:
        method = name.rsplit(".", 1)[-1].upper()
        return self.request(
            args[0] if args else UNKNOWN, method if method in ("PUT", "PATCH") else "POST", args[1] if len(args) > 1 else literal("")
        )

    def do_http_delete(self, name: str, args: Args) -> object:
        return self.request(args[0] if args else UNKNOWN, "DELETE")

    def do_connect(self, name: str, args: Args) -> object:
        texts = [field_of(one) for one in args if isinstance(one, Field)]
        table = next((one for one in args if isinstance(one, Table)), None)
        if table is not None:
            host = table.get("host") or table.get("PeerAddr") or table.get("hostname")
            texts = [field_of(host)] if host is not None else texts
        pairs = {shown(key): value for key, value in pairwise(texts)}
        name_of = pairs.get("PeerAddr") or pairs.get("PeerHost") or next((t for t in texts if not (t.text or "").isdigit()), literal(""))
        text = host_of(name_of.text or name_of.prefix)
        self.connected = text or "socket"
        self.add(EffectKind.NET_CONNECT, Target(TargetKind.HOST, text), address_attributes(text), via=name)
        if self.spawned_shell:
            self.reverse_shell()
        return Thing("socket")

    def on_socket(self, base: object, name: str, args: Args) -> object:
        """A method of a socket."""
        if name == "connect" and args:
            return self.do_connect("connect", args)
        if name in ("write", "end", "send", "print", "puts", "syswrite") and args:
            secret = "1" if any("env" in taint(one) for one in args) else ""
            self.add(
                EffectKind.NET_UPLOAD,
                Target(TargetKind.HOST, self.connected),
                upload="env" if secret else "text",
                secret=secret,
                via=self.language,
            )
        return Unknown("network") if name in ("read", "gets", "recv") else base

    def do_listen(self, name: str, args: Args) -> object:
        if name != "express":
            self.add(EffectKind.NET_LISTEN, Target(TargetKind.HOST, ""), via=name)
        return UNKNOWN

    def do_mail(self, name: str, args: Args) -> object:
        self.add(EffectKind.NET_UPLOAD, Target(TargetKind.HOST, ""), upload="text", via="mail")
        return UNKNOWN
