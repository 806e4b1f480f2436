"""Hosting platforms and back-up tools: one row each, verbs as data."""

from __future__ import annotations

from ..model.effect import Effect, EffectKind, Target, TargetKind
from .call import Call, Program, Scene
from .database_apis import served_sql
from .infra import dry_run, infra
from .remote import REMOTE_CWD, remote_place
from .roles import file_effects
from .verbs import shown, split, thing, with_attributes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


# Words that run a command in a fresh machine of the platform, whose own files are gone with it.
_ONE_OFF = frozenset(("run", "run:detached"))


def _on_platform(call: Call, scene: Scene) -> Iterator[Effect]:
    """The command that a platform's tool runs over there: words behind the verb, or `-C TEXT`; and SQL that it hands over."""
    yield from served_sql(call, scene)
    words = split(call.argv, "-a --app -r --remote -s --service -e --environment -p --project -c --config -o --org -C --command --size --type -t --team")
    verb = words.verb()
    text = words.value("-C", "--command")
    inner = words.rest or words.words[1:]
    if verb not in ("run", "run:detached", "ssh", "ps:exec") or words.has("-h", "--help"):
        return
    if call.name in ("railway", "render", "fly", "flyctl") and not words.rest:
        inner = ()  # what stands behind `ssh` names a machine
    app = shown(words.value("-a", "--app", "-s", "--service", "-e", "--environment", "-r", "--remote"))
    if text is not None and text.text is not None:
        found = scene.nested_shell(text.text, call, cwd=REMOTE_CWD, via=f"{call.name} {verb}")
    elif len(inner) == 1 and inner[0].text is not None:
        found = scene.nested_shell(inner[0].text, call, cwd=REMOTE_CWD, via=f"{call.name} {verb}")
    elif inner:
        found = scene.nested_argv(inner, call, cwd=REMOTE_CWD, via=f"{call.name} {verb}")
    else:
        return
    for effect in found:
        if verb not in _ONE_OFF or not effect.kind.value.startswith("file."):
            place = " ".join(filter(None, (effect.get("target_env"), app)))
            yield with_attributes(effect, remote=app or call.name, target_env=place)


def _platform(
    names: str, *, options: str = "", deploys: str = "", destroys: str = "", secrets: str = "", publishes: str = "", runs: str = ""
) -> Program:
    """A hosting platform's client: which leading words change, destroy, print secrets, publish, or run code on the platform."""
    tool = names.split(maxsplit=1)[0]
    when = [
        (deploys, f"infra.apply tool={tool} verb=deploy target=0"),
        (destroys, f"infra.destroy tool={tool} verb=destroy target=1"),
        (secrets, f"secret.read store={tool} prints=1 target=0"),
        (publishes, f"package.publish tool={tool} target=0"),
        (runs, f"net.remote_exec via={tool} target=1"),
    ]
    return Program(
        tuple(names.split()),
        options,
        when=tuple(pair for pair in when if pair[0]),
        harmless="--dry-run --help -h",
        describe=_on_platform if runs else served_sql,
        summary="hosting platform",
    )


def rclone(call: Call, scene: Scene) -> Iterator[Effect]:
    """rclone VERB SOURCE DESTINATION; `remote:path` lives elsewhere."""
    words = split(
        call.argv,
        "--config --include --exclude --filter --filter-from --include-from --exclude-from --transfers --checkers "
        "--bwlimit --max-age --min-age --log-file --backup-dir -f --max-size --min-size --rc-addr",
    )
    verb = words.verb()
    if words.has("-n", "--dry-run", "-h", "--help"):
        return
    places = words.words[1:]
    if verb == "config" and words.verb(1) in ("show", "dump"):
        yield call.effect(EffectKind.SECRET_READ, thing("rclone config"), store="rclone", prints="1")
    elif verb in ("delete", "purge", "deletefile", "rmdir", "rmdirs", "cleanup"):
        for place in places:
            if remote_place(place) is None:
                yield from file_effects(call, scene, EffectKind.FILE_DELETE, place, recursive="1", sweep="1")
            else:
                yield infra(call, EffectKind.INFRA_DESTROY, "rclone", verb, place)
    elif verb in ("copy", "sync", "move", "copyto", "moveto", "bisync", "rcat", "copyurl") and places:
        source, destination = (places[0], places[-1]) if len(places) > 1 else (None, places[0])
        outward = remote_place(destination) is not None
        if source is not None and remote_place(source) is None and verb != "copyurl":
            kind = EffectKind.FILE_MOVE if verb.startswith("move") else EffectKind.FILE_READ
            yield from file_effects(call, scene, kind, source, source_of_copy="1", recursive="1")
        elif source is not None and verb.startswith("move"):
            yield infra(call, EffectKind.INFRA_DESTROY, "rclone", verb, source)
        if outward:
            yield call.effect(
                EffectKind.NET_UPLOAD,
                Target(TargetKind.URL, shown(destination)),
                upload="stdin" if verb == "rcat" else "file",
                via="rclone",
            )
            if verb in ("sync", "bisync"):
                yield infra(call, EffectKind.INFRA_DESTROY, "rclone", verb, destination, recursive="1")
        else:
            yield call.effect(EffectKind.NET_CONNECT, Target(TargetKind.URL, shown(source)), via="rclone")
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, destination, recursive="1")
            if verb in ("sync", "bisync"):
                yield from file_effects(call, scene, EffectKind.FILE_DELETE, destination, recursive="1", sweep="1")
    elif verb in ("serve", "rcd"):
        yield call.effect(EffectKind.NET_LISTEN, Target(TargetKind.HOST, ""), via="rclone")
    elif verb == "mount":
        yield call.effect(EffectKind.SYSTEM_MOUNT, thing(places[-1] if places else None), action="mount")
    elif verb in ("ls", "lsl", "lsd", "lsf", "lsjson", "size", "check", "cat", "about", "tree", "md5sum", "sha1sum"):
        for place in places:
            if remote_place(place) is not None:
                yield call.effect(EffectKind.NET_CONNECT, Target(TargetKind.URL, shown(place)), via="rclone")


_BACKUP_VALUES = (
    "-r --repo --repository-file -p --password-file --password-command -H --host --tag --path -t --target -i "
    "--include -e --exclude --exclude-file "
    "--keep-last --keep-hourly --keep-daily --keep-weekly --keep-monthly --keep-yearly --keep-within --keep-tag -o "
    "--cache-dir --limit-upload "
    "--prefix -P --glob-archives -a --last --first -C --compression --remote-path --rsh --stdin-filename --files-from"
)


def backup(call: Call, scene: Scene) -> Iterator[Effect]:
    """restic, borg, duplicity, kopia ...: forgetting, pruning and deleting lose the way back; restoring writes files."""
    words = split(call.argv, _BACKUP_VALUES)
    verb = words.verb()
    if dry_run(words) or words.has("-n", "-h", "--help"):
        return
    command = words.value("--password-command", "--rsh")
    if command is not None and command.text is not None:
        yield from scene.nested_shell(command.text, call, via=f"{call.name} --password-command")
    if verb in (
        "forget",
        "prune",
        "delete",
        "purge",
        "rm",
        "remove",
        "remove-older-than",
        "remove-all-but-n-full",
        "cleanup",
        "unlock",
        "rebuild-index",
        "compact",
    ):
        if verb not in ("unlock", "rebuild-index", "compact", "cleanup"):
            yield infra(
                call,
                EffectKind.INFRA_DESTROY,
                call.name,
                verb,
                words.words[1] if len(words.words) > 1 else shown(words.value("-r", "--repo")),
            )
    elif verb in ("restore", "extract", "dump", "mount"):
        target = words.value("-t", "--target")
        if target is not None:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, target, recursive="1")
        elif verb == "extract" or (verb == "restore" and call.name != "restic"):
            for field in words.words[2:] or ():
                yield from file_effects(call, scene, EffectKind.FILE_WRITE, field, recursive="1")
    elif verb in ("backup", "create", "full", "incr", "snapshot"):
        for field in words.words[1 if call.name == "restic" else 2 :]:
            yield from file_effects(call, scene, EffectKind.FILE_READ, field, source_of_copy="1", recursive="1")
    elif verb in ("key", "init", "migrate", "recover", "repair", "rename", "recreate", "config"):
        yield infra(call, EffectKind.INFRA_APPLY, call.name, verb, shown(words.value("-r", "--repo")))


PROGRAMS: tuple[Program, ...] = (
    _platform(
        "vercel now",
        options="-A --local-config -e --env -b --build-env -t --token -S --scope -m --meta --cwd",
        deploys="deploy promote rollback alias+set env+add domains+add redeploy --prod",
        destroys="remove rm env+rm domains+rm project+rm projects+rm alias+rm secrets+rm dns+rm certs+rm blob+del",
        secrets="env+pull",
    ),
    _platform(
        "netlify ntl",
        options="-d --dir -s --site -m --message --auth -f --filter",
        deploys="deploy env:set env:import sites:create link build:hook",
        destroys="sites:delete env:unset blobs:delete",
        secrets="env:list env:get",
    ),
    _platform(
        "heroku",
        options="-a --app -r --remote -t --team",
        deploys="config:set ps:restart ps:scale releases:rollback domains:add addons:create maintenance:on pg:promote pg:upgrade "
        "container:release",
        destroys="apps:destroy destroy pg:reset addons:destroy config:unset domains:remove pipelines:destroy pg:copy redis:reset",
        secrets="config config:get auth:token pg:credentials:url",
        runs="run run:detached ps:exec",
    ),
    _platform(
        "fly flyctl",
        options="-a --app -c --config -r --region -o --org",
        deploys="deploy secrets+set scale apps+create launch machine+run machine+update volumes+create restart",
        destroys="apps+destroy destroy volumes+destroy volumes+delete machine+destroy machines+destroy postgres+destroy "
        "secrets+unset ips+release",
        secrets="tokens+create auth+token",
        runs="ssh console proxy",
    ),
    _platform(
        "railway",
        options="-s --service -e --environment -p --project",
        deploys="up redeploy deploy add domain link",
        destroys="down delete volume+delete environment+delete service+delete",
        secrets="variables variable vars",
        runs="ssh",
    ),
    _platform("render", options="-o --output", deploys="deploys+create services+restart", destroys="services+delete", runs="ssh"),
    _platform(
        "wrangler",
        options="-c --config -e --env --name",
        deploys="deploy publish rollback secret+put kv+key+put kv:key+put r2+object+put d1+migrations+apply pages+deploy "
        "versions+deploy queues+create",
        destroys="delete kv+namespace+delete kv:namespace+delete kv+key+delete kv:key+delete kv:bulk+delete r2+bucket+delete "
        "r2+object+delete d1+delete secret+delete pages+project+delete queues+delete vectorize+delete",
    ),
    _platform(
        "firebase",
        options="-P --project --only --token",
        deploys="deploy hosting:channel:deploy functions:config:set functions:secrets:set database:set database:update "
        "firestore:indexes auth:import",
        destroys="firestore:delete database:remove functions:delete hosting:disable projects:delete hosting:channel:delete "
        "apps:delete functions:config:unset functions:secrets:destroy",
        secrets="functions:config:get login:ci functions:secrets:access",
    ),
    _platform(
        "supabase",
        options="--project-ref --db-url --workdir",
        deploys="db+push functions+deploy secrets+set migration+up link",
        destroys="db+reset projects+delete functions+delete secrets+unset branches+delete storage+rm",
        secrets="projects+api-keys",
    ),
    Program(
        ("surge",),
        "-p --project -d --domain",
        when=(("", "package.publish tool=surge"), ("teardown", "infra.destroy tool=surge target=1")),
        harmless="list whoami login logout token plans",
        summary="publishes a folder as a site",
    ),
    _platform("gatsby-cloud", deploys="deploy"),
    _platform(
        "expo eas",
        options="--profile --platform",
        deploys="update submit deploy",
        publishes="publish",
        destroys="build:delete channel:delete branch:delete",
        secrets="secret:list env:list",
    ),
    _platform("fastlane", options="--env", deploys="deliver pilot supply release beta deploy upload_to_app_store upload_to_play_store"),
    _platform("convex", deploys="deploy", destroys="import+--replace"),
    _platform("porter", deploys="apply deploy", destroys="delete", runs="run"),
    _platform("dokku-cli", deploys="deploy", destroys="apps:destroy"),
    Program(("rclone",), style="raw", describe=rclone, summary="copies to and from remote storage"),
    Program(
        ("restic", "borg", "borgmatic", "duplicity", "kopia", "bupstash", "rustic", "duplicacy", "tarsnap"),
        style="raw",
        describe=backup,
        summary="back-ups",
    ),
)
