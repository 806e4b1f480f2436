"""Key material and cryptography: ssh-keygen, ssh-add, openssl, gpg.

What matters: which private key is read or printed, what file is written, and whether a stream goes to another host.
"""

from __future__ import annotations

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import literal
from .call import Call, Program, Scene
from .hosts import address_attributes, host_of
from .output import stdin_text
from .roles import file_effects
from .verbs import shown, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def ssh_keygen(call: Call, scene: Scene) -> Iterator[Effect]:
    """Makes a key pair unless an option asks for something else; `-y` and `-e` read the private key."""
    file = call.value("-f")
    if call.has("-l", "-B", "-F", "-Q", "-H", "-L"):
        if call.has("-H") and file is not None:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, file)
        return
    if call.has("-R"):
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, file or literal(f"{scene.home}/.ssh/known_hosts"))
        return
    if call.has("-y", "-e", "-i"):
        key = file or literal(f"{scene.home}/.ssh/id_rsa")
        yield from file_effects(call, scene, EffectKind.FILE_READ, key)
        return
    if call.has("-p", "-c"):
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, file or literal(f"{scene.home}/.ssh/id_rsa"))
        return
    if call.has("-s", "-Y"):
        return
    if call.has("-A"):
        yield call.effect(EffectKind.FILE_CREATE, Target(TargetKind.PATH, "/etc/ssh"))
        return
    kind = str(shown(call.value("-t")) or "ed25519").lower()
    place = file or literal(f"{scene.home}/.ssh/id_{kind}")
    answer = stdin_text(call.invocation, scene) if call.invocation.stdin.kind in ("pipe", "text", "file") else ""
    write = EffectKind.FILE_WRITE if answer is None or "y" in answer.lower() else EffectKind.FILE_CREATE  # it asks before it overwrites
    yield from file_effects(call, scene, write, place)
    if place.text is not None:
        yield from file_effects(call, scene, write, literal(place.text + ".pub"))


def ssh_add(call: Call, scene: Scene) -> Iterator[Effect]:
    """Loads private keys into the agent; -l and -L list, -d and -D drop."""
    if call.has("-l", "-L", "-d", "-D", "-x", "-X", "-T"):
        return
    for field in call.operands or (literal(f"{scene.home}/.ssh/id_rsa"),):
        yield from file_effects(call, scene, EffectKind.FILE_READ, field)


_OPENSSL_VALUES = (
    "-in -out -inkey -key -keyout -CA -CAkey -CAfile -CApath -CAserial -cert -certfile -connect -servername -sign "
    "-signature -verify -prverify "
    "-passin -passout -pass -k -K -iv -S -iter -md -newkey -days -subj -config -extensions -extfile -addext -signkey "
    "-name -inform -outform "
    "-form -keyform -certform -rand -writerand -engine -provider -provider-path -accept -port -www -WWW -cipher "
    "-ciphersuites -starttls -proxy "
    "-host -kfile -set_serial -serial -req_file -recip -signer -untrusted -trusted -purpose -nameopt -certopt -dates "
    "-checkend -checkhost -pkeyopt "
    "-algorithm -paramfile -peerkey -curves -groups -alpn -sess_out -sess_in -keylogfile -msgfile -status_file "
    "-sigopt -hmac -mac -macopt -dgst"
)
_OPENSSL_READS = (
    "-in",
    "-inkey",
    "-key",
    "-CAkey",
    "-sign",
    "-signkey",
    "-prverify",
    "-kfile",
    "-certfile",
    "-signer",
    "-recip",
    "-paramfile",
    "-peerkey",
)
_OPENSSL_WRITES = ("-out", "-keyout", "-writerand", "-sess_out", "-keylogfile", "-CAserial")


_DIGESTS = ("dgst", "sha1", "sha256", "sha384", "sha512", "md5")


def openssl(call: Call, scene: Scene) -> Iterator[Effect]:
    """openssl COMMAND: one dash before long options."""
    words = split(call.argv, _OPENSSL_VALUES, long_single=True)
    verb = words.verb()
    reads = [field for option, field in words.values if option in _OPENSSL_READS]
    if (
        verb in (*_DIGESTS, "verify", "prime", "asn1parse")
        or words.has("-verify")
        or (verb in ("rsa", "pkey", "ec", "dsa", "x509", "pkcs12", "pkcs8") and len(words.words) > 1)
    ):
        reads += words.words[1:]
    copies = "1" if words.value("-out") is not None else ""
    for option, field in words.values:
        if option in ("-passin", "-passout", "-pass") and shown(field).startswith("file:"):
            reads.append(literal(shown(field)[5:]))
        elif option in ("-engine", "-provider", "-provider-path") and "/" in shown(field):
            yield from file_effects(call, scene, EffectKind.FILE_EXECUTE, field)
            yield call.effect(EffectKind.CODE_OPAQUE, reason="loads a library", source="file")
        elif option in _OPENSSL_WRITES:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, field)
        elif option == "-config":
            yield from file_effects(call, scene, EffectKind.FILE_READ, field)
    for field in reads:
        if shown(field) != "-":
            hashed = "1" if verb in _DIGESTS and not copies else ""
            yield from file_effects(call, scene, EffectKind.FILE_READ, field, source_of_copy=copies, digest=hashed)
    if verb == "s_client":
        where = words.value("-connect", "-host") or (words.words[1] if len(words.words) > 1 else literal("localhost"))
        host = host_of(shown(where))
        sends = call.invocation.stdin.kind in ("pipe", "text", "file") and not _says_quit(call, scene)
        kind = EffectKind.NET_UPLOAD if sends else EffectKind.NET_CONNECT
        yield call.effect(kind, Target(TargetKind.HOST, host), address_attributes(host), via="openssl", upload="stdin" if sends else "")
    elif verb == "s_server":
        yield call.effect(EffectKind.NET_LISTEN, Target(TargetKind.HOST, ""), port=shown(words.value("-accept", "-port")) or "4433")


def _says_quit(call: Call, scene: Scene) -> bool:
    """`echo | openssl s_client`, `echo Q | ..`, `</dev/null`: the usual way to look at a certificate."""
    from .output import stdin_text

    stdin = call.invocation.stdin
    if stdin.kind == "file" and stdin.field is not None and stdin.field.text == "/dev/null":
        return True
    text = stdin_text(call.invocation, scene)
    return text is not None and text.strip() in ("", "Q", "QUIT")


_GPG_VALUES = (
    "-o --output -u --local-user -r --recipient --homedir --keyserver --passphrase --passphrase-file --passphrase-fd "
    "--pinentry-mode -R "
    "--hidden-recipient --default-key --status-fd --digest-algo --cipher-algo --options --keyring --secret-keyring "
    "--export-options --import-options --logger-file"
)


def gpg(call: Call, scene: Scene) -> Iterator[Effect]:
    """gpg: the option that is the command decides."""
    words = split(call.argv, _GPG_VALUES)
    output = words.value("-o", "--output")
    if output is not None and shown(output) != "-":
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, output)
    if words.has("--export-secret-keys", "--export-secret-subkeys", "--export-secret-key"):
        yield call.effect(
            EffectKind.SECRET_READ, Target(TargetKind.OBJECT, "gpg secret keys"), store="gpg", prints="" if output is not None else "1"
        )
    elif words.has("--delete-secret-keys", "--delete-secret-and-public-key", "--delete-secret-key"):
        yield call.effect(EffectKind.FILE_DELETE, Target(TargetKind.PATH, f"{scene.home}/.gnupg/private-keys-v1.d"), store="gpg")
    elif words.has("--delete-keys", "--delete-key"):
        yield call.effect(EffectKind.FILE_WRITE, Target(TargetKind.PATH, f"{scene.home}/.gnupg/pubring.kbx"))
    elif words.has("--send-keys"):
        yield call.effect(
            EffectKind.NET_UPLOAD, Target(TargetKind.HOST, host_of(shown(words.value("--keyserver")))), upload="text", via="gpg"
        )
    elif words.has("--recv-keys", "--search-keys", "--refresh-keys", "--locate-keys", "--fetch-keys"):
        yield call.effect(EffectKind.NET_CONNECT, Target(TargetKind.HOST, host_of(shown(words.value("--keyserver")))), via="gpg")
    elif words.has(
        "-d",
        "--decrypt",
        "-e",
        "--encrypt",
        "-c",
        "--symmetric",
        "-s",
        "--sign",
        "--clearsign",
        "--clear-sign",
        "-b",
        "--detach-sign",
        "--import",
        "--verify",
        "--dearmor",
    ):
        for field in words.words:
            yield from file_effects(call, scene, EffectKind.FILE_READ, field)
        if output is None and words.has("-e", "--encrypt", "-c", "--symmetric", "-s", "--sign", "-b", "--detach-sign"):
            for field in words.words[:1]:
                if field.text is not None:
                    yield from file_effects(call, scene, EffectKind.FILE_CREATE, literal(field.text + ".gpg"))


PROGRAMS: tuple[Program, ...] = (
    Program(
        ("ssh-keygen",),
        "-b -C -f -t -N -P -m -O -n -I -V -z -D -F -R -r -M -S -T -a -G -J -K -w -W -Y -s",
        describe=ssh_keygen,
        summary="makes, reads and changes ssh keys",
    ),
    Program(("ssh-add",), "-t -E -s -e -d= -h -H -T", describe=ssh_add, summary="keys of the ssh agent"),
    Program(("openssl", "libressl"), style="raw", describe=openssl, summary="keys, certificates, digests, TLS"),
    Program(("gpg", "gpg2", "gpgv"), style="raw", describe=gpg, summary="signs, encrypts, decrypts, keeps keys"),
)
