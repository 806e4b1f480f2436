/* The C launcher: asks the engine for a verdict and a ready-made plan, and carries the plan out as the command's parent.
 *
 * The plan's form and the order of its steps: docs/protocol/plan.md. The same plan is carried out by instinct_shell/resident/running.py, and the
 * words of the steps are the same, since hints are found by them. */
#ifndef INSTINCT_LAUNCHER_H
#define INSTINCT_LAUNCHER_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { FAILED = 125, TIMED_OUT = 124 };

/* One record of a message or a plan: `data` is followed by a NUL that `size` does not count. */
struct record {
    char tag;
    uint32_t size;
    char *data;
};

struct body {
    struct record *records;
    size_t count;
};

bool split(char *data, size_t size, struct body *into); /* false: not a body */
const struct record *find(const struct body *body, char tag);
bool write_all(int fd, const void *data, size_t size);
bool read_all(int fd, void *data, size_t size);
bool wait_for(int fd, int ms); /* until there is something to read */

/* The session that a command joins; both -1 for a jail of its own. own_group: it leads a process group of its own. */
struct session {
    int connection; /* to the session's holder: when it is lost, the holder ends what the command has started */
    int holder;     /* its pidfd */
    bool own_group;
};

/* jail.c: the processes between the launcher's fork and the command's exec. Everything is made ready at once; one byte on `go_fd` then starts the
 * command, end of file ends it all. `mask`: the caller's. Never returns. */
_Noreturn void enter_jail(const struct body *plan, const struct session *session, int report, int go_fd, const sigset_t *mask);
_Noreturn void attend(pid_t command, int report, bool own_group);
void close_all_but(int one, int two, int three, int four); /* everything from 3 on; -1 stands for none */

/* watch.c: the launcher's side of a run. */
struct outcome {
    bool failed;         /* a step failed, nothing ran: `step` and `step_errno` */
    int step_errno;
    char step[2048];
    bool ended;          /* the attendant's closing words were heard */
    int status;          /* raw wait status */
    long long user_us, system_us, rss_kb, wall_us;
    const char *limit;   /* which limit ended it, or NULL */
    bool in_session;
};
/* Calls `told` once, as soon as the outcome is known, while what is left of the jail ends. */
void watch(pid_t child, int report, double wall_seconds, const struct session *session, struct outcome *into, void (*told)(const struct outcome *));
void describe(const struct outcome *outcome, char *into, size_t room);
bool join_session(const struct body *plan, struct session *session); /* false: the plan names one, and its holder does not answer */
_Noreturn void die_like(int number);

/* streams.c: 0, 1 and 2. A relay passes on what the command writes: `end` is for the command; closing `ask` asks it to say by `told` when it is done,
 * `d`, or that the file takes no more, `e`. */
struct relay {
    pid_t pid;
    int end, ask, told;
};
struct streams {
    struct relay relays[3];
    bool joined; /* 2 is the same file as 1, and goes by its relay, so that the order stays */
    bool lost;   /* something that was written could not be passed on */
    off_t last; /* where in stderr, if that is a file, the command's words begin; else -1 */
};
bool streams_fit(void);
bool start_relays(const struct body *plan, struct streams *streams);
void enter_relays(const struct streams *streams);
void leave_relays(struct streams *streams);
void finish_relays(struct streams *streams);
void note_stderr(struct streams *streams);
ssize_t read_stderr(struct streams *streams, char *into, size_t room);

#endif
