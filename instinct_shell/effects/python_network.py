"""Network in the Python reader: HTTP, sockets, ssh, servers."""

from __future__ import annotations

from ..model.effect import EffectKind, Target, TargetKind
from ..shell.invocation import Field, literal
from .hosts import address_attributes, host_of
from .http_request import Request
from .python_attributes import spelled
from .python_ground import Args, Ground, Named
from .python_values import UNKNOWN, Many, Table, Thing, Unknown, concat, field_of, taint
from .roles import weakest

_HTTP_VERBS = {"get": "GET", "head": "HEAD", "options": "OPTIONS", "post": "POST", "put": "PUT", "patch": "PATCH", "delete": "DELETE"}


class Network(Ground):
    """Effects on other machines."""

    def request(self, method: str, args: Args, named: Named, body_at: int = 1) -> object:
        """One HTTP request."""
        request = Request()
        url = args[0] if args else named.get("url", UNKNOWN)
        if isinstance(url, Thing) and url.kind == "request":
            return self.request(str(url.more), url.detail.items if isinstance(url.detail, Many) else (), {}, 1)
        request.urls = [field_of(url)]
        request.method = method
        bodies = [
            *args[body_at : body_at + 1],
            *(named[name] for name in ("data", "json", "content", "body", "fields") if named.get(name) is not None),
        ]
        if method in ("GET", "HEAD", "OPTIONS") and not bodies:
            bodies = [named["params"]] if "env" in taint(named.get("params")) else []
        secret = any("env" in taint(one) for one in bodies)
        for one in bodies:
            request.text(field_of(spelled(one) if isinstance(one, (Table, Many)) else one))
        if named.get("files") is not None:
            request.sends.append("file")
        if bodies and method == "GET":
            request.method = "POST"
        call = self.call.replace(certainty=weakest(self.call.certainty, self.sure))
        found = list(request.effects(call, self.scene))
        if secret:
            found = [
                e.replace(
                    kind=EffectKind.NET_UPLOAD, attributes=tuple(sorted({**dict(e.attributes), "upload": "env", "secret": "1"}.items()))
                )
                for e in found
            ]
        self.effects.extend(found)
        return Thing("response")

    def do_http_get(self, name: str, args: Args, named: Named) -> object:
        if name.endswith("urlretrieve") or name == "wget.download":
            place = args[1] if len(args) > 1 else named.get("filename", named.get("out"))
            self.request("GET", args[:1], {})
            if place is not None:
                self.touch(EffectKind.FILE_WRITE, place)
            return Many((place or UNKNOWN, UNKNOWN))
        return self.request("HEAD" if name.endswith("head") else "GET", args, named)

    def do_http_post(self, name: str, args: Args, named: Named) -> object:
        return self.request(name.rsplit(".", 1)[-1].upper(), args, named)

    def do_http_delete(self, name: str, args: Args, named: Named) -> object:
        return self.request("DELETE", args, named)

    def do_http_request(self, name: str, args: Args, named: Named) -> object:
        if name.endswith("Request"):
            method = (
                field_of(named["method"]).text if "method" in named else "POST" if len(args) > 1 or named.get("data") is not None else "GET"
            )
            items = (*args[:1], *(args[1:2] or ((named["data"],) if named.get("data") is not None else ())))
            return Thing("request", Many(items), method or "POST")
        method = field_of(args[0]).text if args else field_of(named.get("method", UNKNOWN)).text
        return self.request((method or "POST").upper(), args[1:], named, 1)

    def do_http_client(self, name: str, args: Args, named: Named) -> object:
        return Thing("http")

    def do_http_connection(self, name: str, args: Args, named: Named) -> object:
        host = field_of(args[0] if args else named.get("host", UNKNOWN))
        return Thing("http connection", host)

    def do_socket(self, name: str, args: Args, named: Named) -> object:
        return Thing("socket")

    def do_socket_to(self, name: str, args: Args, named: Named) -> object:
        first = args[0] if args else named.get("host", named.get("address", UNKNOWN))
        self.connect(first.items[0] if isinstance(first, Many) and first.items else first, name.rsplit(".", 1)[-1])
        return Thing("socket")

    def connect(self, host: object, via: str) -> None:
        """A connection to a host."""
        field = field_of(host)
        text = host_of(field.text or field.prefix)
        self.connected = text or "unknown"
        self.add(
            EffectKind.NET_CONNECT,
            Target(TargetKind.HOST, text, "" if field.text is not None else field.reason or "dynamic word"),
            address_attributes(text),
            via=via,
        )
        if self.duplicated:
            self.reverse_shell()

    def do_listen(self, name: str, args: Args, named: Named) -> object:
        self.add(EffectKind.NET_LISTEN, Target(TargetKind.HOST, ""), via=name)
        return Thing("server")

    def do_http_server(self, name: str, args: Args, named: Named) -> object:
        return self.do_listen(name, args, named)

    def do_dup2(self, name: str, args: Args, named: Named) -> object:
        self.duplicated = True
        if self.connected:
            self.reverse_shell()
        return None

    def do_spawn_shell(self, name: str, args: Args, named: Named) -> object:
        return UNKNOWN

    def reverse_shell(self) -> None:
        """A socket tied to a process."""
        self.add(EffectKind.NET_REMOTE_EXEC, Target(TargetKind.HOST, self.connected), reverse="1", via="python")

    def do_ssh_client(self, name: str, args: Args, named: Named) -> object:
        if args or "host" in named:
            self.connect(args[0] if args else named["host"], "ssh")
            return Thing("ssh", args[0] if args else named["host"])
        return Thing("ssh", UNKNOWN)

    def do_mail(self, name: str, args: Args, named: Named) -> object:
        self.add(EffectKind.NET_UPLOAD, Target(TargetKind.HOST, self.connected), upload="text", via="smtp")
        return None

    def remote(self, command: Field, host: str) -> None:
        from .remote import nested_remote

        where = host or self.connected or "unknown"
        self.add(EffectKind.NET_REMOTE_EXEC, Target(TargetKind.HOST, where), via="ssh", command=(command.text or command.prefix)[:80])
        if command.text is not None:
            self.effects.extend(nested_remote(command.text, self.call, self.scene, where, "python ssh"))

    def on_response(self, base: Thing, name: str, args: Args, named: Named) -> object:
        return Unknown("network") if name in ("read", "json", "text", "iter_content", "iter_lines", "getvalue", "decode") else base

    def on_http(self, base: Thing, name: str, args: Args, named: Named) -> object:
        if name in _HTTP_VERBS:
            return self.request(_HTTP_VERBS[name], args, named)
        if name == "request" or name == "stream":
            return self.do_http_request("requests.request", args, named)
        return base

    def on_http_connection(self, base: Thing, name: str, args: Args, named: Named) -> object:
        if name == "request" and isinstance(base.detail, Field):
            url = concat(concat(literal("http://"), base.detail), args[1] if len(args) > 1 else literal("/"))
            return self.request((field_of(args[0]).text or "POST").upper() if args else "GET", (url, *args[2:3]), named)
        return Thing("response") if name == "getresponse" else base

    def on_socket(self, base: Thing, name: str, args: Args, named: Named) -> object:
        if name in ("connect", "connect_ex"):
            address = args[0] if args else UNKNOWN
            self.connect(address.items[0] if isinstance(address, Many) and address.items else address, "socket")
        elif name in ("bind", "listen"):
            if name == "listen":
                self.add(EffectKind.NET_LISTEN, Target(TargetKind.HOST, ""), via="socket")
        elif name in ("send", "sendall", "sendto", "sendfile", "storbinary", "storlines", "sendmail", "send_message"):
            secret = "1" if args and "env" in taint(args[0]) else ""
            self.add(
                EffectKind.NET_UPLOAD,
                Target(TargetKind.HOST, self.connected),
                upload="env" if secret else "file" if name.startswith("stor") else "text",
                secret=secret,
                via="socket",
            )
        elif name in ("recv", "read", "makefile", "recvfrom"):
            return Unknown("network")
        elif name == "delete":
            self.add(
                EffectKind.FILE_DELETE,
                Target(TargetKind.PATH, field_of(args[0]).text or "" if args else ""),
                remote=self.connected or "unknown",
            )
        return base if name in ("__enter__", "accept", "fileno") else UNKNOWN

    def on_ssh(self, base: Thing, name: str, args: Args, named: Named) -> object:
        if name == "connect":
            self.connect(args[0] if args else named.get("hostname", UNKNOWN), "ssh")
        elif name in ("exec_command", "run", "sudo") and args:
            self.remote(field_of(args[0]), host_of(field_of(base.detail).text or "") if isinstance(base.detail, Field) else "")
        return base
