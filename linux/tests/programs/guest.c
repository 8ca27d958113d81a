/* What a program finds of itself, and limits that are the program's, not its emulator's. Prints the
   same on every 64-bit Linux. A line a fact. */

#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __alpha__
#define MACHINE 0x9026
#define SPACE_END 0x40000000000ul
#else
#define MACHINE EM_X86_64
#define SPACE_END 0x800000000000ul
#endif

static void say(const char *what, long value)
{
	if (value < 0)
		printf("%s: %s\n", what, strerror(errno));
	else
		printf("%s: %ld\n", what, value);
	fflush(stdout);
}

static void executable(void)
{
	char path[4096] = "", part[8] = "", full[4096];
	Elf64_Ehdr h;
	long n = readlink("/proc/self/exe", path, sizeof path);

	realpath("guest", full);
	printf("readlink %d %d\n", n == (long)strlen(full), !strcmp(path, full));
	say("in part", readlink("/proc/self/exe", part, 3));
	printf("%d %d\n", !memcmp(part, full, 3), part[3]);
	int fd = open("/proc/self/exe", O_RDONLY);
	say("read", read(fd, &h, sizeof h));
	printf("machine %d\n", h.e_machine == MACHINE || h.e_machine == EM_AARCH64);
}

static void maps(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[5000], *heap = malloc(100);
	int own = 0, stack = 0, data = 0, outside = 0, local;
	unsigned long from, to;

	while (fgets(line, sizeof line, f)) {
		if (strstr(line, "[vsyscall]"))
			continue;
		sscanf(line, "%lx-%lx", &from, &to);
		own += strstr(line, "/guest\n") && from <= (long)maps && (long)maps < to;
		stack += strstr(line, "[stack]") && from <= (long)&local && (long)&local < to;
		data += from <= (long)heap && (long)heap < to;
		outside += to > SPACE_END;
	}
	fclose(f);
	printf("maps: text %d, stack %d, heap %d, outside %d\n", own, stack, data, outside);
}

static void limits(void)
{
	struct rlimit r = { 10 << 20, RLIM_INFINITY }, old;
	int blocks = 0;

	getrlimit(RLIMIT_AS, &old);
	r.rlim_max = old.rlim_max;
	say("RLIMIT_AS", setrlimit(RLIMIT_AS, &r));
	while (blocks < 1000 && malloc(1 << 20))
		blocks++;
	printf("malloc ends %d, %s\n", blocks < 10, strerror(errno));
	say("mmap", mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0);
	say("back", setrlimit(RLIMIT_AS, &old));
	printf("malloc %d\n", malloc(1 << 20) != NULL);
	say("files", getdtablesize() > 0);
	say("dup2", dup2(1, getdtablesize() - 1) == getdtablesize() - 1);
	close(getdtablesize() - 1);
	say("epoll_create1", epoll_create1(EPOLL_CLOEXEC) >= 0);
	for (int i = 0; i < getdtablesize(); i++)
		if (i != 1 && i != 2)
			close(i);
	say("all closed, open", open("/dev/null", O_RDONLY));
}

/* musl finds the stack's size so. */
static void remaps(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	say("mremap of a hole", mremap((void *)(page * 20), page, 2 * page, 0) == MAP_FAILED ? -1 : 0);
	say("mremap into a neighbour", mremap(p, page, 2 * page, 0) == MAP_FAILED ? -1 : 0);
	mprotect(p, page, PROT_WRITE);
	int fd[2];
	pipe(fd);
	write(fd[1], "abc", 3);
	say("read into what can't be read", read(fd[0], p, 3));
	mprotect(p, page, PROT_READ);
	say("read into what can't be written", (write(fd[1], "abc", 3), read(fd[0], p, 3)));
}

static volatile sig_atomic_t caught;
static void on_alarm(int signal) { caught++; }

/* An interrupted call: EINTR, or made again and done; nothing else comes out. */
static void restarts(void)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	struct timespec ts = { 0, 30000000 };
	int p[2], fd;
	char c;

	pipe(p);
	for (int restart = 0; restart < 2; restart++) {
		sa.sa_flags = restart ? SA_RESTART : 0;
		sigaction(SIGALRM, &sa, NULL);
		caught = 0;
		if (fork() == 0) {
			usleep(150000);
			write(p[1], "x", 1);
			_exit(0);
		}
		ualarm(50000, 0);
		say(restart ? "read again" : "read", read(p[0], &c, 1));
		say("caught", caught);
		if (!restart)
			read(p[0], &c, 1);
	}
	ualarm(10000, 0);
	say("nanosleep", nanosleep(&ts, NULL));
	ualarm(10000, 0);
	say("epoll_wait", ({ struct epoll_event e; epoll_wait(epoll_create1(0), &e, 1, 1000); }));
	ualarm(10000, 0);
	say("usleep", (usleep(20000), 0));
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "again")) {
		puts("again");
		return 7;
	}
	executable();
	maps();
	remaps();
	restarts();
	limits();
	fflush(stdout);
	execl("/proc/self/exe", "guest", "again", NULL);
	perror("execl");
	return 1;
}
