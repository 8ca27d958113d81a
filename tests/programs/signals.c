/* Signals: what a handler is told, what is blocked meanwhile, and ways back out. */

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t alarms, caught, value, on_stack;
static void *volatile fault;
static sigjmp_buf back;
static char other_stack[1 << 16];

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
}

static void on_user(int signal, siginfo_t *info, void *context)
{
	(void)context;
	caught += signal;
	value = info->si_value.sival_int;
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	char here;

	(void)context;
	caught = signal * 1000 + info->si_code;
	fault = info->si_addr;
	on_stack = &here >= other_stack && &here < other_stack + sizeof other_stack;
	siglongjmp(back, 1);
}

static void handle(int signal, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_sigaction = handler;
	action.sa_flags = SA_SIGINFO | flags;
	sigaction(signal, &action, NULL);
}

int main(void)
{
	/* A timer against a loop that makes no calls. */
	struct itimerval every = { { 0, 2000 }, { 0, 2000 } }, never = { { 0, 0 }, { 0, 0 } };
	volatile unsigned long spins = 0;

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, NULL);
	while (alarms < 20)
		spins++;
	setitimer(ITIMER_REAL, &never, NULL);
	printf("alarms %s, spins %s\n", alarms >= 20 ? "came" : "missing", spins ? "went on" : "stood");

	/* A value that travels with the signal. */
	handle(SIGUSR1, on_user, 0);
	caught = 0;
	sigqueue(getpid(), SIGUSR1, (union sigval){ .sival_int = 4711 });
	printf("user signal %s, value %d\n", caught == SIGUSR1 ? "caught" : "lost", value);

	/* Blocked, pending, let through. */
	sigset_t set, old, pending;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &old);
	caught = 0;
	raise(SIGUSR1);
	sigpending(&pending);
	printf("blocked: caught %d, pending %d\n", caught != 0, sigismember(&pending, SIGUSR1));
	sigsuspend(&old);
	printf("suspended: caught %d, still blocked %d\n", caught != 0,
	       (sigprocmask(SIG_BLOCK, NULL, &pending), sigismember(&pending, SIGUSR1)));
	sigprocmask(SIG_SETMASK, &old, NULL);

	/* Faults on another stack, and out of the handler by a jump, many times. */
	stack_t stack = { .ss_sp = other_stack, .ss_size = sizeof other_stack };
	sigaltstack(&stack, NULL);
	handle(SIGSEGV, on_fault, SA_ONSTACK);
	char *page = mmap(NULL, 1 << 14, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile int jumps = 0;
	for (volatile int i = 0; i < 2000; i++) {
		if (sigsetjmp(back, 1) == 0)
			*(volatile char *)(page + 8 * i) = 1;
		else
			jumps = jumps + 1;
	}
	printf("write: jumps %d, segv %d, accerr %d, address %d, stack %d\n", jumps,
	       caught / 1000 == SIGSEGV, caught % 1000 == SEGV_ACCERR, fault == page + 8 * 1999, on_stack);
	volatile uintptr_t nowhere = 8;
	if (sigsetjmp(back, 1) == 0)
		value = *(volatile int *)nowhere;
	printf("read: maperr %d, address %p\n", caught % 1000 == SEGV_MAPERR, fault);
	munmap(page, 1 << 14);

	/* A handler that interrupts a call: with and without SA_RESTART. */
	int pipes[2];
	char byte;
	for (int restart = 0; restart < 2; restart++) {
		handle(SIGUSR1, on_user, restart ? SA_RESTART : 0);
		if (pipe(pipes))
			return 1;
		pid_t parent = getpid(), child = fork();
		if (child == 0) {
			usleep(50000);
			kill(parent, SIGUSR1);
			usleep(50000);
			_exit(write(pipes[1], "x", 1) != 1);
		}
		ssize_t got = read(pipes[0], &byte, 1);
		printf("restart %d: read %ld, %s\n", restart, (long)got, got < 0 ? strerror(errno) : "a byte");
		waitpid(child, NULL, 0);
		close(pipes[0]);
		close(pipes[1]);
	}

	signal(SIGUSR2, SIG_IGN);
	printf("ignored %d\n", raise(SIGUSR2));
	return 0;
}
