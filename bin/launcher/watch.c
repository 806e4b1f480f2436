/* Keeping watch over one run, from both sides of one pipe: the attendant (PID 1 inside) and the launcher (the command's ancestor outside).
 *
 * The attendant writes lines, `attendant PID`, `stopped N`, `continued`, `ended STATUS USER_US SYSTEM_US RSS_KB`, `failed ERRNO STEP`; the launcher
 * answers by real-time signals. When the attendant ends, the kernel ends everything else in its pid namespace. */
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH};
enum { FIRST_REQUEST = 34, SAME_SIGNAL_MS = 5, GRACE_MS = 1000, END_MS = 5000, HOLDER_MS = 3000 };

static bool is_forwarded(int number)
{
    for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++)
        if (forwarded[i] == number) return true;
    return false;
}

static long long now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

/* ---- the attendant */

/* Collects every child that changed; true when the command itself ended, with its closing line written. */
static bool reap(pid_t command, int report)
{
    char line[160];
    int status;
    struct rusage usage;
    bool ended = false;
    for (pid_t pid; (pid = wait4(-1, &status, WNOHANG | WUNTRACED | WCONTINUED, &usage)) > 0;) {
        if (pid != command) continue;
        int size;
        if (WIFSTOPPED(status)) {
            size = snprintf(line, sizeof line, "stopped %d\n", WSTOPSIG(status));
        } else if (WIFCONTINUED(status)) {
            size = snprintf(line, sizeof line, "continued\n");
        } else {
            ended = true;
            size = snprintf(line, sizeof line, "ended %d %lld %lld %ld\n", status, usage.ru_utime.tv_sec * 1000000LL + usage.ru_utime.tv_usec,
                            usage.ru_stime.tv_sec * 1000000LL + usage.ru_stime.tv_usec, usage.ru_maxrss);
        }
        if (!write_all(report, line, (size_t)size)) _exit(0); /* the launcher is gone */
    }
    return ended;
}

_Noreturn void attend(pid_t command, int report, bool own_group)
{
    sigset_t all, one;
    bool by_group[NSIG] = {false};
    sigfillset(&all);
    for (;;) {
        siginfo_t caught;
        int number = sigwaitinfo(&all, &caught);
        if (number < 0) continue;
        if (number == SIGCHLD) {
            if (reap(command, report)) _exit(0);
        } else if (number == FIRST_REQUEST + SIGKILL) {
            _exit(0);
        } else if (is_forwarded(number)) {
            if (caught.si_code <= 0) by_group[number] = true; /* sent to the whole group: the command has it already */
        } else if (number > FIRST_REQUEST && is_forwarded(number - FIRST_REQUEST)) {
            number -= FIRST_REQUEST;
            sigemptyset(&one);
            sigaddset(&one, number);
            if (by_group[number] || sigtimedwait(&one, NULL, &(struct timespec){.tv_nsec = SAME_SIGNAL_MS * 1000000}) > 0) {
                by_group[number] = false;
                if (own_group) kill(-command, number); /* what the caller's group got, the command's own gets too */
            } else {
                kill(command, number); /* it may have ended just now; the wait status tells */
            }
        }
    }
}

/* ---- the launcher */

struct run {
    pid_t child, attendant;
    int report, terminal;
    bool early[NSIG], stopped, on_terminal;
    struct outcome *outcome;
    long long started, deadline; /* deadline: 0 for none */
    char unread[4096];
    size_t held;
};

static void pass_on(struct run *run, int number)
{
    if (run->attendant)
        kill(run->attendant, FIRST_REQUEST + number); /* gone already: over */
    else
        run->early[number] = true;
}

static void hear(struct run *run, char *line)
{
    struct outcome *outcome = run->outcome;
    int number = 0, at = 0;
    if (sscanf(line, "attendant %d", &number) == 1) {
        run->attendant = number;
        for (int i = 1; i < NSIG; i++)
            if (run->early[i]) pass_on(run, i);
    } else if (sscanf(line, "failed %d %n", &number, &at) == 1 && at) {
        outcome->failed = true;
        outcome->step_errno = number;
        snprintf(outcome->step, sizeof outcome->step, "%s", line + at);
    } else if (!strncmp(line, "stopped", 7)) {
        run->stopped = true;
    } else if (!strcmp(line, "continued")) {
        run->stopped = false;
    } else if (sscanf(line, "ended %d %lld %lld %lld", &outcome->status, &outcome->user_us, &outcome->system_us, &outcome->rss_kb) == 4) {
        outcome->ended = true;
        outcome->wall_us = now_us() - run->started;
    }
}

/* Reads what was written; false when everything that could write has ended. */
static bool listen_to(struct run *run)
{
    for (;;) {
        ssize_t size = read(run->report, run->unread + run->held, sizeof run->unread - 1 - run->held);
        if (size < 0) return errno == EAGAIN || errno == EINTR;
        if (!size) return false;
        run->held += (size_t)size;
        run->unread[run->held] = 0;
        char *line = run->unread;
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = 0;
            hear(run, line);
        }
        run->held -= (size_t)(line - run->unread);
        memmove(run->unread, line, run->held);
        if (run->held == sizeof run->unread - 1) run->held = 0; /* no line of ours is that long */
    }
}

static bool in_foreground(int terminal)
{
    return tcgetpgrp(terminal) == getpgrp();
}

static void out_of_time(struct run *run)
{
    if (run->outcome->limit) {
        kill(run->attendant ? run->attendant : run->child, SIGKILL);
        run->deadline = 0;
        return;
    }
    run->outcome->limit = "wall_seconds";
    run->deadline = now_us() + GRACE_MS * 1000;
    pass_on(run, SIGCONT);
    pass_on(run, SIGTERM);
}

static void take_over_process(struct run *run)
{
    run->terminal = -1;
    for (int fd = 0; fd < 3; fd++)
        if (isatty(fd)) {
            run->on_terminal = true;
            if (run->terminal < 0 && in_foreground(fd)) run->terminal = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        }
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) { /* pipes must close when the command closes them */
        dup2(null, 0);
        dup2(null, 1);
        close(null);
    }
}

/* Joins the session of this plan, if it names one. False: its holder does not answer. */
bool join_session(const struct body *plan, struct session *session)
{
    const struct record *path = find(plan, 'j'), *group = find(plan, 'o');
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct ucred holder;
    socklen_t size = sizeof holder;
    char letter = 0, *slash = path ? strrchr(path->data, '/') : NULL;
    *session = (struct session){-1, -1, group && group->data[0] == '1'};
    if (!path) return true;
    if (!slash || strlen(slash) > 80) return false;
    *slash = 0;
    struct stat found;
    int folder = open(path->data, O_PATH | O_DIRECTORY | O_CLOEXEC);
    *slash = '/';
    if (folder < 0 || fstat(folder, &found) || found.st_uid != geteuid() || found.st_mode & 077) return false;
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d%s", folder, slash);
    int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    bool joined = folder >= 0 && connection >= 0 && !connect(connection, (struct sockaddr *)&address, sizeof address) &&
                  !getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &holder, &size) && holder.uid == geteuid() && holder.pid > 0;
    if (folder >= 0) close(folder);
    if (joined) session->holder = (int)syscall(SYS_pidfd_open, holder.pid, 0);
    /* It greets after we hold its process: the number was still its own then. */
    joined = joined && session->holder >= 0 && wait_for(connection, HOLDER_MS) && recv(connection, &letter, 1, 0) == 1 && letter == 'H';
    if (joined) session->connection = connection;
    return joined;
}

/* The command is over. Not by itself: returns when nothing is left of it. Whether the session was still there; if not, everything has ended. */
static bool conclude(const struct session *session, bool by_itself)
{
    char answer;
    if (session->connection < 0) return true;
    bool held = send(session->connection, by_itself ? "D" : "K", 1, MSG_NOSIGNAL) == 1;
    if (held && !by_itself) held = wait_for(session->connection, END_MS) && recv(session->connection, &answer, 1, 0) >= 0;
    close(session->connection);
    close(session->holder);
    return held;
}

void watch(pid_t child, int report, double wall_seconds, const struct session *session, struct outcome *outcome, void (*told)(const struct outcome *))
{
    struct run run = {.child = child, .report = report, .outcome = outcome, .started = now_us()};
    sigset_t all;
    sigfillset(&all);
    outcome->in_session = session->connection >= 0;
    if (wall_seconds > 0) run.deadline = run.started + (long long)(wall_seconds * 1e6);
    take_over_process(&run);
    fcntl(report, F_SETFL, O_NONBLOCK);
    int signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    bool said = false;
    while (listen_to(&run)) {
        bool killed = outcome->ended && WIFSIGNALED(outcome->status) && WTERMSIG(outcome->status) == SIGKILL; /* by the session's end, perhaps */
        if (!said && (outcome->ended || outcome->failed) && !(killed && outcome->in_session)) {
            said = true;
            told(outcome);
        }
        if (run.stopped && run.on_terminal) { /* Ctrl-Z: so do we, for the shell that waits for us */
            run.stopped = false;
            kill(getpid(), SIGSTOP);
            pass_on(&run, SIGCONT);
        }
        struct pollfd ready[2] = {{.fd = report, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
        long long left = run.deadline ? (run.deadline - now_us() + 999) / 1000 : -1;
        if (poll(ready, 2, run.deadline ? (left > 0 ? (int)(left < 1000000 ? left : 1000000) : 0) : -1) == 0 && run.deadline && now_us() >= run.deadline)
            out_of_time(&run);
        struct signalfd_siginfo caught;
        while (signals >= 0 && read(signals, &caught, sizeof caught) == sizeof caught)
            if (is_forwarded((int)caught.ssi_signo) && caught.ssi_code != SI_KERNEL) pass_on(&run, (int)caught.ssi_signo);
    }
    if (!outcome->ended) outcome->wall_us = now_us() - run.started;
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
    if (run.attendant && run.attendant != child)
        while (waitpid(run.attendant, NULL, 0) < 0 && errno == EINTR) {}
    if (!conclude(session, outcome->ended && !outcome->limit) && !said) outcome->ended = false;
    if (!said) told(outcome);
    if (run.terminal >= 0) {
        if (!in_foreground(run.terminal)) tcsetpgrp(run.terminal, getpgrp());
        close(run.terminal);
    }
    close(signals);
    close(report);
}

/* As execution/jail/order.py reads it. */
void describe(const struct outcome *outcome, char *into, size_t room)
{
    const char *limit = outcome->limit ? outcome->limit : "-", *kind = outcome->in_session ? "session" : "own";
    if (outcome->failed)
        snprintf(into, room, "failed %d %s", outcome->step_errno, outcome->step);
    else if (outcome->ended)
        snprintf(into, room, "ended %d %lld %lld %lld %lld %s %s", outcome->status, outcome->user_us, outcome->system_us, outcome->rss_kb,
                 outcome->wall_us, limit, kind);
    else
        snprintf(into, room, "lost %lld %s %s", outcome->wall_us, limit, kind);
}

_Noreturn void die_like(int number)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    struct rlimit core;
    if (!getrlimit(RLIMIT_CORE, &core)) {
        core.rlim_cur = 0; /* the core, if any, is the command's */
        setrlimit(RLIMIT_CORE, &core);
    }
    signal(number, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    kill(getpid(), number);
    _exit(128 + number);
}
