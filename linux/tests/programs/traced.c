/* Calls whose traces are the same on every machine, between two marks. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void files(void)
{
    char buffer[200];
    struct iovec out[2] = {{"ab", 2}, {"c\td\n", 4}};
    int fd = openat(AT_FDCWD, "file \"one\"", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    write(fd, "0123456789012345678901234567890123456789", 40);
    write(fd, "\001\0012\377\\\"\n", 7);
    writev(fd, out, 2);
    lseek(fd, 0, SEEK_SET);
    read(fd, buffer, 8);
    read(fd, buffer, 100);
    read(fd, buffer, 100);
    pread(fd, buffer, 3, 40);
    pwrite(fd, "x", 1, 2);
    ftruncate(fd, 4096);
    fchmod(fd, 04755);
    fsync(fd);
    flock(fd, LOCK_EX | LOCK_NB);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_DUPFD_CLOEXEC, 50);
    dup3(fd, 60, O_CLOEXEC);
    close_range(50, 60, 0);
    close(fd);
    close(fd);
    openat(AT_FDCWD, "none", O_WRONLY | O_APPEND | O_NONBLOCK | O_NOFOLLOW);
    openat(AT_FDCWD, ".", O_RDONLY | O_DIRECTORY | O_PATH);
    openat(7777, "none", O_RDONLY);
    access("file \"one\"", R_OK | W_OK);
    access("none", F_OK);
    chdir("none");
    linkat(AT_FDCWD, "none", AT_FDCWD, "other", AT_SYMLINK_FOLLOW);
    symlinkat("target", AT_FDCWD, "link");
    readlinkat(AT_FDCWD, "link", buffer, sizeof buffer);
    mkdirat(AT_FDCWD, "sub", 0750);
    unlinkat(AT_FDCWD, "sub", AT_REMOVEDIR);
    unlinkat(AT_FDCWD, "link", 0);
    unlinkat(AT_FDCWD, "file \"one\"", 0);
    umask(022);
    truncate("none", 5);
    utimensat(AT_FDCWD, "none", 0, AT_SYMLINK_NOFOLLOW);
    syscall(SYS_getrandom, buffer, 0, 1);
}

static void memory(void)
{
    madvise(0, 0, MADV_NORMAL);
    mprotect((void *)1, 8192, PROT_READ | PROT_EXEC);
    msync((void *)0x1000001, 0, MS_SYNC);
    munmap((void *)8192, 0);
}

static void waiting(void)
{
    int both[2], one = 1;
    pipe2(both, O_CLOEXEC);
    struct pollfd fds[2] = {{both[0], POLLIN | POLLPRI, 0}, {both[1], POLLOUT, 0}};
    write(both[1], "x", 1);
    struct pollfd in = {both[0], POLLIN, 0};
    struct timespec soon = {0, 1000};
    int e = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {EPOLLIN | EPOLLET, {.u64 = 7}};
    epoll_ctl(e, EPOLL_CTL_ADD, both[0], &event);
    epoll_ctl(e, EPOLL_CTL_ADD, both[0], &event);
    eventfd(5, EFD_CLOEXEC | EFD_SEMAPHORE);
    int t = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    timerfd_settime(t, 0, &(struct itimerspec){{1, 2}, {3000, 4}}, 0);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &soon, 0);
    syscall(SYS_clock_getres, 55, &soon);
    close(e);
    close(t);
    close(both[0]);
    close(both[1]);
}

static void sockets(void)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(1)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "none"};
    int one = 1;
    in.sin_addr.s_addr = htonl(0x7f000001);
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    connect(s, (void *)&in, sizeof in);
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    listen(-1, 5);
    bind(-1, (void *)&in6, sizeof in6);
    shutdown(s, SHUT_RDWR);
    close(s);
    s = socket(AF_UNIX, SOCK_DGRAM, 0);
    connect(s, (void *)&un, sizeof un);
    close(s);
    int both[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, both);
    sendto(both[0], "hello", 5, MSG_NOSIGNAL | MSG_DONTWAIT, 0, 0);
    close(both[0]);
    close(both[1]);
}

static void processes(void)
{
    sigset_t set;
    struct rlimit limit = {8 << 20, RLIM_INFINITY};
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, 0);
    sigprocmask(SIG_SETMASK, 0, &set);
    setpriority(PRIO_PROCESS, 0, 0);
    getrlimit(12345, &limit);
    setrlimit(RLIMIT_CORE, &limit);
    sched_yield();
    sched_get_priority_max(SCHED_FIFO);
    kill(0, 0);
    setpgid(-1, 5);
    execve("none", (char *[]){"none", "two words", 0}, (char *[]){"A=b", 0});
    pid_t child = fork();
    if (child == 0)
        _exit(3);
    wait4(child, &(int){0}, 0, 0);
    wait4(-1, &(int){0}, WNOHANG | WUNTRACED, 0);
    child = fork();
    if (child == 0)
        *(volatile int *)8 = 1;
    wait4(child, &(int){0}, 0, 0);
    raise(SIGUSR1);
    sigprocmask(SIG_UNBLOCK, &set, 0);
}

int main(void)
{
    chdir("mark");
    files();
    memory();
    waiting();
    sockets();
    processes();
    return 0;
}
