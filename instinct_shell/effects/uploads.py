"""Programs whose trade is to hand files to other machines or people: croc, wormhole, pastebins, ipfs, object stores' own clients.

One line a tool: the words after which it sends, those after which it only fetches or looks. Without a file they send what they are fed.
"""

from __future__ import annotations

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..model.value import Value
from .call import Call, Program, Scene
from .infra import infra
from .roles import file_effects
from .verbs import Split, shown, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..shell.invocation import Field


class Sender(Value):
    """sends: first words (two joined by "+") after which the rest is sent; "" = without any. looks: first words or options that send nothing.

    copies: whether a destination stands last (`mc cp FILE ALIAS/BUCKET`). options: those with an argument. fed: whether it sends stdin too.
    destroys: first words that delete at the other end.
    """

    sends: str = ""
    looks: str = ""
    options: str = ""
    copies: bool = False
    fed: bool = False
    destroys: str = ""


SENDERS: dict[str, Sender] = {
    "croc": Sender("send", "--version --help relay", "--code -c --port --transfers --relay --pass --out --curve --socks5 --throttleUpload --text -t"),
    "wormhole": Sender(
        "send tx", "receive rx recv ssh help --version", "--code --appid --relay-url --transit-helper --text --code-length -c -o --output-file",
    ),
    "wormhole-william": Sender("send", "receive recv version help", "--code --relay-url"),
    "ffsend": Sender(
        "upload u up", "download d delete exists history info params version",
        "--host -h --downloads-limit -d --expiry-time -e --password -p --name -n",
    ),
    "pastebinit": Sender("", "-l -v -h", "-b -a -f -i -u -p -t -P -g -m -e -r -w", fed=True),
    "pastebin": Sender("", "-h", "", fed=True),
    "gist": Sender(
        "", "-l --list -r --read -v --version -h --help --login --delete", "-d --description -f --filename -t --type -u --update", fed=True,
    ),
    "wgetpaste": Sender("", "-h -S -L", "-s -l -d -n -e -t", fed=True),
    "termbin": Sender("", "-h", "", fed=True),
    "haste": Sender("", "-h", "", fed=True),
    "ix": Sender("", "-h", "-i", fed=True),
    "transfer": Sender("", "-h help version", "-b --backend", fed=True),
    "transfer.sh": Sender("", "-h", "", fed=True),
    "transfersh": Sender("", "-h", "", fed=True),
    "onionshare-cli": Sender("", "--receive --chat -h --help", "--title --auto-start-timer --auto-stop-timer --connect-timeout --config"),
    "qrcp": Sender(" send", "receive config version completion", "-i --interface -p --port -c --config"),
    "ipfs": Sender(
        "add dag+put block+put", "cat get ls id peers version config stats refs swarm pin repo init help name key",
        "--chunker --hash --cid-version --api",
    ),
    "mc": Sender(
        "cp mirror put mv", "ls cat head stat du find tree diff version alias ready ping", "--attr --storage-class --newer-than --older-than --exclude",
        True, destroys="rm rb undo",
    ),
    "mcli": Sender("cp mirror put mv", "ls cat head stat du find tree diff version alias", "--attr --storage-class", True, destroys="rm rb"),
    "azcopy": Sender(
        "copy cp c sync", "list ls jobs login logout doc env bench", "--from-to --include-pattern --exclude-pattern --log-level --cap-mbps",
        True, destroys="remove rm",
    ),
    "b2": Sender(
        "upload-file file+upload sync", "ls list-buckets get-bucket account version", "--contentType --info --threads", True,
        destroys="rm delete-bucket delete-file-version",
    ),
    "gdrive": Sender(
        "upload files+upload update", "list info download about files+list files+download account", "--parent -p --name",
        destroys="delete files+delete",
    ),
    "mega-put": Sender("", "--help", ""),
    "megaput": Sender("", "--help", "--path -u -p"),
    "megacopy": Sender("", "--help --download", "--local --remote -l -r"),
    "dropbox_uploader.sh": Sender("upload", "download list info share", "-f", True, destroys="delete remove"),
    "slackcat": Sender("", "--help --list --configure", "-c --channel -n --filename -t --filetype -m", fed=True),
    "telegram-send": Sender("", "--help --configure", "--config --caption --format --timeout", fed=True),
    "warp": Sender("send", "receive version", ""),
    "portal": Sender("send", "receive version config", "-r --relay"),
    "sendme": Sender("send", "receive", ""),
    "0x0": Sender("", "-h", "", fed=True),
}  # fmt: skip


def sender(call: Call, scene: Scene) -> Iterator[Effect]:
    """Hands files over; what is fetched is only a connection."""
    row = SENDERS[call.name]
    words = split(call.argv, row.options)
    verb, two = words.verb(), f"{words.verb()}+{words.verb(1)}"
    if call.name == "mc" and not words.words:
        return  # a file manager on many machines
    if verb and (verb in row.destroys.split() or two in row.destroys.split()):
        yield infra(call, EffectKind.INFRA_DESTROY, call.name, verb, words.words[-1] if len(words.words) > 1 else None)
        return
    sends = row.sends.split()
    if words.has(*row.looks.split()) or verb in row.looks.split() or (sends and verb not in sends and two not in sends and not row.sends.startswith(" ")):
        if verb not in ("help", "version") and (verb or not row.fed):
            yield call.effect(EffectKind.NET_CONNECT, Target(TargetKind.HOST, call.name), via=call.name)
        return
    files = words.words[2 if two in sends else 1 if verb in sends else 0 :]
    yield from _sent(call, scene, row, words, files)


def _sent(call: Call, scene: Scene, row: Sender, words: Split, files: tuple[Field, ...]) -> Iterator[Effect]:
    place = files[-1] if row.copies and len(files) > 1 else None
    if place is not None and shown(place).startswith((".", "/", "~")):
        yield call.effect(EffectKind.NET_CONNECT, Target(TargetKind.URL, shown(files[0])), via=call.name)
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, place, recursive="1")
        return
    given = [field for option, field in words.values if option in ("-i", "--local", "-l") and call.name in ("pastebinit", "megacopy", "ix")]
    sources = [*given, *(files[:-1] if place is not None else files)]
    text = words.value("--text", "-t") if call.name in ("croc", "wormhole") else None
    for field in sources:
        if "://" not in shown(field) and shown(field) != "-":
            yield from file_effects(call, scene, EffectKind.FILE_READ, field, source_of_copy="1", recursive="1")
    fed = row.fed and call.invocation.stdin.kind in ("pipe", "text", "file")
    if sources or fed or text is not None:
        what = "file" if sources else "stdin" if fed else "text"
        yield call.effect(EffectKind.NET_UPLOAD, Target(TargetKind.URL, shown(place) if place is not None else call.name), upload=what, via=call.name)


PROGRAMS: tuple[Program, ...] = (Program(tuple(SENDERS), style="raw", describe=sender, summary="hands files to other machines or people"),)
