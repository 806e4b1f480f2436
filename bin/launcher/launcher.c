/* The front: instinct-exec in C, and the drop-in shell when it is called instinct-shell. On any trouble it becomes the Python launcher, which is slower
   and comes to the same verdict. */
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Set by the build: the interpreter, the program that starts ours, and the package that the engine must be of. */
#ifndef INSTINCT_PYTHON
#error "build it by bin/setup"
#endif

enum { HELLO_MS = 1000, ANSWER_MS = 4000, MOST = 16 << 20 };
extern char **environ;

/* ---- a request that grows; `broken` once memory ran out */

struct request { char *data; size_t used, room; bool broken; };

static void add(struct request *request, char tag, const char *data, size_t size)
{
    if (request->used + size + 6 > request->room) {
        request->room = (request->used + size + 6) * 2 + 8192;
        char *more = realloc(request->data, request->room);
        if (!more || size > MOST) {
            request->broken = true;
            return;
        }
        request->data = more;
    }
    char *at = request->data + request->used;
    *at++ = tag;
    for (int shift = 0; shift < 32; shift += 8) *at++ = (char)(size >> shift);
    memcpy(at, data, size);
    at[size] = 0;
    request->used += size + 6;
}

static void add_text(struct request *request, char tag, const char *text)
{
    add(request, tag, text, strlen(text));
}

static void finish(struct request *request)
{
    size_t size = request->used - 4;
    for (int i = 0; i < 4; i++) request->data[i] = (char)(size >> 8 * i);
}

/* Everything that bears on the answer: what is asked, where, with which environment. */
static bool make_request(struct request *request, const char *program, char *const *arguments)
{
    char umask_text[16], terminals[4] = "", *cwd = getcwd(NULL, 0);
    *request = (struct request){.data = malloc(8192), .used = 4, .room = 8192};
    if (!request->data || !cwd || *cwd != '/') return false;
    mode_t mask = umask(077);
    umask(mask);
    snprintf(umask_text, sizeof umask_text, "%o", mask);
    for (int fd = 0; fd < 3; fd++)
        if (isatty(fd)) strcat(terminals, (const char *[]){"0", "1", "2"}[fd]);
    add_text(request, 'P', program);
    for (; *arguments; arguments++) add_text(request, 'A', *arguments);
    add_text(request, 'C', cwd);
    add_text(request, 'U', umask_text);
    add_text(request, 'T', terminals);
    for (char **entry = environ; *entry; entry++) add_text(request, 'E', *entry);
    free(cwd);
    if (request->broken || request->used > MOST) return false;
    finish(request);
    return true;
}

/* ---- the engine */

static bool same_link(pid_t pid, const char *name)
{
    char theirs[64], ours[64], seen[256], own[256];
    snprintf(theirs, sizeof theirs, "/proc/%d/%s", pid, name);
    snprintf(ours, sizeof ours, "/proc/self/%s", name);
    ssize_t first = readlink(theirs, seen, sizeof seen), second = readlink(ours, own, sizeof own);
    return first > 0 && first == second && first < (ssize_t)sizeof seen && !memcmp(seen, own, (size_t)first);
}

/* The lines of /proc/PID/status that say what holds a process. */
static bool held_by(const char *path, char *into, size_t room)
{
    static const char *const names[] = {"NoNewPrivs:", "Seccomp:", "Seccomp_filters:", "CapEff:", "CapBnd:"};
    char text[8193];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    if (size <= 0) return false;
    text[size] = *into = 0;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (!strncmp(line, names[i], strlen(names[i])) && strlen(into) + strlen(line) + 2 < room) strcat(strcat(into, line), "\n");
    return true;
}

/* Whether that process sees the machine as we do and is held by nothing that does not hold us: no jailed command ever does. */
static bool stands_beside(pid_t pid)
{
    char path[64], theirs[512], ours[512];
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    return pid > 0 && same_link(pid, "ns/user") && same_link(pid, "ns/mnt") && same_link(pid, "ns/pid") && same_link(pid, "ns/net") &&
           same_link(pid, "ns/cgroup") && same_link(pid, "root") && held_by(path, theirs, sizeof theirs) &&
           held_by("/proc/self/status", ours, sizeof ours) && !strcmp(theirs, ours);
}

/* The runtime directory, opened and found ours alone; -1. */
static int open_runtime(void)
{
    char path[4200];
    struct stat found;
    const char *base = getenv("XDG_RUNTIME_DIR"), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int size;
    if (base && *base == '/' && !stat(base, &found) && found.st_uid == getuid())
        size = snprintf(path, sizeof path, "%s/instinct-shell", base);
    else if (state && *state == '/')
        size = snprintf(path, sizeof path, "%s/instinct-shell/run", state);
    else if (home && *home == '/')
        size = snprintf(path, sizeof path, "%s/.local/state/instinct-shell/run", home);
    else
        return -1;
    int fd = size < (int)sizeof path ? open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd >= 0 && (fstat(fd, &found) || found.st_uid != getuid() || found.st_mode & 077)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* An engine that has taken our call and is what it says; -1 with the reason. */
static int call_engine(const char **trouble)
{
    static const char hello[] = {6, 0, 0, 0, 'H', 0, 0, 0, 0, 0};
    struct stat package;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    *trouble = "absent";
    int runtime = open_runtime(), yes = 1;
    if (runtime < 0 || stat(INSTINCT_PACKAGE, &package)) return -1;
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/engine1-%lx-%lx", runtime, (unsigned long)package.st_dev,
             (unsigned long)package.st_ino);
    int engine = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool called = engine >= 0 && !setsockopt(engine, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) &&
                  !connect(engine, (struct sockaddr *)&address, sizeof address);
    close(runtime);
    if (!called) return -1;
    *trouble = "hung";
    if (!wait_for(engine, HELLO_MS)) return -1;
    char data[sizeof hello], control[CMSG_SPACE(sizeof(struct ucred))];
    struct iovec part = {data, sizeof data};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    *trouble = "died";
    if (recvmsg(engine, &message, MSG_CMSG_CLOEXEC) != sizeof hello) return -1;
    *trouble = "declined";
    struct cmsghdr *first = CMSG_FIRSTHDR(&message);
    struct ucred sender;
    if (memcmp(data, hello, sizeof hello) || !first || first->cmsg_level != SOL_SOCKET || first->cmsg_type != SCM_CREDENTIALS) return -1;
    memcpy(&sender, CMSG_DATA(first), sizeof sender); /* whoever sent this, not whoever made the socket */
    if (sender.uid != getuid() || !stands_beside(sender.pid)) return -1;
    *trouble = NULL;
    return engine;
}

/* The body of the next message, split; false when there is none in time. */
static bool hear_answer(int engine, struct body *answer)
{
    uint32_t size;
    char *data;
    if (!wait_for(engine, ANSWER_MS) || !read_all(engine, &size, sizeof size) || size > MOST || !(data = malloc(size + 1))) return false;
    return read_all(engine, data, size) && split(data, size, answer);
}

static void say(const struct body *answer)
{
    const struct record *out = find(answer, 'O'), *err = find(answer, 'W');
    if (out) write_all(1, out->data, out->size); /* nobody listens: the exit status still says it */
    if (err) write_all(2, err->data, err->size);
}

/* ---- one run */

static int engine = -1;
static char run_id[64], ending[2400];
static struct streams streams;

/* Brings the end to the engine while what is left of the jail ends. */
static void report_end(const struct outcome *outcome)
{
    struct request message = {.data = malloc(8192), .used = 4, .room = 8192};
    describe(outcome, ending, sizeof ending);
    if (!message.data) return;
    add_text(&message, 'F', ending);
    static char words[4096];
    ssize_t said = strncmp(ending, "ended 0 ", 8) ? read_stderr(&streams, words, sizeof words) : -1;
    if (said >= 0) add(&message, 'Z', words, (size_t)said);
    finish(&message);
    send(engine, message.data, message.used, MSG_NOSIGNAL); /* hear_end finds out when it did not arrive */
    free(message.data);
}

/* Makes sure that the end is recorded: by the worker that judged, else by another one, else by ourselves. */
static void hear_end(void)
{
    struct body answer;
    struct request again;
    const char *trouble;
    if (hear_answer(engine, &answer)) {
        say(&answer);
        return;
    }
    close(engine);
    char *words[] = {run_id, ending, "again", NULL};
    engine = call_engine(&trouble);
    if (engine >= 0 && make_request(&again, "end", words) && send(engine, again.data, again.used, MSG_NOSIGNAL) == (ssize_t)again.used &&
        hear_answer(engine, &answer) && find(&answer, 'X')) {
        say(&answer);
        return;
    }
    pid_t recorder = fork();
    if (!recorder) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        execl(INSTINCT_PYTHON, INSTINCT_PYTHON, "-I", "-S", "-B", "-X", "utf8", INSTINCT_LAUNCH, "instinct", "engine", "record-end", run_id, ending, "again", NULL);
        _exit(FAILED);
    }
    while (recorder > 0 && waitpid(recorder, NULL, 0) < 0 && errno == EINTR) {}
}

static int status_of(const struct outcome *outcome)
{
    if (outcome->failed) return FAILED;
    if (outcome->limit && !strcmp(outcome->limit, "wall_seconds")) return TIMED_OUT;
    if (outcome->limit) die_like(SIGKILL);
    if (!outcome->ended) return FAILED;
    if (WIFSIGNALED(outcome->status)) die_like(WTERMSIG(outcome->status));
    return WEXITSTATUS(outcome->status);
}

static const char *program = "instinct-exec"; /* what launch.py and the engine call it */

static _Noreturn void become_python(char **argv, const char *trouble)
{
    const char *const start[] = {INSTINCT_PYTHON, "-I", "-S", "-B", "-X", "utf8", INSTINCT_LAUNCH, program};
    enum { WORDS = sizeof start / sizeof *start };
    size_t count = 0;
    while (argv[count]) count++;
    const char **words = calloc(WORDS + count + 1, sizeof *words);
    if (words && (!trouble || !setenv("INSTINCT_ENGINE", trouble, 1))) {
        memcpy(words, start, sizeof start);
        for (size_t i = 1; i < count; i++) words[WORDS + i - 1] = argv[i];
        execv(INSTINCT_PYTHON, (char **)words);
    }
    dprintf(2, "instinct: cannot start `%s`; refused\n  mend: run bin/setup again\n", INSTINCT_PYTHON);
    _exit(FAILED);
}

int main(int argc, char **argv)
{
    const char *trouble = NULL, *name = argc ? strrchr(*argv, '/') : NULL;
    if (name && !strcmp(name, "/instinct-shell")) program = "shell"; /* its first argument is the name that the shell was called by */
    int least = strcmp(program, "shell") ? 2 : 3;
    struct request request;
    struct body answer, plan;
    for (int fd = 0; fd < 3; fd++) {
        struct stat found;
        if (fstat(fd, &found) || !S_ISDIR(found.st_mode)) continue;
        dprintf(2, "instinct: stdin, stdout or stderr is a folder, which would lead around the jail; nothing ran\n  mend: name a file, a pipe or /dev/null\n");
        return FAILED;
    }
    if (argc < least || getenv("INSTINCT_ENGINE") || !streams_fit() || !make_request(&request, program, argv + 1)) become_python(argv, NULL);
    engine = call_engine(&trouble);
    if (engine < 0) become_python(argv, trouble);
    if (send(engine, request.data, request.used, MSG_NOSIGNAL) != (ssize_t)request.used) become_python(argv, "died");

    if (!hear_answer(engine, &answer)) become_python(argv, "died");
    const struct record *sent = find(&answer, 'Q'), *run = find(&answer, 'N'), *status = find(&answer, 'X'), *wall;
    if (!sent && !status) become_python(argv, "declined");
    say(&answer);
    if (!sent) return atoi(status->data);

    /* While the engine writes it down, the jail is made; the command starts when that is done. */
    int report[2], go[2];
    sigset_t all, mask;
    struct session session;
    if (!run || !split(sent->data, sent->size, &plan) || !join_session(&plan, &session) || pipe2(report, O_CLOEXEC) || pipe2(go, O_CLOEXEC))
        become_python(argv, "declined");
    snprintf(run_id, sizeof run_id, "%s", run->data);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask);
    if (!start_relays(&plan, &streams)) {
        sigprocmask(SIG_SETMASK, &mask, NULL);
        become_python(argv, "declined");
    }
    pid_t child = fork();
    if (!child) {
        enter_relays(&streams);
        enter_jail(&plan, &session, report[1], go[0], &mask);
    }
    leave_relays(&streams);
    close(report[1]);
    close(go[0]);
    bool written = child > 0 && hear_answer(engine, &answer);
    if (written) say(&answer);
    if (!written || !find(&answer, 'G')) { /* nothing runs */
        close(go[1]);
        for (char byte; read_all(report[0], &byte, 1);) {} /* until what was made ready has ended */
        while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
        finish_relays(&streams);
        status = written ? find(&answer, 'X') : NULL;
        if (status) return atoi(status->data);
        sigprocmask(SIG_SETMASK, &mask, NULL);
        become_python(argv, "died");
    }
    note_stderr(&streams);
    write_all(go[1], "G", 1); /* when nobody is there to read it, the report says why */
    close(go[1]);
    struct outcome outcome = {.failed = false};
    wall = find(&plan, 'w');
    watch(child, report[0], wall ? atof(wall->data) / 1000 : 0, &session, &outcome, report_end);
    finish_relays(&streams);
    hear_end();
    if (streams.lost)
        dprintf(2, "instinct: the command ran, but not all of its output could be written to its file\n  mend: see whether that disk is full\n");
    int status_said = status_of(&outcome);
    return streams.lost && !status_said ? FAILED : status_said;
}
