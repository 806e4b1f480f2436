/* The C launcher's way of carrying out a plan, without an engine: reads the plan from a descriptor, runs it, writes how it ended to a file.
 *
 * usage: carry_out PLAN_DESCRIPTOR RESULT_FILE        Built by the jail tests together with the launcher's own sources. */
#include "launcher.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *result_file;

static void keep(const struct outcome *outcome)
{
    char words[2400];
    describe(outcome, words, sizeof words);
    if (!*result_file) return;
    int fd = open(result_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || !write_all(fd, words, strlen(words))) _exit(99);
    close(fd);
}

int main(int argc, char **argv)
{
    if (argc != 3) return 98;
    static char data[1 << 22];
    size_t size = 0;
    int plan_fd = atoi(argv[1]), report[2], go[2];
    for (ssize_t part; (part = read(plan_fd, data + size, sizeof data - size)) > 0;) size += (size_t)part;
    close(plan_fd);
    result_file = argv[2];
    struct body plan;
    struct session session;
    if (!split(data, size, &plan) || !join_session(&plan, &session) || pipe2(report, O_CLOEXEC) || pipe2(go, O_CLOEXEC)) return 97;
    sigset_t all, mask;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask);
    pid_t child = fork();
    if (!child) enter_jail(&plan, &session, report[1], go[0], &mask);
    close(report[1]);
    close(go[0]);
    write_all(go[1], "G", 1);
    close(go[1]);
    struct outcome outcome = {.failed = false};
    const struct record *wall = find(&plan, 'w');
    watch(child, report[0], wall ? atof(wall->data) / 1000 : 0, &session, &outcome, keep);
    if (outcome.failed) dprintf(2, "%s\n", outcome.step);
    if (outcome.failed) return FAILED;
    if (outcome.limit) return strcmp(outcome.limit, "wall_seconds") ? 137 : TIMED_OUT;
    if (!outcome.ended) return FAILED;
    if (WIFSIGNALED(outcome.status)) die_like(WTERMSIG(outcome.status));
    return WEXITSTATUS(outcome.status);
}
