/* What /proc says of the program itself, and its memory as a file. Prints the same on every Linux. */
/* alpha-flags: -O1 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *what, long value)
{
    if (value < 0)
        printf("%s: %s\n", what, strerror(errno));
    else
        printf("%s: %ld\n", what, value);
    fflush(stdout);
}

static char text[65536];
static long length;

/* The whole of a file. */
static char *whole(const char *path)
{
    int fd = open(path, O_RDONLY);
    long n, all = 0;
    if (fd < 0)
        return strcpy(text, "");
    while ((n = read(fd, text + all, sizeof text - 1 - all)) > 0)
        all += n;
    text[all] = 0;
    length = all;
    close(fd);
    return text;
}

static void memory(void)
{
    static volatile long value = 5;
    long got = 0;
    long page = sysconf(_SC_PAGESIZE);
    char *fixed = mmap(0, 2 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *hidden = mmap(0, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int fd = open("/proc/self/mem", O_RDWR);

    munmap(fixed + page, page);
    say("open", fd >= 0);
    say("pread", pread(fd, &got, 8, (long)&value));
    say("value", got);
    say("pwrite", pwrite(fd, &(long){77}, 8, (long)&value));
    say("value", value);
    say("lseek", lseek(fd, (long)&value, SEEK_SET) == (long)&value);
    say("read", read(fd, &got, 4));
    say("read on", read(fd, (char *)&got + 4, 4));
    say("at", lseek(fd, 0, SEEK_CUR) - (long)&value);
    say("value", got);
    say("write what is read only", pwrite(fd, "abc", 3, (long)fixed));
    printf("%s\n", fixed);
    say("write what has no access", pwrite(fd, "abc", 3, (long)hidden));
    say("up to an end", pread(fd, text, 100, (long)fixed + page - 10));
    say("nothing", pread(fd, text, 1, (long)fixed + page));
    say("page 0", pread(fd, text, 1, 0));
    say("kernel", pread(fd, text, 1, 0x7000000000000000));
    say("bad buffer", pread(fd, (void *)8, 8, (long)&value));
    struct iovec two[2] = {{&got, 4}, {(char *)&got + 4, 4}};
    got = 0;
    say("preadv", preadv(fd, two, 2, (long)&value));
    say("value", got);
    pid_t child = fork();
    if (child == 0) {
        /* The file is the parent's memory. */
        value = 1;
        _exit(pread(fd, &got, 8, (long)&value) == 8 ? got : 255);
    }
    int status;
    waitpid(child, &status, 0);
    say("a child reads", WEXITSTATUS(status));
    int other = dup(fd);
    close(fd);
    say("dup", pread(other, &got, 8, (long)&value));
    close(other);
    fd = open("/proc/self/mem", O_RDONLY);
    say("read only", pwrite(fd, "abc", 3, (long)fixed));
    close(fd);
}

/* The number after NAME: in status. */
static unsigned long status(const char *name, int base)
{
    char *at = strstr(whole("/proc/self/status"), name);
    return at ? strtoul(at + strlen(name), 0, base) : 99999;
}

static void caught(int signal) {}

static void signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, 0);
    signal(SIGHUP, SIG_IGN);
    signal(SIGUSR1, caught);
    unsigned long blocked = status("SigBlk:", 16), ignored = status("SigIgn:", 16),
                  caught = status("SigCgt:", 16);
    say("blocked", blocked == (1ul << (SIGTERM - 1) | 1ul << (SIGUSR2 - 1)));
    say("ignored", ignored == 1ul << (SIGHUP - 1));
    say("caught", caught == 1ul << (SIGUSR1 - 1));
    kill(getpid(), SIGTERM);
    say("pending", status("ShdPnd:", 16) == 1ul << (SIGTERM - 1));
}

static void stat(void)
{
    unsigned long v[53] = {0}, local;
    char *at = strrchr(whole("/proc/self/stat"), ')') + 4;
    for (int i = 4; i < 53; i++)
        v[i] = strtoul(at, &at, 10);
    say("pid", atoi(text) == getpid());
    say("name", !strncmp(strchr(text, '('), "(procself) ", 11));
    say("parent", v[4] == getppid());
    say("threads", v[20]);
    say("size", v[23] > 100000 && v[23] < 1ul << 40);
    say("resident", v[24] > 10 && v[24] * sysconf(_SC_PAGESIZE) <= v[23]);
    say("code", v[26] <= (unsigned long)stat && (unsigned long)stat < v[27]);
    say("stack", v[28] > (unsigned long)&local && v[28] - (unsigned long)&local < 65536);
    say("blocked", v[32] == ((1ul << (SIGTERM - 1) | 1ul << (SIGUSR2 - 1)) & 0x7fffffff));
    say("ignored", v[33] == 1ul << (SIGHUP - 1));
    say("caught", v[34] == 1ul << (SIGUSR1 - 1));
    say("arguments", v[48] > v[28] && !strcmp((char *)v[48], "./procself"));
    say("environment", v[50] >= v[49] && v[51] > v[50] && strchr((char *)v[50], '=') != 0);
    unsigned long size = status("VmSize:", 10), resident = status("VmRSS:", 10);
    say("status", size > 100 && resident > 10 && resident <= size && size * 1024 < 1ul << 40);
    say("threads", status("Threads:", 10));
    say("text", status("VmExe:", 10) < 200);
    say("pages", strtoul(whole("/proc/self/statm"), &at, 10) > 10 && strtoul(at, 0, 10) > 0);
}

static volatile int tid;
static void *thread(void *go)
{
    tid = syscall(SYS_gettid);
    read(*(int *)go, text, 1);
    return 0;
}

static void names(void)
{
    char path[100], name[4096] = "", full[4096];
    int go[2];
    pthread_t t;
    printf("comm %s", whole("/proc/self/comm"));
    pipe(go);
    pthread_create(&t, 0, thread, &go[0]);
    while (!tid)
        usleep(1000);
    sprintf(path, "/proc/self/task/%d/comm", tid);
    printf("thread %s", whole(path));
    prctl(PR_SET_NAME, "other name");
    printf("comm %s", whole("/proc/self/comm"));
    sprintf(path, "/proc/%d/task/%d/stat", getpid(), tid);
    say("stat", strtol(whole(path), 0, 10) == tid);
    say("two", status("Threads:", 10));
    sprintf(path, "/proc/self/task/%d/exe", tid);
    realpath("procself", full);
    say("exe", readlink(path, name, sizeof name) == (long)strlen(full) && !strcmp(name, full));
    write(go[1], "x", 1);
    pthread_join(t, 0);
    sprintf(path, "/proc/%d/cmdline", getpid());
    whole(path);
    for (char *p = text; p < text + length; p += strlen(p) + 1)
        printf("argument %s\n", p);
    say("environ", strstr(whole("/proc/self/environ"), "=") != 0);
    unsigned long *aux = (void *)whole("/proc/self/auxv"), *entry;
    for (entry = aux; *entry && *entry != AT_ENTRY; entry += 2)
        ;
    say("entry", entry[1] == getauxval(AT_ENTRY));
    chdir("/proc/self");
    sprintf(path, "%lx", (unsigned long)names >> 16);
    say("relative", strstr(whole("maps"), "/procself\n") != 0);
    say("smaps", strstr(whole("smaps"), "Rss:") != 0);
}

/* Descriptors that the program didn't open aren't listed. */
static void descriptors(void)
{
    int fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY), count = 0;
    char buffer[4096];
    long n;
    while ((n = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0)
        for (char *p = buffer; p < buffer + n; p += *(unsigned short *)(p + 16))
            count += p[19] != '.';
    say("descriptors", count);
}

int main(void)
{
    for (int fd = 3; fd < 20; fd++)
        close(fd);
    descriptors();
    memory();
    signals();
    stat();
    names();
    return 0;
}
