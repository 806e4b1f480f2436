/* 0, 1 and 2: what passes into a jail as it is, and a relay for a file where the command may not write: an agent's record of its output.
 *
 * The twin of execution/plan_descriptors.py. A stdin that is a file is left to the Python launcher: inside, it is opened anew, so that it can be sought. */
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static bool harmless_device(int fd, dev_t device)
{
    static const unsigned terminals[] = {4, 5, 136, 137, 138, 139, 140, 141, 142, 143, 229, 204};
    static const unsigned minors[] = {3, 5, 7, 8, 9}; /* null zero full random urandom */
    if (isatty(fd)) return true;
    for (size_t i = 0; i < sizeof terminals / sizeof *terminals; i++)
        if (major(device) == terminals[i]) return true;
    for (size_t i = 0; i < sizeof minors / sizeof *minors; i++)
        if (major(device) == 1 && minor(device) == minors[i]) return true;
    return false;
}

static bool is_written_file(int fd, const struct stat *found)
{
    return fd > 0 && S_ISREG(found->st_mode) && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
}

/* Whether this launcher can hand 0, 1 and 2 on: pipes, sockets, terminals, /dev/null and its like, and files that the output goes to. */
bool streams_fit(void)
{
    for (int fd = 0; fd < 3; fd++) {
        struct stat found;
        if (fstat(fd, &found)) return false;
        bool plain = S_ISFIFO(found.st_mode) || S_ISSOCK(found.st_mode) || (S_ISCHR(found.st_mode) && harmless_device(fd, found.st_rdev));
        if (!plain && !is_written_file(fd, &found)) return false;
    }
    return true;
}

/* Whether the command could open this very file for writing by itself: the deepest layer of the plan that holds it says so. */
static bool is_writable_inside(int fd, const struct stat *found, const struct body *plan)
{
    char link[32], path[4096];
    struct stat named;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size <= 0 || size >= (ssize_t)sizeof path - 1) return false;
    path[size] = 0;
    if (lstat(path, &named) || named.st_dev != found->st_dev || named.st_ino != found->st_ino) return false; /* another file by now */
    for (size_t i = plan->count; i-- > 0;) {
        const struct record *layer = &plan->records[i];
        if (layer->tag != 'l' || layer->size < 3) continue;
        const char *top = layer->data + 2;
        size_t length = strlen(top);
        while (length && top[length - 1] == '/') length--;
        if (!strncmp(path, top, length) && (path[length] == '/' || !path[length])) return layer->data[0] == 'W';
    }
    return false;
}

/* In a forked child: passes on what comes by the pipe. When `asked` is closed, it says by `tell` once all that was in the pipe then has been passed
 * on, and goes on: what the command left behind may write for ever. */
static _Noreturn void relay(int file, int pipe_end, int asked, int tell)
{
    static char piece[1 << 16];
    bool waiting = true;
    int owed = -1;
    for (int fd = 0; fd < 3; fd++)
        if (fd != file) close(fd); /* a pipe must close when its last holder does */
    close_all_but(pipe_end, asked, tell, -1);
    for (;;) {
        struct pollfd ready[2] = {{.fd = pipe_end, .events = POLLIN}, {.fd = waiting ? asked : -1, .events = POLLIN}};
        if (poll(ready, 2, -1) < 0) continue;
        if (waiting && ready[1].revents) {
            waiting = false;
            if (ioctl(pipe_end, FIONREAD, &owed)) owed = 0;
        }
        if (ready[0].revents) {
            ssize_t size = read(pipe_end, piece, sizeof piece);
            if (size < 0 && errno == EINTR) continue;
            if (size > 0 && !write_all(file, piece, (size_t)size)) {
                if (write(tell, "e", 1) < 0) _exit(0);
                size = 0;
            }
            if (size <= 0) _exit(0); /* our end then tells whoever is left, as with a plain pipe */
            if (owed > 0) owed = owed > size ? owed - (int)size : 0;
        }
        if (owed == 0) {
            owed = -1;
            if (write(tell, "d", 1) < 0) _exit(0);
        }
    }
}

/* Whether what is written to both comes one after the other, as after `>log 2>&1`. */
static bool is_same_file(int one, int two)
{
    struct stat first, second;
    return !fstat(one, &first) && !fstat(two, &second) && first.st_dev == second.st_dev && first.st_ino == second.st_ino &&
           fcntl(one, F_GETFL) == fcntl(two, F_GETFL) && lseek(one, 0, SEEK_CUR) == lseek(two, 0, SEEK_CUR);
}

/* One process for each file that needs a relay; it outlives us where a session's background process goes on writing. All signals are blocked. */
bool start_relays(const struct body *plan, struct streams *streams)
{
    *streams = (struct streams){.last = -1};
    for (int fd = 1; fd < 3; fd++) {
        struct stat found;
        int ends[2], ask[2], tell[2];
        if (fstat(fd, &found)) return false;
        if (!S_ISREG(found.st_mode) || is_writable_inside(fd, &found, plan)) continue;
        if (fd == 2 && streams->relays[1].pid && is_same_file(1, 2)) {
            streams->joined = true;
            continue;
        }
        if (pipe2(ends, O_CLOEXEC) || pipe2(ask, O_CLOEXEC) || pipe2(tell, O_CLOEXEC)) return false;
        pid_t pid = fork();
        if (pid < 0) return false;
        if (!pid) relay(fd, ends[0], ask[0], tell[1]);
        close(ends[0]);
        close(ask[0]);
        close(tell[1]);
        streams->relays[fd] = (struct relay){pid, ends[1], ask[1], tell[0]};
    }
    return true;
}

/* In the command's process: what it writes goes to the relays. */
void enter_relays(const struct streams *streams)
{
    for (int fd = 1; fd < 3; fd++)
        if (streams->relays[fd].pid && dup2(streams->relays[fd].end, fd) < 0) _exit(FAILED);
    if (streams->joined && dup2(1, 2) < 0) _exit(FAILED);
}

/* In the launcher, once the command's process has its own. */
void leave_relays(struct streams *streams)
{
    for (int fd = 1; fd < 3; fd++)
        if (streams->relays[fd].pid) close(streams->relays[fd].end);
}

/* Returns when all that was written until now has been passed on, or the relay is gone. Once. */
static void drain(struct streams *streams, int fd)
{
    struct relay *one = &streams->relays[fd];
    char done = 0;
    if (!one->pid || one->ask < 0) return;
    close(one->ask);
    one->ask = -1;
    while (read(one->told, &done, 1) < 0 && errno == EINTR) {}
    streams->lost = streams->lost || done == 'e';
}

/* Nobody waits for a relay's end: what the command left behind, or handed to a program outside, may write for as long as it likes. */
void finish_relays(struct streams *streams)
{
    drain(streams, 1);
    drain(streams, 2);
}

/* ---- the end of what was written to stderr, where that is a file: read again afterwards (execution/last_words.py) */

void note_stderr(struct streams *streams)
{
    struct stat found;
    if (fstat(2, &found) || !S_ISREG(found.st_mode)) return;
    streams->last = fcntl(2, F_GETFL) & O_APPEND ? found.st_size : lseek(2, 0, SEEK_CUR);
}

/* The last bytes since then, now that the command has ended; -1 where it is no file, or one that may not be read. */
ssize_t read_stderr(struct streams *streams, char *into, size_t room)
{
    struct stat found;
    if (streams->last < 0) return -1;
    drain(streams, streams->joined ? 1 : 2);
    int fd = open("/proc/self/fd/2", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    ssize_t size = -1;
    if (!fstat(fd, &found)) {
        off_t from = found.st_size - (off_t)room;
        size = pread(fd, into, room, from > streams->last ? from : streams->last);
    }
    close(fd);
    return size;
}
