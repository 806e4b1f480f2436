"""The `FactSource` on a real host: answers what gates and assessments ask, within a time limit, and never raises.

"No answer" is an answer: a question that cannot be answered (no permission, time is up, a race) comes back as unknown with the reason, and the
instinct decides what that means. Nothing here changes anything: files are opened read-only without following the last link, `git` runs with
the repository's own programs switched off, and only what the jail would let the command read is read.
"""

from __future__ import annotations

import os
import stat
import time

from ..instincts.ground import ground_for, homes_of, inside
from ..model.fact import NO_ANSWER, OF_CONTENTS, Answer, Question, QuestionKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..model.profile import Profile
    from ..model.situation import Situation
    from .contents import Contents

READ_LIMIT = 256 * 1024
TREE_FILES = 20_000
GLOB_PATHS = 200
PROTECTED_NAMES = 5
_QUIET = {"GIT_TERMINAL_PROMPT": "0", "HOME": "/nonexistent"}
TOO_LATE = Answer(False, (), "time is up")


class HostFacts:
    """Answers for one judgement. deadline_ms bounds all questions together. contents: answers what is asked about the text that a file
    tool writes; a linter there has a time limit of its own."""

    def __init__(self, profile: Profile, situation: Situation, deadline_ms: int = 400, contents: Contents | None = None) -> None:
        self._situation = situation
        self._contents = contents
        self._ground = ground_for(profile, situation.workspace, homes_of(situation), situation.guard_paths)
        self._seconds = deadline_ms / 1000
        self._until = 0.0
        self._git: dict[str, Answer] = {}

    def answer(self, questions: Sequence[Question]) -> dict[Question, Answer]:
        """One answer for each question."""
        self._until = time.monotonic() + self._seconds
        return {question: self._one(question) for question in questions}

    def _one(self, question: Question) -> Answer:
        if question.kind in OF_CONTENTS:
            return self._of_contents(question)
        if time.monotonic() > self._until:
            return TOO_LATE
        answerer: Callable[[str], Answer] = {
            QuestionKind.RESOLVE: self._resolve,
            QuestionKind.GLOB: self._glob,
            QuestionKind.GIT_STATE: self._git_state,
            QuestionKind.TREE: self._tree,
            QuestionKind.SYNTAX: self._syntax,
            QuestionKind.READ: self._read,
            QuestionKind.SCRIPT: self._read,
            QuestionKind.PACKAGE: self._package,
            QuestionKind.PLACE: self._place,
        }[question.kind]
        return _tried(lambda: answerer(question.subject))

    def _of_contents(self, question: Question) -> Answer:
        contents = self._contents
        return _tried(lambda: contents.answer(question.kind, question.subject)) if contents is not None else NO_ANSWER

    # ------------------------------------------------------------------------------------------------------------- paths

    def _resolve(self, path: str) -> Answer:
        real = _realpath(path)
        parent = os.path.join(_realpath(os.path.dirname(path)), os.path.basename(path))
        try:
            itself = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return _answer(
                path=real,
                exists=False,
                type="missing",
                links=0,
                size=0,
                uid=-1,
                final_link=False,
                parent=parent,
                case_twin=_case_twin(real),
                same_as="",
            )
        link = stat.S_ISLNK(itself.st_mode)
        try:
            found = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            found = itself  # a link to nowhere
        kind = (
            "file"
            if stat.S_ISREG(found.st_mode)
            else "dir"
            if stat.S_ISDIR(found.st_mode)
            else "link"
            if stat.S_ISLNK(found.st_mode)
            else "other"
        )
        same = self._same_file(real, found) if kind == "file" and found.st_nlink > 1 else ""
        return _answer(
            path=real, exists=True, type=kind, links=found.st_nlink, size=found.st_size, uid=found.st_uid, final_link=link, parent=parent,
            case_twin=_case_twin(real), same_as=same,
        )  # fmt: skip

    def _same_file(self, path: str, found: os.stat_result) -> str:
        """A protected or secret name of the same file, when the walk finds one in time."""
        ground = self._ground
        if ground.protected(path) or ground.secret(path):
            return ""
        places = [folder for folder in (ground.workspace, *(os.path.join(home, ".ssh") for home in ground.homes)) if os.path.isdir(folder)]
        for folder in places:
            for entry in self._walk(folder):
                if (ground.protected(entry.path) or ground.secret(entry.path)) and entry.inode() == found.st_ino:
                    if entry.stat(follow_symlinks=False).st_dev == found.st_dev:
                        return entry.path
        return ""

    def _walk(self, folder: str) -> list[os.DirEntry[str]]:
        """Everything below a folder, links not followed, build output and `.git` left out, at most TREE_FILES entries."""
        found: list[os.DirEntry[str]] = []
        todo = [folder]
        while todo and len(found) < TREE_FILES and time.monotonic() < self._until:
            try:
                with os.scandir(todo.pop()) as entries:
                    for entry in entries:
                        found.append(entry)
                        if entry.is_dir(follow_symlinks=False) and entry.name != ".git" and not self._ground.rebuildable(entry.path):
                            todo.append(entry.path)
            except OSError:
                continue  # unreadable for us, and so for the command
        return found

    def _glob(self, pattern: str) -> Answer:
        from ..instincts import globs

        parts = globs.components(pattern)
        current = ["/"]
        for number, part in enumerate(parts):
            runs = globs.literal_runs(part)
            nxt: list[str] = []
            if len(runs) == 1:
                nxt = [os.path.join(folder, runs[0]) for folder in current]
                if number == len(parts) - 1 or len(nxt) > 1:
                    nxt = [path for path in nxt if os.path.lexists(path)]
            elif globs.crosses(part):
                nxt = [entry.path for folder in current for entry in self._walk(folder)] + current
            else:
                automaton = globs.shell_automaton(part)
                for folder in current:
                    if time.monotonic() > self._until:
                        return TOO_LATE
                    try:
                        names = os.listdir(folder)
                    except OSError:
                        continue  # not there or not readable: nothing matches below
                    nxt += [os.path.join(folder, name) for name in names if automaton.accepts(name)]
            current = nxt[: 20 * GLOB_PATHS]
            if not current:
                break
        found = sorted(set(current)) if parts else []
        # What matters first: a protected name must not fall behind the limit.
        found.sort(
            key=lambda path: (
                not (
                    self._ground.protected(path)
                    or self._ground.secret(path)
                    or self._ground.lockfile(path)
                    or self._ground.never_write(path)
                )
            )
        )
        return _answer(paths=found[:GLOB_PATHS], more=len(found) > GLOB_PATHS)

    def _tree(self, path: str) -> Answer:
        ground = self._ground
        if not os.path.isdir(path) or os.path.islink(path):
            size = os.lstat(path).st_size if os.path.lexists(path) else 0
            return _answer(
                files=1 if os.path.lexists(path) else 0, bytes=size, more=False, untracked=0, modified=0, links_out=0, protected=[]
            )
        files = size = links_out = 0
        protected: list[str] = []
        entries = self._walk(path)
        for entry in entries:
            if entry.is_symlink():
                links_out += not inside(_realpath(entry.path), path)
            elif entry.is_file(follow_symlinks=False):
                files += 1
                size += entry.stat(follow_symlinks=False).st_size
            if len(protected) < PROTECTED_NAMES and ground.protected(entry.path) and not ground.rebuildable(entry.path):
                protected.append(entry.path)
        late = time.monotonic() > self._until
        state = self._git_state(path)
        return _answer(
            files=files, bytes=size, more=len(entries) >= TREE_FILES or late, untracked=state.get("untracked", 0) if state.get("top") else files,
            modified=state.get("modified", 0), links_out=links_out, protected=protected,
        )  # fmt: skip

    # ------------------------------------------------------------------------------------------------------------- git

    def _git_state(self, path: str) -> Answer:
        if path not in self._git:
            self._git[path] = self._ask_git(path)
        return self._git[path]

    def _ask_git(self, path: str) -> Answer:
        folder = path if os.path.isdir(path) else os.path.dirname(path)
        top = _repository(folder)
        if not top:
            return _answer(top="", branch="", tracked=0, modified=0, untracked=0, ignored=0, default_branch="")
        text = self._run_git(top, "status", "--porcelain=v2", "--branch", "--untracked-files=all", "--ignored=no", "-z", "--", path)
        if text is None:
            return Answer(False, (), "git gave no answer")
        branch, modified, untracked = "", 0, 0
        for line in text.split("\0"):
            if line.startswith("# branch.head "):
                branch = line.removeprefix("# branch.head ")
            elif line[:2] in ("1 ", "2 ", "u "):
                modified += 1
            elif line.startswith("? "):
                untracked += 1
        listed = self._run_git(top, "ls-files", "-z", "--", path)
        tracked = listed.count("\0") if listed else 0
        head = _first_line(os.path.join(top, ".git", "refs", "remotes", "origin", "HEAD"))
        return _answer(
            top=top, branch="" if branch == "(detached)" else branch, tracked=tracked, modified=modified, untracked=untracked, ignored=0,
            default_branch=head.removeprefix("ref: refs/remotes/origin/"),
        )  # fmt: skip

    def _run_git(self, top: str, *arguments: str) -> str | None:
        """git, with nothing of the repository's configuration that would run a program, and no lock taken."""
        import subprocess

        program = next((path for path in ("/usr/bin/git", "/bin/git", "/usr/local/bin/git") if os.access(path, os.X_OK)), "")
        if not program:
            return None
        switched_off = (
            "-c",
            "core.fsmonitor=",
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "core.untrackedCache=false",
            "-c",
            f"safe.directory={top}",
        )
        try:
            run = subprocess.run(
                (program, "--no-optional-locks", "--no-pager", *switched_off, "-C", top, *arguments),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=max(0.05, self._until - time.monotonic()), check=False,
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", **_QUIET},
            )  # fmt: skip
        except (subprocess.TimeoutExpired, OSError):
            return None
        return run.stdout.decode("utf-8", "surrogateescape") if run.returncode == 0 else None

    # ------------------------------------------------------------------------------------------------------------- text

    def _syntax(self, text: str) -> Answer:
        import subprocess

        try:
            run = subprocess.run(
                ("/bin/bash", "--norc", "--noprofile", "-O", "extglob", "-n"), input=text.encode("utf-8", "surrogateescape"), stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, timeout=max(0.05, self._until - time.monotonic()), check=False, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return TOO_LATE
        message = run.stderr.decode("utf-8", "replace").strip()
        first = message.splitlines()[0] if message else ""
        # A heredoc that the end of the text closes is only a warning: bash runs it.
        return _answer(ok=run.returncode == 0, message=first.partition("bash: ")[2] or first)

    def _read(self, path: str) -> Answer:
        """The text of a regular file that the jail would show; a secret or protected file is refused, and so is anything but plain files."""
        ground = self._ground
        real = _realpath(path)
        for name in (path, real):
            if ground.secret(name) or ground.protected(name):
                return Answer(False, (), "protected")
        if ground.profile.readable != ("/",) and not any(inside(real, folder) for folder in (*ground.profile.readable, ground.workspace)):
            return Answer(False, (), "not readable under this profile")
        handle = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                return Answer(False, (), "not a regular file")
            data = b""
            while len(data) <= READ_LIMIT:
                piece = os.read(handle, READ_LIMIT + 1 - len(data))
                if not piece:
                    break
                data += piece
        finally:
            os.close(handle)
        from ..model.digest import sha256_hex

        return _answer(text=data[:READ_LIMIT].decode("utf-8", "surrogateescape"), sha256=sha256_hex(data), more=len(data) > READ_LIMIT)

    def _place(self, subject: str) -> Answer:
        """Where a tool points now, by its own small files: only what the jail would let the command read is opened."""
        from .pointers import selected

        tool, _, path = subject.partition(" ")

        def text_of(name: str) -> str:
            answer = self._one(Question(QuestionKind.READ, name))
            return str(answer.get("text")) if answer.known else ""

        return _answer(place=selected(tool, path, text_of))

    def _package(self, subject: str) -> Answer:
        from .known_packages import look_up

        manager, name, folder = subject.split(" ", 2)
        known, near = look_up(manager, name)
        return _answer(known=known, near=near, declared=not known and self._declared(manager, name, folder))

    def _declared(self, manager: str, name: str, folder: str) -> bool:
        from .known_packages import MANIFESTS, RUNNERS, mentions, providers

        for place in dict.fromkeys((folder, self._ground.workspace)):
            if manager in RUNNERS and self._one(Question(QuestionKind.RESOLVE, os.path.join(place, "node_modules/.bin", name))).get("exists"):
                return True  # it is installed here, and that is what runs
            for manifest in MANIFESTS.get(manager, ()):
                answer = self._one(Question(QuestionKind.READ, os.path.join(place, manifest)))
                if answer.known and any(mentions(str(answer.get("text")), one) for one in (name, *providers(name))):
                    return True
        return False


def _tried(answerer: Callable[[], Answer]) -> Answer:
    """The answer, or why there is none."""
    try:
        return answerer()
    except OSError as error:
        return Answer(False, (), error.strerror or type(error).__name__)
    except (ValueError, RecursionError, UnicodeError) as error:
        return Answer(False, (), f"{type(error).__name__}: {str(error)[:80]}")


def _answer(**values: object) -> Answer:
    return Answer(True, tuple(values.items()))


def _realpath(path: str, depth: int = 0) -> str:
    """The path with every link followed, also below what does not exist yet; a link to nowhere leads where it points.

    Raises OSError for a loop and where a folder may not be searched: then anything else would be a guess.
    """
    try:
        return os.path.realpath(path, strict=True)
    except (FileNotFoundError, NotADirectoryError):
        folder, name = os.path.split(path)
        if folder == path or depth > 40:
            return path
        if os.path.islink(path):
            return _realpath(os.path.normpath(os.path.join(_realpath(folder, depth + 1), os.readlink(path))), depth + 1)
        return os.path.join(_realpath(folder, depth + 1), name)


def _case_twin(real: str) -> str:
    """The name on disk when the file system took another letter case for it, else ""."""
    folder, name = os.path.split(real)
    if not name or name.lower() == name.upper() or not os.path.lexists(real):
        return ""
    swapped = os.path.join(folder, name.swapcase())
    if not os.path.lexists(swapped) or not os.path.samestat(os.lstat(real), os.lstat(swapped)):
        return ""
    try:
        names = os.listdir(folder)
    except OSError:
        return ""
    return next((os.path.join(folder, each) for each in names if each != name and each.lower() == name.lower()), "")


def _repository(folder: str) -> str:
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.readline(1000).strip()
    except OSError:
        return ""
