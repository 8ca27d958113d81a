/* alpha-flags: -O1
   Every system call with pointers to nothing, to the end of a page before an unmapped one, and to
   where a kernel is. Each is made in a process of its own, so that what it changes is gone, with
   bad pointers in one argument or in all. It is right if the program is still there afterwards,
   and an error is one of Alpha's. Prints what isn't so. */

#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Calls that aren't made: they end the process, replace it, make another, wait for what never
   comes, signal others, or change the machine that the test runs on. */
static const short not_made[] = {
	1, 2, 66, 312, 405,		/* exit, fork, vfork, clone, exit_group */
	11, 59, 513,			/* execve and its like */
	37, 381, 424, 356, 492, 534,	/* kill... */
	103, 351,			/* sigreturn */
	111, 357, 355,			/* sigsuspend, sigtimedwait */
	36, 500,			/* sync, syncfs */
	310, 441,			/* syslog, keyctl: some numbers clear logs and keyrings */
	43,				/* set_program_attributes: where the heap is */
	21, 22, 51, 61, 76, 88, 166, 302, 321, 374,	/* umount, acct, chroot, vhangup, names of the host, mount */
	122, 140, 303, 360, 366, 419, 499,	/* the host's time */
	39, 82, 147,			/* process groups: the terminal's */
	465, 501,			/* unshare, setns */
	73, 74, 341, 75,		/* munmap, mprotect, mremap, madvise of what is needed here */
	17, 71,				/* brk, mmap */
	96, 330, 332, 395, 442, 508, 496, 145,	/* how the test itself runs */
	200, 201, 204, 205, 210, 212,	/* System V's objects: 0 is a key for a new one, and a command to remove */
};

static int made(int number)
{
	for (unsigned i = 0; i < sizeof not_made / sizeof *not_made; i++)
		if (not_made[i] == number)
			return 0;
	return 1;
}

static long call(long number, const long *a, long *error)
{
	register long v0 __asm__("$0") = number;
	register long a0 __asm__("$16") = a[0];
	register long a1 __asm__("$17") = a[1];
	register long a2 __asm__("$18") = a[2];
	register long a3 __asm__("$19") = a[3];
	register long a4 __asm__("$20") = a[4];
	register long a5 __asm__("$21") = a[5];
	__asm__ volatile("callsys"
			 : "+r"(v0), "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4), "+r"(a5)
			 :
			 : "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$22", "$23", "$24", "$25", "$27", "$28", "memory");
	*error = a3;
	return v0;
}

static void on_alarm(int signal) { }

static int try(int number, char *edge, char *good, int fd)
{
	const long bad[] = { 0, 1, (long)edge - 1, (long)edge, 0x3fffffffff8, 0x40000000000, 0x7fff00000000,
			     0x555555554000, -0x40000000000 + 8, -8, 0x7fffffffffffffff };
	struct sigaction sa = { .sa_handler = on_alarm };
	int wrong = 0;

	sigaction(SIGALRM, &sa, NULL);
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
		for (int at = 0; at <= 6; at++)
			for (int rest = 0; rest < 3; rest++) {
				long a[6], error;
				for (int j = 0; j < 6; j++)
					a[j] = at == j || at == 6 ? bad[i] : rest == 0 ? fd : rest == 1 ? (long)good : 64;
				memset(good, 0, 8192);
				ualarm(1000, 1000);
				long v = call(number, a, &error);
				if (error != 0 && (error != 1 || v <= 0 || v > 139)) {
					printf("%d: bad pointer %u at %d, others %d: %ld %ld\n", number, i, at, rest, v, error);
					wrong++;
				}
			}
	return wrong;
}

int main(int argc, char **argv)
{
	char *area = mmap(NULL, 4 * 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int from = argc > 1 ? atoi(argv[1]) : 0, to = argc > 2 ? atoi(argv[2]) : 570, calls = 0;
	int p[2];

	munmap(area + 8192, 8192);
	if (chdir(argc > 3 ? argv[3] : "."))
		return 1;
	for (int number = from; number < to; number++) {
		if (!made(number))
			continue;
		calls++;
		fflush(stdout);
		pid_t child = fork();
		if (child == 0) {
			/* A call may close what is written to, or change how signals are taken. */
			pipe(p);
			int out = dup(1);
			dup2(p[0], 0), dup2(p[1], 1);
			setpgid(0, 0);
			int wrong = try(number, area + 8192, area + 2 * 8192, p[0]);
			dup2(out, 1);
			fflush(stdout);
			_exit(wrong != 0);
		}
		int status;
		/* A call that waits in spite of all has had its time. */
		for (int i = 0; waitpid(child, &status, WNOHANG) == 0; i++) {
			if (i > 4000) {
				printf("%d: it hangs\n", number);
				kill(child, SIGKILL);
				waitpid(child, &status, 0);
				break;
			}
			usleep(5000);
		}
		if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
			printf("%d: wrong\n", number);
		if (WIFSIGNALED(status))
			printf("%d: ended by %s\n", number, strsignal(WTERMSIG(status)));
	}
	printf("%s\n", calls > 0 ? "done" : "nothing");
	return 0;
}
