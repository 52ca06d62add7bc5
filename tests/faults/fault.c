/* Put between a process and the system: calls about files of a run fail as the environment says.

   FAULT="fsync 3"    the third fsync, and every one after it, fails with EIO
   FAULT="rename 1"   likewise; "close 2" closes and says EIO all the same
   FAULT="write 7"    the seventh write is cut short, and there is no room for any after it
   FAULT="short 1"    every write is cut short, but goes on
   FAULT="slow 1"     every fsync takes a while
   FAULT="clock 1"    the time of day jumps by months, back and forth, with every look at it */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int number = 0;

/* Say whether what is asked for is about to happen, or has happened already. */
static int due(const char *name)
{
    const char *fault = getenv("FAULT");
    size_t length = strlen(name);
    if (fault == NULL || strncmp(fault, name, length) != 0 || fault[length] != ' ')
        return 0;
    return __atomic_add_fetch(&number, 1, __ATOMIC_SEQ_CST) >= atoi(fault + length);
}

static int is_ours(int fd)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return strstr(path, "/run/") != NULL || (length > 4 && strcmp(path + length - 4, "/run") == 0);
}

int fsync(int fd)
{
    int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
    int ours = is_ours(fd);
    if (ours && due("fsync")) {
        errno = EIO;
        return -1;
    }
    if (ours && due("slow"))
        usleep(300000);
    return real(fd);
}

int rename(const char *from, const char *to)
{
    int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
    if (strstr(to, "run/") != NULL && due("rename")) {
        errno = EIO;
        return -1;
    }
    return real(from, to);
}

int close(int fd)
{
    int (*real)(int) = dlsym(RTLD_NEXT, "close");
    int fails = is_ours(fd) && due("close");
    int status = real(fd);
    if (fails) {
        errno = EIO;
        return -1;
    }
    return status;
}

ssize_t write(int fd, const void *bytes, size_t length)
{
    static int full = 0;
    ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    if (length > 1 && is_ours(fd)) {
        if (due("short"))
            return real(fd, bytes, length / 2);
        if (due("write")) {
            if (full) {
                errno = ENOSPC;
                return -1;
            }
            full = 1;
            return real(fd, bytes, length / 2);
        }
    }
    return real(fd, bytes, length);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(clock, now);
    if (clock == CLOCK_REALTIME && due("clock"))
        now->tv_sec += rand() % 20000000 - 10000000;
    return status;
}
