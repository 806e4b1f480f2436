/* Reading and writing whole, and taking a body apart. */
#include "launcher.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool write_all(int fd, const void *data, size_t size)
{
    for (const char *at = data; size;) {
        ssize_t part = write(fd, at, size);
        if (part < 0 && errno == EINTR) continue;
        if (part < 0) return false;
        at += part;
        size -= (size_t)part;
    }
    return true;
}

bool read_all(int fd, void *data, size_t size)
{
    for (char *at = data; size;) {
        ssize_t part = read(fd, at, size);
        if (part < 0 && errno == EINTR) continue;
        if (part <= 0) return false;
        at += part;
        size -= (size_t)part;
    }
    return true;
}

bool split(char *data, size_t size, struct body *into)
{
    size_t room = 0;
    *into = (struct body){0};
    for (size_t at = 0; at < size;) {
        if (size - at < 6) return false;
        const unsigned char *length = (unsigned char *)data + at + 1;
        uint32_t bytes = length[0] | length[1] << 8 | length[2] << 16 | (uint32_t)length[3] << 24;
        if (bytes > size - at - 6 || data[at + 5 + bytes]) return false;
        if (into->count == room) {
            room = room * 2 + 64;
            struct record *more = realloc(into->records, room * sizeof *more);
            if (!more) return false;
            into->records = more;
        }
        into->records[into->count++] = (struct record){data[at], bytes, data + at + 5};
        at += bytes + 6;
    }
    return true;
}

const struct record *find(const struct body *body, char tag)
{
    for (size_t i = 0; i < body->count; i++)
        if (body->records[i].tag == tag) return &body->records[i];
    return NULL;
}

bool wait_for(int fd, int ms)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    int ready;
    do ready = poll(&one, 1, ms);
    while (ready < 0 && errno == EINTR);
    return ready > 0;
}
