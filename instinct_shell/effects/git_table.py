"""The verbs of git: which options take an argument, and who describes what the verb does."""

from __future__ import annotations

from ..model.value import Value
from . import git_config, git_history, git_refs
from .git_verbs import (
    add,
    apply,
    bisect,
    checkout,
    checkout_index,
    clean,
    commit,
    filter_branch,
    merge_file,
    move,
    pull,
    read_tree,
    rebase,
    remove,
    reset,
    restore,
    stash,
    submodule,
    switch,
    verified,
    worktree,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .call import Describer


class Verb(Value):
    """A verb's row. options and longs as in `Program`; stop: options end at the first operand."""

    describe: Describer
    options: str = ""
    longs: str = ""
    stop: bool = False


_LOOK = (
    "-G -S -L -n --max-count --skip --since --until --after --before --author --committer --grep --format "
    "--pretty= --date -U --unified --diff-filter --output --word-diff= -O -M= -C= --decorate= --stat= "
    "--color= --abbrev="
)

VERBS: dict[str, Verb] = {
    "reset": Verb(
        reset,
        "--pathspec-from-file",
        "--hard --soft --mixed --merge --keep --quiet --patch --no-refresh --recurse-submodules --intent-to-add",
    ),
    "checkout": Verb(
        checkout,
        "-b -B --orphan --conflict --pathspec-from-file",
        "--force --detach --track --no-track --quiet --progress --ours --theirs --patch --merge --guess "
        "--no-guess --overwrite-ignore --recurse-submodules --ignore-skip-worktree-bits",
    ),
    "restore": Verb(
        restore,
        "-s --source --conflict --pathspec-from-file",
        "--staged --worktree --patch --quiet --ours --theirs --merge --overlay --no-overlay --ignore-unmerged --progress",
    ),
    "switch": Verb(
        switch,
        "-c -C --create --force-create --orphan --conflict",
        "--force --discard-changes --detach --merge --guess --no-guess --track --no-track --quiet",
    ),
    "clean": Verb(clean, "-e --exclude", "--force --dry-run --quiet --interactive"),
    "stash": Verb(stash, "-m --message --pathspec-from-file"),
    "worktree": Verb(
        worktree, "-b -B --reason --expire", "--force --detach --checkout --no-checkout --lock --track --guess-remote --quiet --orphan"
    ),
    "checkout-index": Verb(checkout_index, "--prefix --stage", "--force --all --index --quiet --stdin --no-create --temp"),
    "read-tree": Verb(read_tree, "--prefix --index-output --exclude-per-directory", "--reset --empty --trivial --aggressive --dry-run"),
    "rm": Verb(remove, "--pathspec-from-file", "--force --dry-run --cached --ignore-unmatch --quiet --sparse"),
    "mv": Verb(move, "", "--force --dry-run --verbose --sparse"),
    "apply": Verb(
        apply,
        "-p -C --directory --exclude --include --whitespace --build-fake-ancestor",
        "--check --stat --numstat --summary --apply --cached --index --reverse --3way --reject --recount --unidiff-zero --inaccurate-eof",
    ),
    "am": Verb(
        apply,
        "-p -C --directory --exclude --include --whitespace --patch-format",
        "--abort --quit --skip --continue --3way --signoff --no-verify --keep-cr --show-current-patch",
    ),
    "merge-file": Verb(merge_file, "-L --diff-algorithm --marker-size", "--stdout --quiet --ours --theirs --union --diff3 --zdiff3 --object-id"),
    "submodule": Verb(submodule, "", "--quiet", stop=True),
    "commit": Verb(
        commit,
        "-m -F -C -c -t --message --file --reuse-message --reedit-message --template --author --date "
        "--cleanup --fixup --squash --trailer --pathspec-from-file -S= -u= --gpg-sign= --untracked-files=",
        "--all --amend --no-edit --edit --no-verify --verify --allow-empty --allow-empty-message --signoff "
        "--verbose --quiet --dry-run --patch --no-gpg-sign --reset-author --include --only --status "
        "--no-status --short --branch --porcelain --long",
    ),
    "merge": Verb(
        verified,
        "-m -F -s -X --strategy --strategy-option --into-name --cleanup --file -S=",
        "--no-verify --abort --continue --quit --ff --no-ff --ff-only --squash --commit --no-commit --edit --no-edit",
    ),
    "pull": Verb(
        pull,
        "-s -X --strategy --strategy-option --upload-pack --depth --refmap -o --server-option -j --jobs "
        "--shallow-since --shallow-exclude --rebase= --negotiation-tip",
        "--no-verify --no-rebase --ff-only --autostash --force --tags --prune --all --quiet --verbose",
    ),
    "rebase": Verb(
        rebase,
        "-x --exec -s -X --onto --strategy --strategy-option --whitespace -C -S= --empty",
        "--no-verify --abort --continue --skip --quit --edit-todo --interactive --root --autosquash "
        "--autostash --keep-base --update-refs --rebase-merges",
    ),
    "bisect": Verb(bisect, stop=True),
    "filter-branch": Verb(
        filter_branch,
        "--setup --subdirectory-filter --env-filter --tree-filter --index-filter --parent-filter --msg-filter "
        "--commit-filter --tag-name-filter --original --state-branch -d",
        "--force --prune-empty",
    ),
    "filter-repo": Verb(
        filter_branch,
        "--path --path-glob --path-regex --replace-text --replace-message --mailmap --refs --blob-callback --commit-callback",
        "--force --invert-paths",
    ),
    "fast-import": Verb(filter_branch),
    "add": Verb(
        add,
        "--chmod --pathspec-from-file",
        "--all --force --update --dry-run --patch --interactive --edit --verbose --intent-to-add --refresh "
        "--renormalize --ignore-errors --sparse",
    ),
    "stage": Verb(add, "--chmod", "--all --force --update --dry-run --patch"),
    "show": Verb(git_history.show, _LOOK),
    "cat-file": Verb(git_history.show, "--batch= --batch-check= --path"),
    "diff": Verb(
        git_history.diff,
        _LOOK,
        "--stat --name-only --name-status --numstat --shortstat --quiet --summary --check --no-index --cached --staged --patch --raw",
    ),
    "log": Verb(git_history.log, _LOOK, "--patch --full-diff --oneline --all --graph --follow --no-merges --stat --reverse"),
    "whatchanged": Verb(git_history.log, _LOOK, "--patch"),
    "blame": Verb(git_history.read_paths, "-L -S --date --since --ignore-rev --ignore-revs-file --contents"),
    "annotate": Verb(git_history.read_paths, "-L -S --date"),
    "notes": Verb(git_history.nothing, "-m -F -C -c -s --ref --message --file --reuse-message --reedit-message", "--force --allow-empty --stdin"),
    "commit-tree": Verb(git_history.nothing, "-p -m -F -S= --gpg-sign=", "--no-gpg-sign"),
    "update-index": Verb(git_history.into_index, "--cacheinfo --chmod --index-version", "--add --remove --refresh --force-remove --stdin --assume-unchanged "
    "--no-assume-unchanged --skip-worktree --no-skip-worktree --really-refresh --again --unresolve --replace --info-only"),
    "interpret-trailers": Verb(git_history.read_paths, "--trailer --where --if-exists --if-missing",
    "--in-place --parse --trim-empty --only-trailers --unfold"),
    "hash-object": Verb(git_history.read_paths, "-t --path", "--stdin --no-filters --literally --stdin-paths"),
    "grep": Verb(
        git_history.grep,
        "-e -f -A -B -C -m --max-depth --max-count --threads -O= --open-files-in-pager=",
        "--no-index --untracked --cached --recurse-submodules --ignore-case --files-with-matches --name-only --count --fixed-strings",
    ),
    "archive": Verb(git_history.archive, "-o --output --format --prefix --remote --exec --add-file --add-virtual-file --mtime"),
    "bundle": Verb(git_history.bundle, "--version"),
    "format-patch": Verb(
        git_history.format_patch,
        "-o -n= --output-directory --subject-prefix --start-number --suffix --in-reply-to --to --cc --base -v "
        "--reroll-count --from= --cover-from-description --signature",
        "--stdout --cover-letter --signoff --numbered --keep-subject",
    ),
    "credential": Verb(git_history.credential),
    "credential-store": Verb(git_history.credential, "--file"),
    "credential-cache": Verb(git_history.credential, "--timeout --socket"),
    "difftool": Verb(git_history.tool, "-x -t --extcmd --tool"),
    "mergetool": Verb(git_history.tool, "-t --tool -O"),
    "init": Verb(
        git_history.init, "-b --initial-branch --template --separate-git-dir --object-format --shared= --ref-format", "--quiet --bare"
    ),
    "maintenance": Verb(git_history.maintenance, "--task --schedule --scheduler"),
    "daemon": Verb(git_history.daemon, "--port --listen --base-path"),
    "instaweb": Verb(git_history.daemon, "-d -p -b --httpd --port --browser"),
    "config": Verb(
        git_config.config,
        "-f --file --blob --type -t --default --comment --value --url",
        "--global --system --local --worktree --get --get-all --get-regexp --list --unset --unset-all --add "
        "--replace-all --edit --rename-section --remove-section --bool --int --path --show-origin "
        "--show-scope --name-only --includes --fixed-value --all --append",
    ),
    **{name: Verb(describe, options, longs) for name, (describe, options, longs) in git_refs.VERBS.items()},
}

__all__ = ["VERBS", "Verb"]
