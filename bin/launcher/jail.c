/* From the launcher's fork to the command's exec: namespaces, mounts, capabilities, Landlock, the system call filter, exec, in this order.
 *
 * Nothing is decided here. Every refusal of the kernel is one line on the report pipe, `failed ERRNO STEP`, and no command. */
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* These numbers are the same on every architecture, and some libc headers are older than the calls. */
enum {
    NR_OPEN_TREE = 428, NR_MOVE_MOUNT = 429, NR_FSOPEN = 430, NR_FSCONFIG = 431, NR_FSMOUNT = 432, NR_CLOSE_RANGE = 436, NR_OPENAT2 = 437,
    NR_MOUNT_SETATTR = 442, NR_LANDLOCK_CREATE = 444, NR_LANDLOCK_ADD = 445, NR_LANDLOCK_RESTRICT = 446
};
enum { TREE_CLONE = 1, EMPTY_PATH = 0x1000, RECURSIVE = 0x8000, FROM_FD = 0x4, TO_FD = 0x40 };
enum { READ_ONLY = 1, NO_SET_ID = 2, NO_DEVICES = 4, NO_EXEC = 8, PLAIN = NO_SET_ID | NO_DEVICES };
enum { NO_MAGIC_LINKS = 2, NO_SYMLINKS = 4 };
enum { SET_STRING = 1, CREATE = 6, CLOSE_ON_EXEC = 4 };

struct open_how_ { uint64_t flags, mode, resolve; };
struct mount_attr_ { uint64_t set, clear, propagation, userns; };
struct path_beneath_ { uint64_t rights; int32_t fd; } __attribute__((packed));

static int report_fd = -1;

static _Noreturn void failed_with(int number, const char *format, ...)
{
    char step[2048], line[2100];
    va_list list;
    va_start(list, format);
    vsnprintf(step, sizeof step, format, list);
    va_end(list);
    for (char *c = step; *c; c++)
        if (*c == '\n') *c = ' ';
    int size = snprintf(line, sizeof line, "failed %d %s\n", number, step);
    if (size > 0) write_all(report_fd, line, (size_t)size); /* nobody listens: the launcher is gone, and so are we */
    _exit(FAILED);
}
#define failed(...) failed_with(errno, __VA_ARGS__)

/* ---- mounting by descriptor: a path is resolved once, and everything later acts on what was opened */

static int openat2_(int folder, const char *name, uint64_t flags, uint64_t resolve)
{
    struct open_how_ how = {.flags = flags | O_CLOEXEC, .resolve = resolve};
    return (int)syscall(NR_OPENAT2, folder, name, &how, sizeof how);
}

static int open_folder(const char *path)
{
    return openat2_(AT_FDCWD, path, O_PATH | O_DIRECTORY, NO_MAGIC_LINKS | NO_SYMLINKS);
}

/* The object at `path` itself; -1 with errno, ELOOP when a folder on the way is a link now. */
static int look_up(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash) {
        errno = EINVAL;
        return -1;
    }
    char *folder = strndup(path, (size_t)(slash - path));
    if (!folder) return -1;
    int parent = open_folder(*folder ? folder : "/");
    free(folder);
    if (parent < 0) return -1;
    int fd = openat2_(parent, slash[1] ? slash + 1 : ".", O_PATH | O_NOFOLLOW, NO_MAGIC_LINKS);
    int saved = errno;
    close(parent);
    errno = saved;
    return fd;
}

static int open_path(const char *path)
{
    int fd = look_up(path);
    if (fd < 0) failed("opening `%s`", path);
    return fd;
}

/* -1 when the object is gone or lies behind a folder that this user may not enter. */
static int try_open_path(const char *path)
{
    int fd = look_up(path);
    if (fd < 0 && errno != ENOENT && errno != EACCES && errno != ENOTDIR) failed("opening `%s`", path);
    return fd;
}

static mode_t kind_of(int fd, const char *path)
{
    struct stat found;
    if (fstat(fd, &found)) failed("opening `%s`", path);
    return found.st_mode & S_IFMT;
}

static int copy_tree(int fd, const char *what)
{
    int tree = (int)syscall(NR_OPEN_TREE, fd, "", TREE_CLONE | O_CLOEXEC | RECURSIVE | EMPTY_PATH);
    if (tree < 0) failed("copying the mount of `%s`", what);
    return tree;
}

static void make_read_only(int fd, const char *what, bool below)
{
    struct mount_attr_ attributes = {.set = READ_ONLY};
    if (syscall(NR_MOUNT_SETATTR, fd, "", EMPTY_PATH | (below ? RECURSIVE : 0), &attributes, sizeof attributes))
        failed("making `%s` read-only", what);
}

/* Mounts and closes both. */
static void attach(int tree, int target, const char *what)
{
    if (syscall(NR_MOVE_MOUNT, tree, "", target, "", FROM_FD | TO_FD)) failed("mounting `%s`", what);
    close(tree);
    close(target);
}

static int new_filesystem(const char *kind, const char *const *options, unsigned attributes)
{
    int context = (int)syscall(NR_FSOPEN, kind, 1);
    if (context < 0) failed("making a new %s", kind);
    for (; options && *options; options += 2)
        if (syscall(NR_FSCONFIG, context, SET_STRING, options[0], options[1], 0)) failed("making a new %s with %s=%s", kind, options[0], options[1]);
    if (syscall(NR_FSCONFIG, context, CREATE, NULL, NULL, 0)) failed("making a new %s", kind);
    int fd = (int)syscall(NR_FSMOUNT, context, 1, attributes);
    if (fd < 0) failed("making a new %s", kind);
    close(context);
    return fd;
}

/* A detached, read-only mount of an empty `folder` or `file`, to lay over what must not be seen. */
static int empty(const char *name)
{
    static int top = -1;
    if (top < 0) {
        top = new_filesystem("tmpfs", (const char *const[]){"mode", "755", "size", "4k", NULL}, PLAIN);
        int file;
        if (mkdirat(top, "folder", 0) || (file = openat(top, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0444)) < 0) failed("making an empty folder and file");
        close(file);
    }
    int fd = openat(top, name, O_PATH | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) failed("opening an empty %s", name);
    int tree = copy_tree(fd, name);
    close(fd);
    make_read_only(tree, name, true);
    return tree;
}

/* Every folder on the way to `path`, and `path` too with `last`. */
static void make_folders(const char *path, mode_t mode, bool last)
{
    char *copy = strdup(path);
    if (!copy) failed("making a place for `%s`", path);
    for (char *at = copy + 1;; at++) {
        if (*at != '/' && *at) continue;
        bool end = !*at;
        if (end && !last) break;
        *at = 0;
        if (mkdir(copy, end ? mode : 0755) && errno != EEXIST) failed("making a place for `%s`", path);
        if (end) break;
        *at = '/';
    }
    free(copy);
}

static void make_place(const char *path, int original)
{
    struct stat found;
    if (!lstat(path, &found)) return;
    bool folder = kind_of(original, path) == S_IFDIR;
    make_folders(path, 0755, folder);
    if (folder) return;
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    if (fd < 0) failed("making a place for `%s`", path);
    close(fd);
}

/* A socket of a program outside. Its owner may remove it, or lead its name elsewhere, at any moment: then nobody reaches it by that name. */
static void close_socket(const char *path)
{
    int target = look_up(path);
    if (target < 0) {
        if (errno != ENOENT && errno != EACCES && errno != ENOTDIR && errno != ELOOP) failed("opening `%s`", path);
        return;
    }
    int tree = empty("file");
    if (syscall(NR_MOVE_MOUNT, tree, "", target, "", FROM_FD | TO_FD) && errno != ENOENT) failed("mounting `%s`", path);
    close(tree);
    close(target);
}

static void add_layer(const struct record *layer, int original)
{
    char kind = layer->data[0];
    bool marked = layer->data[1] == '+'; /* W, S: may need a place; H: other layers are mounted in it */
    const char *path = layer->data + 2;
    if (kind == 'W' || kind == 'S') {
        if (original < 0) return;
        if (marked) make_place(path, original);
        attach(original, open_path(path), path);
        return;
    }
    if (kind == 'U') {
        close_socket(path);
        return;
    }
    int target = try_open_path(path), tree;
    if (target < 0) return;
    if (kind == 'R') {
        tree = copy_tree(target, path);
        make_read_only(tree, path, true);
    } else if (kind == 'F') {
        tree = new_filesystem("tmpfs", (const char *const[]){"mode", strcmp(path, "/run") ? "1777" : "755", NULL}, PLAIN);
    } else if (kind_of(target, path) != S_IFDIR) {
        tree = empty("file");
    } else {
        tree = marked ? new_filesystem("tmpfs", (const char *const[]){"mode", "711", NULL}, PLAIN) : empty("folder");
    }
    attach(tree, target, path);
}

static int take_original(const struct record *take)
{
    bool shown = take->data[0] == 'S';
    const char *path = take->data + 1;
    int fd = shown ? try_open_path(path) : open_path(path);
    if (fd < 0) return -1;
    if (kind_of(fd, path) == S_IFLNK) failed_with(ELOOP, "opening `%s`: it is a symbolic link now", path);
    int tree = copy_tree(fd, path);
    close(fd);
    if (shown) make_read_only(tree, path, true);
    return tree;
}

static void write_file(const char *path, const char *text, const char *step)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || !write_all(fd, text, strlen(text))) failed("%s", step);
    close(fd);
}

static void build_view(const struct body *plan, const char *cwd, const char *terminal)
{
    struct stat here, there;
    if (stat(cwd, &here)) failed("entering `%s`", cwd);
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) failed("making the mounts private");
    int *originals = calloc(plan->count + 1, sizeof *originals);
    if (!originals) failed("reading the plan");
    size_t taken = 0, used = 0;
    for (size_t i = 0; i < plan->count; i++)
        if (plan->records[i].tag == 't') originals[taken++] = take_original(&plan->records[i]);
    int console = *terminal && !access("/dev/console", F_OK) ? copy_tree(open_path(terminal), terminal) : -1;
    for (size_t i = 0; i < plan->count; i++)
        if (plan->records[i].tag == 'p') { /* bound onto itself, so that the name cannot be moved */
            int fd = open_path(plan->records[i].data);
            attach(copy_tree(fd, plan->records[i].data), fd, plan->records[i].data);
        }
    int root = open_folder("/");
    if (root < 0) failed("opening `/`");
    int proc = new_filesystem("proc", NULL, PLAIN | NO_EXEC);
    int pts = new_filesystem("devpts", (const char *const[]){"mode", "620", "ptmxmode", "666", NULL}, NO_SET_ID);
    make_read_only(root, "/", true);
    close(root);
    for (size_t i = 0; i < plan->count; i++) {
        const struct record *step = &plan->records[i];
        bool original = step->tag == 'l' && (step->data[0] == 'W' || step->data[0] == 'S');
        if (original && used == taken) failed_with(0, "reading the plan: a layer without its original");
        if (step->tag == 'l') add_layer(step, original ? originals[used++] : -1);
        if (step->tag == 'd') make_folders(step->data, 0700, true);
        if (step->tag == 'z') {
            int fd = open_path(step->data);
            make_read_only(fd, step->data, false);
            close(fd);
        }
    }
    free(originals);
    attach(pts, open_path("/dev/pts"), "/dev/pts");
    if (console >= 0) attach(console, open_path("/dev/console"), "/dev/console");
    attach(proc, open_path("/proc"), "/proc");
    for (size_t i = 0; i < plan->count; i++) {
        const struct record *step = &plan->records[i];
        if (step->tag == 'x') write_file("/proc/sys/kernel/pid_max", step->data, "limiting the number of processes");
        if (step->tag != 'k') continue;
        int target = try_open_path(step->data);
        if (target < 0) continue;
        int tree = copy_tree(target, step->data);
        make_read_only(tree, step->data, true);
        attach(tree, target, step->data);
    }
    if (chdir(cwd) || stat(".", &there)) failed("entering `%s`", cwd);
    if (here.st_dev != there.st_dev || here.st_ino != there.st_ino) failed_with(0, "entering `%s`: it is not the folder that was judged", cwd);
}

/* ---- what the command's process gives up */

static void drop_capabilities(void)
{
    for (int i = 0; i < 64; i++)
        if (prctl(PR_CAPBSET_DROP, i, 0, 0, 0)) {
            if (errno == EINVAL) break; /* one past the kernel's last */
            failed("emptying the bounding set");
        }
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); /* what is not permitted below is not ambient either */
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct nothing[2] = {{0}, {0}};
    if (syscall(SYS_capset, &header, nothing)) failed("dropping all capabilities");
}

static void lower_limit(const char *text)
{
    int kind;
    long long soft, hard;
    struct rlimit known;
    errno = 0;
    if (sscanf(text, "%d %lld %lld", &kind, &soft, &hard) != 3 || getrlimit((__rlimit_resource_t)kind, &known)) failed("setting the resource limits");
    if (known.rlim_cur == RLIM_INFINITY || known.rlim_cur > (rlim_t)soft) known.rlim_cur = (rlim_t)soft;
    if (known.rlim_max == RLIM_INFINITY || known.rlim_max > (rlim_t)hard) known.rlim_max = (rlim_t)hard;
    if (setrlimit((__rlimit_resource_t)kind, &known)) failed("setting the resource limits");
}

static uint64_t little_endian(const char *data)
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) value = value << 8 | (unsigned char)data[i];
    return value;
}

static void grant(int ruleset, int fd, uint64_t rights, uint64_t on_files, const char *what)
{
    struct path_beneath_ rule = {.rights = kind_of(fd, what) == S_IFDIR ? rights : rights & on_files, .fd = fd};
    if (syscall(NR_LANDLOCK_ADD, ruleset, 1, &rule, 0)) failed("granting Landlock rights on `%s`", what);
}

static void restrict_files(const struct body *plan)
{
    const struct record *attributes = find(plan, 'G'), *on_files = find(plan, 'm'), *terminal = find(plan, 'y');
    if (!attributes || !on_files || on_files->size != 8 || !terminal || terminal->size != 8) failed_with(0, "reading the plan: no Landlock rules");
    uint64_t mask = little_endian(on_files->data);
    int ruleset = (int)syscall(NR_LANDLOCK_CREATE, attributes->data, (size_t)attributes->size, 0);
    if (ruleset < 0) failed("making the Landlock ruleset");
    for (size_t i = 0; i < plan->count; i++) {
        const struct record *step = &plan->records[i];
        if (step->tag != 'g') continue;
        if (step->size < 9) failed_with(0, "reading the plan: a right without a path");
        int fd = open(step->data + 8, O_PATH | O_CLOEXEC);
        if (fd < 0 && (errno == ENOENT || errno == EACCES || errno == ENOTDIR)) continue;
        if (fd < 0) failed("granting Landlock rights on `%s`", step->data + 8);
        grant(ruleset, fd, little_endian(step->data), mask, step->data + 8);
        close(fd);
    }
    for (int fd = 0; fd < 3; fd++)
        if (isatty(fd)) grant(ruleset, fd, little_endian(terminal->data), mask, "the terminal");
    if (syscall(NR_LANDLOCK_RESTRICT, ruleset, 0)) failed("entering the Landlock domain");
    close(ruleset);
}

static void filter_calls(const struct record *program)
{
    if (!program || program->size % sizeof(struct sock_filter) || program->size / sizeof(struct sock_filter) > BPF_MAXINSNS)
        failed_with(0, "reading the plan: no system call filter");
    void *code = malloc(program->size); /* the record's bytes may lie anywhere */
    if (!code) failed("installing the system call filter");
    memcpy(code, program->data, program->size);
    struct sock_fprog whole = {.len = (unsigned short)(program->size / sizeof(struct sock_filter)), .filter = code};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &whole)) failed("installing the system call filter");
    free(code);
}

static char **texts(const struct body *plan, char tag)
{
    char **list = calloc(plan->count + 1, sizeof *list);
    if (!list) failed("reading the plan");
    size_t count = 0;
    for (size_t i = 0; i < plan->count; i++)
        if (plan->records[i].tag == tag) list[count++] = plan->records[i].data;
    return list;
}

static _Noreturn void become_command(const struct body *plan, int go_fd, const sigset_t *mask)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->records[i].tag == 'r') lower_limit(plan->records[i].data);
    char **argv = texts(plan, 'a'), **envp = texts(plan, 'e');
    if (!argv[0]) failed_with(0, "reading the plan: no command");
    restrict_files(plan);
    filter_calls(find(plan, 's'));
    if (syscall(NR_CLOSE_RANGE, 3, ~0U, CLOSE_ON_EXEC)) failed("marking descriptors to close");
    char go;
    if (!read_all(go_fd, &go, 1)) _exit(0); /* the engine could not write it down, or the launcher is gone */
    if (sigprocmask(SIG_SETMASK, mask, NULL)) failed("restoring the signal mask");
    execve(argv[0], argv, envp);
    failed("starting `%s`", argv[0]);
}

/* ---- the processes in between */

void close_all_but(int one, int two, int three, int four)
{
    const int kept[] = {one, two, three, four};
    for (int from = 3;;) {
        int next = -1;
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
            if (kept[i] >= from && (next < 0 || kept[i] < next)) next = kept[i];
        unsigned last = next < 0 ? ~0U : (unsigned)next - 1;
        if ((unsigned)from <= last && syscall(NR_CLOSE_RANGE, from, last, 0)) failed("closing the caller's descriptors");
        if (next < 0) return;
        from = next + 1;
    }
}

/* Ends with the launcher, also when it has ended before we could ask for the signal: then nobody reads the pipe. */
static void stay_with_launcher(void)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)) failed("asking for the parent's death signal");
    if (write(report_fd, "\n", 1) != 1) _exit(0);
}

static void enter_namespaces(bool own_network)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();
    char line[64];
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | (own_network ? CLONE_NEWNET : 0)))
        failed("making new namespaces");
    write_file("/proc/self/setgroups", "deny", "mapping the user id");
    snprintf(line, sizeof line, "%u %u 1", uid, uid);
    write_file("/proc/self/uid_map", line, "mapping the user id");
    snprintf(line, sizeof line, "%u %u 1", gid, gid);
    write_file("/proc/self/gid_map", line, "mapping the user id");
}

/* In an own network 127.0.0.1 works, so that test servers do; nothing else is reachable. */
static void raise_loopback(void)
{
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request)) failed("raising the loopback interface");
    close(fd);
}

/* Tells the session's holder which mounts are the command's: what it leaves behind is found by them. */
static void begin_in_session(int connection)
{
    char letter = 'B', control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {&letter, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    int mounts = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    if (mounts < 0) failed("joining the session");
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    *rights = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(rights), &mounts, sizeof mounts);
    if (sendmsg(connection, &message, MSG_NOSIGNAL) != 1) failed("joining the session");
    close(mounts);
}

/* The caller's terminal, when one of 0, 1, 2 is it. */
static void find_terminal(char *name, size_t room)
{
    for (int fd = 0; fd < 3; fd++) {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t size = isatty(fd) ? readlink(link, name, room - 1) : 0;
        name[size > 0 ? size : 0] = 0;
        if (!strncmp(name, "/dev/pts/", 9)) return;
    }
    *name = 0;
}

/* Between the launcher and the command: gives everything up and waits. */
static _Noreturn void become_attendant(pid_t command, int report, bool own_group)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0) failed("opening `/dev/null`");
    for (int fd = 0; fd < 3; fd++) /* a pipe must close when the command closes it */
        if (dup2(null, fd) < 0) failed("opening `/dev/null`");
    close_all_but(report, -1, -1, -1);
    attend(command, report, own_group);
}

static void say_attendant(pid_t pid)
{
    char line[64];
    int size = snprintf(line, sizeof line, "attendant %d\n", pid);
    if (!write_all(report_fd, line, (size_t)size)) _exit(0);
}

/* In a jail of its own the attendant is the first process inside, and makes the mounts before it forks the command. */
static _Noreturn void enter_own(const struct body *plan, const char *cwd, bool own_network, int report, int go_fd, const sigset_t *mask)
{
    char terminal[64];
    stay_with_launcher();
    enter_namespaces(own_network);
    pid_t attendant = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0); /* the launcher's own child: it sees it end */
    if (attendant < 0) failed("starting the jail's first process");
    if (attendant) {
        say_attendant(attendant);
        _exit(0);
    }
    stay_with_launcher();
    if (own_network) raise_loopback();
    find_terminal(terminal, sizeof terminal);
    build_view(plan, cwd, terminal);
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)) failed("making the jail's first process unreadable");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) failed("setting no_new_privs");
    drop_capabilities();
    pid_t command = fork();
    if (command < 0) failed("starting the command's process");
    if (!command) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)) failed("asking for the parent's death signal");
        become_command(plan, go_fd, mask);
    }
    become_attendant(command, report, false);
}

/* In a session it stays outside, where nothing inside can reach it, and the command's own process, which is inside, makes them. */
static _Noreturn void enter_session(const struct body *plan, const char *cwd, bool own_network, const struct session *session, int report, int go_fd,
                                    const sigset_t *mask)
{
    char terminal[64];
    say_attendant(getpid());
    stay_with_launcher();
    if (setns(session->holder, CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | (own_network ? CLONE_NEWNET : 0)))
        failed("joining the session");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) failed("setting no_new_privs");
    pid_t command = fork();
    if (command < 0) failed("starting the command's process");
    if (!command) {
        stay_with_launcher(); /* an attendant that has ended alone, unseen from inside, is the launcher's to see: it has the holder end us */
        if (session->own_group && setpgid(0, 0)) failed("making a process group");
        if (unshare(CLONE_NEWNS)) failed("making new namespaces");
        begin_in_session(session->connection);
        find_terminal(terminal, sizeof terminal);
        build_view(plan, cwd, terminal);
        drop_capabilities();
        become_command(plan, go_fd, mask);
    }
    drop_capabilities();
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)) failed("making the attendant unreadable");
    become_attendant(command, report, session->own_group);
}

_Noreturn void enter_jail(const struct body *plan, const struct session *session, int report, int go_fd, const sigset_t *mask)
{
    const struct record *version = find(plan, 'V'), *cwd = find(plan, 'c'), *network = find(plan, 'n');
    report_fd = report;
    close_all_but(report, go_fd, session->connection, session->holder);
    signal(SIGCHLD, SIG_DFL); /* what else the caller ignores, the command ignores too, as after nohup */
    if (!version || strcmp(version->data, "1")) failed_with(0, "reading the plan: another version");
    if (!cwd || !network) failed_with(0, "reading the plan: it is not whole");
    bool own_network = network->data[0] == '1';
    if (session->connection >= 0) enter_session(plan, cwd->data, own_network, session, report, go_fd, mask);
    enter_own(plan, cwd->data, own_network, report, go_fd, mask);
}
