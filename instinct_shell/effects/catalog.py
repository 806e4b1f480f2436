"""The table of programs: an explicit map from program name to the family module that holds its row.

A family module exports `PROGRAMS: tuple[Program, ...]` and is imported when one of its programs is first met, so that `git status` does not
pay for SQL. A test holds this table and the modules together. To add a program: a row in its family, its name here.
"""

from __future__ import annotations

from importlib import import_module

from .call import Program

FAMILIES: tuple[tuple[str, str], ...] = (
    ("guard", "instinct instinct-exec"),
    # ---- files, text, archives, editors
    (
        "shells",
        "bash sh dash zsh ksh ash mksh yash rbash lksh posh fish csh tcsh pdksh oksh osh eval source . trap busybox toybox bind "
        "complete compgen mapfile readarray export declare typeset set enable hash : true false cd pushd popd dirs pwd echo "
        "printf test [ [[ shift unset readonly local let read return break continue exit logout wait jobs fg bg disown times "
        "ulimit umask type alias unalias help history fc getopts shopt caller suspend command_not_found_handle compopt",
    ),
    (
        "files",
        "rm grm del unlink rmdir shred srm wipe scrub truncate tee sponge pee dd dcfldd dc3dd chmod chown chgrp chattr chflags "
        "setfacl setfattr chcon restorecon chacl mkdir touch mktemp tempfile mkfifo mknod fallocate split csplit trash trash-put "
        "trash-empty gio rmtrash gvfs-trash rename prename file-rename mmv sync fsync",
    ),
    (
        "copies",
        "cp gcp mv gmv ln link symlink install ginstall rsync",
    ),
    (
        "search",
        "find gfind bfs xargs gxargs",
    ),
    (
        "parallel",
        "parallel env_parallel sem rush",
    ),
    (
        "viewers",
        "cat gcat lolcat rev zcat bzcat xzcat zstdcat lzcat gzcat zless zmore bzmore xzless xzmore lzless comm tsort catdoc "
        "antiword tac gtac nl fold fmt pr expand unexpand column join paste od hd hexdump hexyl strings bat batcat ccat mdcat "
        "glow look ptx gron readelf objdump nm size addr2line c++filt ldd mediainfo ffprobe identify xmllint csvlook csvcut "
        "csvgrep csvstat csvsort csvjson in2csv q tomlq json_verify jsonlint json_pp yamllint cloc tokei scc wdiff lesspipe nkf "
        "fx pygmentize highlight source-highlight bc dc pdftotext recode tidy mlr xmlstarlet dasel toml exiftool",
    ),
    (
        "readers",
        "head tail ghead gtail sort gsort uniq shuf cut gcut tr seq expr factor numfmt yes figlet toilet cowsay fortune wc "
        "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum b3sum cksum sum shasum md5 xxhsum xxh64sum crc32 rhash "
        "hashdeep diff cmp sdiff diff3 colordiff icdiff delta difft difftastic dwdiff jsondiff jd jq gojq jaq yq xq tq base64 "
        "base32 basenc gbase64 xxd iconv uconv dos2unix unix2dos mac2unix fromdos todos less more most pg moar ov man gman ls "
        "dir vdir eza exa lsd tree stat file du df basename dirname realpath readlink pathchk which whereis whatis apropos info "
        "tldr cheat locate plocate mlocate namei lsattr getfacl getfattr findmnt lsblk blkid lsof cal ncal nproc uname uptime "
        "free vmstat iostat mpstat sar w who whoami id groups users last lastlog lastb finger hostid tty logname getconf locale "
        "lscpu lsmem lspci lsusb lsmod lsns lsipc lslocks lslogins lsirq dmidecode hwinfo inxi neofetch fastfetch screenfetch "
        "ps top htop btop atop glances pstree pgrep pidof pidstat pmap pwdx ipcs numastat slabtop sensors acpi upower tput "
        "clear reset stty sleep usleep ncdu dust duf gdu broot bashbug man-db zdump cksfv getcap tabs dircolors pkg-config "
        "pkgconf logger wall write mesg",
    ),
    (
        "archives",
        "tar gtar bsdtar star zip unzip unrar unar lsar zipinfo funzip 7z 7za 7zr 7zz p7zip rar arj lha zpaq gzip gunzip pigz "
        "unpigz bzip2 bunzip2 pbzip2 xz unxz lzma unlzma zstd unzstd lz4 unlz4 lzop brotli unbrotli compress uncompress lzip pixz "
        "zopfli cpio pax ar gcc-ar llvm-ar ranlib jar",
    ),
    (
        "editors",
        "sed gsed ssed awk gawk mawk nawk original-awk goawk ed red vim vi ex nvim view gvim vimdiff rvim nvi vim.basic vim.tiny "
        "evim mvim nano pico micro joe jed ne tilde helix hx kak mcedit kate gedit code "
        "code-insiders cursor subl mousepad zed patch gpatch",
    ),
    (
        "lisp",
        "emacs emacsclient zile mg xemacs",
    ),
    (
        "wrappers",
        "nice ionice nohup unbuffer chronic catchsegv fakeroot eatmydata torsocks torify proxychains proxychains4 tsocks arch "
        "linux32 linux64 i386 x86_64 tini dumb-init caffeinate dbus-run-session xvfb-run rlwrap ccze grc noglob nocorrect winpty "
        "tsp stdbuf setsid timeout gtimeout chrt taskset numactl setarch prlimit choom cgexec systemd-inhibit systemd-cat "
        "faketime libfaketime ssh-agent wine wine64 mono box64 qemu-x86_64 qemu-aarch64 runit chpst softlimit envuidgid "
        "start-stop-daemon daemonize entr cross-env time gtime proot fakechroot schroot firejail bwrap sandbox-exec exec command "
        "ld-linux-x86-64.so.2 ld-linux.so.2 ld-linux-aarch64.so.1 ld-linux-armhf.so.3 ld-linux-riscv64-lp64d.so.1 "
        "ld-musl-x86_64.so.1 ld-musl-aarch64.so.1 ld64.so.2 ld64.so.1 ld.so "
        "builtin env genv sudo sudoedit sudo-rs doas pkexec run0 please gksudo kdesudo su runuser sg newgrp gosu su-exec setpriv "
        "capsh setuidgid flock chroot nsenter unshare sshpass",
    ),
    (
        "git",
        "git hub yadm",
    ),
    (
        "macros",
        "m4 gm4",
    ),
    (
        "devices",
        "fdisk cfdisk gdisk cgdisk sfdisk sgdisk parted gparted growpart fixparts testdisk addpart delpart resizepart wipefs "
        "blkdiscard badblocks hdparm sdparm tune2fs resize2fs xfs_growfs xfs_repair e2fsck fsck fsck.ext4 ntfsfix debugfs "
        "dumpe2fs partprobe blockdev smartctl e2label fatlabel swaplabel bmaptool rpi-imager usbimager "
        "balena-etcher etcher ddrescue dd_rescue partclone.ext4 gddrescue",
    ),
    (
        "disks",
        "mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.msdos mkfs.ntfs mkfs.f2fs mkfs.exfat "
        "mkfs.minix mkfs.bfs mkfs.cramfs mkfs.jfs mkfs.reiserfs mke2fs mkdosfs mkntfs mkreiserfs mkudffs mkswap mkexfatfs newfs "
        "dumpfs lsscsi blkparse iotop timeshift snapper zpool zfs btrfs bcachefs cryptsetup veracrypt clevis nvme dmsetup losetup lvremove "
        "vgremove pvremove vgreduce lvreduce lvcreate vgcreate pvcreate lvextend lvresize vgextend lvrename vgrename lvchange "
        "vgchange pvmove lvconvert lvs vgs pvs lvdisplay vgdisplay pvdisplay lvscan vgscan pvscan zdb mdadm mount umount "
        "fusermount fusermount3 sshfs bindfs pivot_root eject mount.cifs mount.nfs squashfuse encfs gocryptfs udisksctl pmount "
        "pumount swapon swapoff quotaon quotaoff setquota edquota xfs_quota",
    ),
    (
        "schedules",
        "crontab fcrontab run-parts anacron logrotate savelog",
    ),
    (
        "system",
        "systemctl service rc-service invoke-rc.d sv supervisorctl initctl launchctl s6-svc rc-update chkconfig update-rc.d "
        "nssm winsw loginctl busctl coredumpctl homectl portablectl shutdown reboot poweroff halt pm-suspend pm-hibernate "
        "rtcwake kexec zzz init telinit journalctl iptables ip6tables ebtables arptables iptables-legacy iptables-nft nft ufw "
        "firewall-cmd ipset pfctl fail2ban-client iptables-restore ip6tables-restore shorewall iptables-save ip6tables-save ip "
        "ifconfig route nmcli netplan tc brctl iw iwconfig rfkill systemd-resolve dhclient dhcpcd wpa_supplicant ifup ifdown "
        "arp ethtool bridge networkctl useradd usermod userdel adduser deluser groupadd groupmod groupdel addgroup delgroup "
        "gpasswd passwd chpasswd chgpasswd chsh chfn chage newusers vipw vigr visudo pwconv grpconv pwck grpck faillock "
        "smbpasswd realm sysctl modprobe insmod rmmod depmod kmod dkms setenforce setsebool semanage semodule aa-complain "
        "aa-disable aa-enforce aa-teardown apparmor_parser auditctl augenrules setcap capset pam-auth-update authselect polkit "
        "tuned-adm grub-install update-grub grub-mkconfig grub2-mkconfig efibootmgr update-initramfs mkinitcpio dracut bootctl "
        "lilo refind-install timedatectl hostnamectl localectl hwclock date gdate hostname domainname update-alternatives "
        "alternatives dpkg-divert ldconfig update-ca-certificates dpkg-reconfigure update-mime-database dmesg",
    ),
    (
        "processes",
        "kill skill tgkill pkill killall killall5 pskill taskkill fuser kill-port fkill xkill killport renice",
    ),
    (
        "searchers",
        "fzf fzf-tmux sk fd fdfind grep egrep fgrep zgrep zegrep zfgrep bzgrep xzgrep pcregrep pcre2grep ggrep rgrep agrep rg ripgrep ugrep ug ag "
        "ack ack-grep pt",
    ),
    (
        "sessions",
        "watch gwatch viddy hyperfine concurrently mprocs script typescript strace ltrace perf valgrind ftrace uftrace heaptrack "
        "rr xctrace gprofng kcov sysdig gdb gcore lldb cgdb gdb-multiarch rust-gdb rust-lldb systemd-run tmux screen dtach abduco "
        "zellij at batch atq atrm dotenv dotenvx env-cmd envdir godotenv aws-vault",
    ),
    (
        "cloud",
        "aws awslocal gcloud gsutil s3cmd s5cmd az doctl hcloud linode-cli scw oci ibmcloud aliyun tccli vultr-cli exo upctl civo "
        "ovh openstack confluent atlas mongocli neonctl neon pscale turso eksctl kops kind minikube k3d multipass oscli "
        "databricks cbt yc gdcloud cf okta auth0 algolia stripe twilio datadog sentry-cli newrelic pagerduty cloudflare flarectl "
        "nsc astro prefect dagster-cloud modal runpodctl vastai colima limactl",
    ),
    (
        "containers",
        "docker podman nerdctl finch docker-compose podman-compose lxc incus virsh machinectl VBoxManage prlctl skopeo crane oras "
        "cosign buildah ctr crictl regctl kaniko hadolint dive trivy grype syft container-diff ctop lazydocker",
    ),
    (
        "databases",
        "psql pgcli usql ysqlsh mysql mariadb mycli sqlite3 sqlite duckdb litecli tursodb cockroach dolt clickhouse-client "
        "clickhouse sqlcmd isql snowsql snow bq cqlsh hive beeline impala-shell spark-sql presto trino sqlplus pg_dump pg_dumpall "
        "mysqldump mariadb-dump mongodump mongoexport cockroach-dump pg_basebackup pg_restore mongorestore mysqlimport "
        "mongoimport dropdb createdb dropuser createuser mysqladmin mariadb-admin pg_resetwal pg_resetxlog innochecksum "
        "pg_isready vacuumdb reindexdb pgbench pg_config pg_controldata mysqlcheck mysqlshow mysql_config sqldiff "
        "sqlite3_analyzer",
    ),
    (
        "forges",
        "gh glab tea berg kaggle huggingface-cli hf wandb dvc replicate clearml-task claude codex gemini aider llm openai sgpt "
        "aichat mods opencode cursor-agent amp crush fabric",
    ),
    (
        "hosting",
        "vercel now netlify ntl heroku fly flyctl railway render wrangler firebase supabase surge gatsby-cloud expo eas fastlane "
        "convex porter dokku-cli rclone restic borg borgmatic duplicity kopia bupstash rustic duplicacy tarsnap",
    ),
    (
        "keys",
        "ssh-keygen ssh-add openssl libressl gpg gpg2 gpgv",
    ),
    (
        "kube",
        "kubectl oc kubecolor k3s-kubectl microk8s.kubectl helm helm3 helmfile kustomize argocd flux skaffold velero istioctl "
        "linkerd kubeadm tilt devspace werf kubeseal kpt kapp rancher talosctl kubectx kubens stern kubetail k9s kubeval "
        "kubeconform kube-linter popeye",
    ),
    (
        "network",
        "curl curlie wget wget2 http https xh xhs aria2c axel youtube-dl yt-dlp ngrok cloudflared lt localtunnel bore tailscale "
        "frpc zrok ping ping6 fping dig nslookup host whois traceroute tracepath mtr drill resolvectl getent arping",
    ),
    (
        "attackers",
        "hydra medusa ncrack patator crowbar brutespray thc-hydra kerbrute john hashcat ophcrack fcrackzip rarcrack "
        "msfconsole msfvenom msfdb sqlmap commix wpscan xsser beef-xss routersploit setoolkit evil-winrm crackmapexec "
        "nxc netexec impacket-secretsdump impacket-psexec impacket-wmiexec impacket-smbexec impacket-ntlmrelayx "
        "secretsdump.py psexec.py wmiexec.py ntlmrelayx.py bloodhound-python powershell-empire sliver-client "
        "sliver-server havoc covenant nikto responder mitm6 bettercap ettercap arpspoof dsniff urlsnarf sslstrip "
        "airmon-ng airodump-ng aireplay-ng aircrack-ng wifite reaver bully kismet masscan zmap zgrab zgrab2 linpeas "
        "linpeas.sh winpeas linenum.sh linux-exploit-suggester.sh les.sh pspy pspy64 unix-privesc-check slowloris "
        "slowhttptest goldeneye hulk t50 torshammer xerxes loic hoic mhddos xmrig minerd cpuminer ccminer ethminer "
        "t-rex nbminer phoenixminer lolminer lolMiner xmr-stak cgminer bfgminer srbminer-multi teamredminer gminer "
        "hping3 hping nping",
    ),
    (
        "uploads",
        "croc wormhole wormhole-william ffsend pastebinit pastebin gist wgetpaste termbin haste ix transfer transfer.sh transfersh onionshare-cli qrcp "
        "ipfs mc mcli azcopy b2 gdrive mega-put megaput megacopy dropbox_uploader.sh slackcat telegram-send warp portal sendme 0x0",
    ),
    (
        "node_packages",
        "npm pnpm yarn bun yarnpkg cnpm tnpm npx pnpx bunx pnpm-exec corepack nvm fnm volta n",
    ),
    (
        "orms",
        "prisma rails alembic flask knex sequelize typeorm mikro-orm drizzle-kit goose migrate dbmate flyway liquibase diesel "
        "sqlx sea-orm-cli sea wp drush meteor dotnet-ef gel hasura strapi directus aerich piccolo dbt sqlmesh airflow superset "
        "rake lucid skeema gh-ost pt-online-schema-change pt-archiver rethinkdb cypher-shell payload django-admin sequelize-cli "
        "mikro-orm-esm edgedb",
    ),
    (
        "provision",
        "sky skypilot terraform tofu terragrunt opentofu cdktf pulumi ansible ansible-playbook ansible-pull ansible-console chef-client puppet "
        "salt salt-call fab pyinfra capistrano ansible-galaxy cdk serverless sls sam packer vagrant nomad amplify copilot eb "
        "chalice zappa sst waypoint consul boundary crossplane juju cf-deploy nixops colmena deploy-rs kamal dokku caprover "
        "tflint tfsec checkov terrascan infracost ansible-lint ansible-doc ansible-inventory ansible-config cfn-lint "
        "terraform-docs",
    ),
    (
        "python_packages",
        "pip pip3 pip2 uv uvx pipx poetry pipenv pdm rye hatch pixi conda mamba micromamba twine flit maturin pip-compile "
        "pip-sync pip-audit pipdeptree pip-licenses safety",
    ),
    (
        "remote",
        "ssh autossh mosh dbclient slogin scp pscp sftp psftp ftp tftp ncftp lftp nc ncat netcat nc.traditional nc.openbsd socat "
        "telnet rlogin rsh ssh-copy-id ssh-keyscan",
    ),
    (
        "secrets",
        "printenv pass gopass sops ansible-vault age rage git-crypt blackbox_cat security vault bao op bw lpass doppler infisical "
        "wg wg-quick chamber secret-tool keyring kwallet-query gnome-keyring teller berglas git-credential mimikatz lazagne trufflehog3",
    ),
    (
        "stores",
        "redis-cli valkey-cli keydb-cli dragonfly-cli mongosh mongo mongocli-shell etcdctl zkCli.sh zkcli influx nats "
        "pg_dropcluster memcflush memflush couchbase-cli pulsar-admin "
        "kafka-delete-records kafka-delete-records.sh kafka-streams-application-reset arangosh solr "
        "kafka-topics kafka-topics.sh kafkactl kcat rabbitmqadmin rabbitmqctl hdfs hadoop",
    ),
    (
        "interpreters",
        "python python3 python2 pypy pypy3 ipython ipython3 micropython py bpython ptpython cython graalpy node nodejs ts-node tsx "
        "esno babel-node swc-node vite-node jiti esrun deno perl ruby jruby truffleruby php php-cgi hhvm lua luajit texlua",
    ),
    (
        "system_packages",
        "apt dnf zypper apk pacman dpkg rpm brew snap flatpak port emerge choco winget scoop pkg opkg guix nix-env asdf mise sdk "
        "krew apt-get aptitude nala yum microdnf tdnf yay paru pamac trizen xbps-install pkg_add rtx gdebi add-apt-repository "
        "apt-add-repository apt-key nix nix-shell nix-collect-garbage nix-store apt-cache apt-file dpkg-query apt-mark apt-config "
        "repoquery rpmquery pkginfo equery dpkg-deb debsums checkinstall apt-listchanges needrestart dpkg-architecture "
        "dpkg-parsechangelog lsb_release",
    ),
    (
        "language_packages",
        "cargo go gem bundle bundler composer mvn mvnw gradle gradlew sbt lein ant mill kotlinc-build dotnet mix luarocks cpan "
        "cpm cabal stack opam rebar3 dart flutter pod carthage swift conan vcpkg nuget raco zef shards nimble dub spack rustup "
        "ghcup elan bower jspm tsd jsr vsce ovsx apm web-ext lerna changeset goreleaser nx cpanm semantic-release release-it np "
        "pre-commit husky lefthook simple-git-hooks standard-version",
    ),
    (
        "builds",
        "make gmake bmake remake nmake mingw32-make just task gulp grunt ninja cmake ctest meson bazel bazelisk buck2 pants scons "
        "waf tup earthly dagger act nox tox invoke inv doit turbo lage wireit moon mage npm-run-all run-s run-p wsrun ultra "
        "snakemake nextflow foreman overmind hivemind honcho goreman autoreconf qmake xcodebuild rspec gcc g++ cc c++ clang "
        "clang++ rustc javac kotlinc scalac tsc swiftc ghc nvcc tcc zig gfortran ld as nasm dmd ldc2 nim crystal v",
    ),
    (
        "plain_code",
        "pwsh powershell pwsh-preview Rscript R littler julia elixir iex erl osascript groovy scala kotlin jshell expect runghc "
        "ocaml guile racket sbcl clisp octave octave-cli elvish sash jrunscript slsh matlab clojure "
        "clj bb raku tclsh wish gnuplot maxima nu xonsh newlisp picolisp "
        "java csi dotnet-script coffee janet awka io gst",
    ),
    (
        "formatters",
        "prettier prettierd eslint stylelint tslint standard xo oxlint biome dprint black ruff isort autopep8 yapf pyupgrade "
        "autoflake docformatter rustfmt gofmt gofumpt goimports golines clang-format shfmt rubocop standardrb php-cs-fixer "
        "ktlint swiftlint swiftformat stylua taplo djlint sqlfluff markdownlint markdownlint-cli2 codespell ormolu fourmolu "
        "svgo buf nixfmt alejandra sort-package-json mdformat yamlfmt yamlfix add-trailing-comma end-of-file-fixer "
        "trailing-whitespace-fixer pretty-format-json",
    ),
    (
        "node_tools",
        "rimraf del-cli premove trash-cli rmrf cpx cpx2 ncp copyfiles cpy cpy-cli cpr mkdirp make-dir-cli mkdirp-cli shx nodemon "
        "onchange chokidar watchexec tsc-watch cargo-watch reflex air serve http-server live-server json-server browser-sync vite "
        "next nuxt astro-dev webpack webpack-dev-server parcel remix gatsby ng vue-cli-service react-scripts storybook hugo "
        "jekyll mkdocs docusaurus eleventy uvicorn gunicorn hypercorn streamlit jupyter jupyter-lab jupyter-notebook php-fpm "
        "caddy nginx puma unicorn rackup daphne waitress-serve tensorboard mlflow gradio wrangler-dev miniserve "
        "simple-http-server degit tiged giget gh-pages jest vitest mocha ava tap playwright cypress karma pytest py.test unittest "
        "nose2 tape flake8 pylint mypy pyright pyre "
        "bandit coverage golangci-lint staticcheck shellcheck phpunit phpstan "
        "psalm pest clang-tidy cppcheck cpplint "
        "vale cspell depcheck knip madge size-limit lint-staged commitlint tsup esbuild rollup swc "
        "babel sass postcss tailwindcss typedoc jsdoc sphinx-build pdoc doxygen api-extractor publint attw nyc c8 minitest "
        "selene luacheck vulture interrogate lint-imports credo dialyzer hlint protoc "
        "swag gotestsum ginkgo cucumber behave robot locust k6 lighthouse plop hygen yo cookiecutter copier create-react-app "
        "create-next-app create-vite openapi-generator openapi-generator-cli graphql-codegen orval",
    ),
    (
        "vcs",
        "svn hg jj bzr brz fossil cvs p4 darcs",
    ),
    (
        "media",
        "ffmpeg avconv convert magick mogrify composite montage gm pandoc asciidoctor rst2html markdown groff wkhtmltopdf "
        "weasyprint ps2pdf pdftk qpdf gs sox lame oggenc flac opusenc cwebp dwebp rsvg-convert inkscape heif-convert potrace dot "
        "neato mmdc plantuml optipng jpegoptim pngquant gifsicle pngcrush oxipng mpv vlc mplayer play aplay feh eog xdg-open open "
        "display evince zathura xclip xsel pbcopy pbpaste wl-copy wl-paste clip.exe",
    ),
)

# Programs whose name often carries a version (python3.12, gcc-13): the row is the one of the bare name.
VERSIONED = frozenset(
    (
        "python pip pypy ruby gem perl php node npm lua luajit java gcc g++ cc c++ clang clang++ llvm-config go psql postgres "
        "pg_dump pg_restore tclsh wish guile vim emacs bash ksh zsh lldb gdb make cmake ld ocaml erl scala julia Rscript"
    ).split()
)


def _index() -> dict[str, str]:
    return {name: module for module, names in FAMILIES for name in names.split()}


MODULES = _index()
_rows: dict[str, dict[str, Program]] = {}


def family(module: str) -> dict[str, Program]:
    """Name -> row of one family; imports it on first use."""
    known = _rows.get(module)
    if known is None:
        programs: tuple[Program, ...] = import_module(f".{module}", __package__).PROGRAMS
        known = _rows[module] = {name: program for program in programs for name in program.names}
    return known


def canonical(name: str) -> str:
    """The name under which a row stands: without a version (`python3.12`) or a Windows suffix (`git.exe`)."""
    if name in MODULES or name == "cc1":  # the compiler proper, not version 1 of cc
        return name
    if name.endswith(".exe"):
        return canonical(name[:-4])
    stem = name.rstrip("0123456789.")
    stem = stem.removesuffix("-") if stem != name else stem  # `gcc-13`
    return stem if stem in VERSIONED else name


class Catalog:
    """The built-in rows and those of the profile; a profile's row replaces the built-in one of the same name."""

    __slots__ = ("_added", "_own")

    def __init__(self, own: tuple[Program, ...] = ()) -> None:
        self._own = {name: program for program in own if not program.adds for name in program.names}
        self._added: dict[str, list[Program]] = {}
        for program in own:
            for name in program.names if program.adds else ():
                self._added.setdefault(name, []).append(program)

    def row(self, name: str) -> Program | None:
        """The row of a program by its bare name, or None for one that nobody described."""
        own = self._own.get(name)
        if own is not None:
            return own
        known = canonical(name)
        module = MODULES.get(known)
        return family(module)[known] if module else None

    def added(self, name: str) -> list[Program]:
        """Rows of a project file: what they say comes beside the row above, so that they can only add effects."""
        return self._added.get(name, []) if self._added else []

    def names(self) -> tuple[str, ...]:
        """All names with a row, without loading any family."""
        return (*self._own, *self._added, *MODULES)
