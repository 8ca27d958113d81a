/* Many threads, forks, faults and signals at once: what was lost elsewhere. Prints the same on every
   64-bit Linux. */

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int stop;
static atomic_long allocations, alarms;

static void *allocate(void *arg)
{
	unsigned seed = (unsigned)(long)arg;

	while (!stop) {
		char *p = malloc(rand_r(&seed) % 5000 + 1);
		*p = 1;
		free(p);
		allocations++;
	}
	return NULL;
}

/* Threads allocate while the main thread forks: the child must find no lock held. */
static void forks(void)
{
	pthread_t threads[4];
	int i, good = 0;

	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, allocate, (void *)(long)i);
	for (i = 0; i < 30; i++) {
		pid_t pid = fork();
		int status;
		if (pid == 0) {
			free(malloc(100000));
			_exit(7);
		}
		waitpid(pid, &status, 0);
		good += WIFEXITED(status) && WEXITSTATUS(status) == 7;
	}
	stop = 1;
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("forks %d, allocations %d\n", good, allocations > 100);
}

static sigjmp_buf back;
static void jump(int signal) { siglongjmp(back, signal); }

/* Out of a SIGSEGV handler by a jump, again and again: nothing may pile up. */
static void jumps(void)
{
	volatile int i, jumped = 0;
	char *none = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	signal(SIGSEGV, jump);
	for (i = 0; i < 30000; i++)
		if (sigsetjmp(back, 1) == 0)
			*(volatile char *)none = 1;
		else
			jumped++;
	signal(SIGSEGV, SIG_DFL);
	printf("jumps %d\n", jumped);
}

static void on_alarm(int signal) { alarms++; }

/* A timer every millisecond over loops, system calls and another thread. */
static void *spin(void *arg)
{
	volatile long n = 0;
	while (!stop)
		n++;
	return NULL;
}

static void timers(void)
{
	struct sigaction a = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };
	pthread_t thread;
	int p[2], i;
	long sum = 0;
	char c;

	stop = 0;
	sigaction(SIGALRM, &a, NULL);
	pthread_create(&thread, NULL, spin, NULL);
	pipe(p);
	setitimer(ITIMER_REAL, &every, NULL);
	for (i = 0; i < 20000 || alarms < 100; i++) {
		c = i;
		if (write(p[1], &c, 1) != 1 || read(p[0], &c, 1) != 1 || c != (char)i)
			printf("pipe: %s\n", strerror(errno));
		for (int j = 0; j < 100; j++)
			sum += j;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	stop = 1;
	pthread_join(thread, NULL);
	printf("timers %d, sums %d\n", alarms >= 100, sum == 4950L * i);
}

/* Signals to threads, each with its own mask. */
static atomic_int received[4];
static __thread int mine;
static void on_user(int signal) { received[mine]++; }

static void *listen(void *arg)
{
	sigset_t set;

	mine = (int)(long)arg;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	received[mine] = 0;
	while (!stop)
		usleep(100);
	return NULL;
}

static void directed(void)
{
	pthread_t threads[4];
	sigset_t set;
	int i, n, all = 0;

	stop = 0;
	signal(SIGUSR1, on_user);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (i = 0; i < 4; i++) {
		received[i] = -1;
		pthread_create(&threads[i], NULL, listen, (void *)(long)i);
	}
	for (i = 0; i < 4; i++)
		while (received[i] < 0)
			usleep(100);
	for (n = 1; n <= 50; n++)
		for (i = 0; i < 4; i++) {
			pthread_kill(threads[i], SIGUSR1);
			while (received[i] < n)
				;
		}
	stop = 1;
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		all += received[i];
	}
	printf("directed %d\n", all);
}

static pthread_mutex_t robust;
static void *die_holding(void *arg)
{
	pthread_mutex_lock(&robust);
	return NULL;
}

static void mutexes(void)
{
	pthread_mutexattr_t attr;
	pthread_t thread;
	int i, dead = 0;

	for (i = 0; i < 50; i++) {
		pthread_mutexattr_init(&attr);
		pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
		pthread_mutex_init(&robust, &attr);
		pthread_create(&thread, NULL, die_holding, NULL);
		pthread_join(thread, NULL);
		dead += pthread_mutex_lock(&robust) == EOWNERDEAD;
		pthread_mutex_consistent(&robust);
		pthread_mutex_unlock(&robust);
	}
	printf("robust %d\n", dead);
}

static int cleaned;
static void clean(void *arg) { cleaned++; }
static void *wait_forever(void *arg)
{
	char c;

	pthread_cleanup_push(clean, NULL);
	read(*(int *)arg, &c, 1);
	pthread_cleanup_pop(0);
	return NULL;
}

/* Cancellation is a signal of the C library's own. */
static void cancel(void)
{
	int p[2], i, cancelled = 0;
	pthread_t thread;
	void *result;

	pipe(p);
	for (i = 0; i < 20; i++) {
		pthread_create(&thread, NULL, wait_forever, &p[0]);
		if (i % 2)
			usleep(1000);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		cancelled += result == PTHREAD_CANCELED;
	}
	printf("cancelled %d, cleaned %d\n", cancelled, cleaned > 0);
}

static void *leave(void *arg) { usleep(1000); exit(3); }

int main(void)
{
	pthread_t thread;
	int status;

	forks();
	jumps();
	timers();
	directed();
	mutexes();
	cancel();
	fflush(stdout);
	if (fork() == 0) {
		/* The first thread goes, another ends the process. */
		pthread_create(&thread, NULL, leave, NULL);
		pthread_exit(NULL);
	}
	wait(&status);
	printf("exit from a thread: %d\n", WEXITSTATUS(status));
	fflush(stdout);
	if (fork() == 0) {
		for (int i = 0; i < 8; i++)
			pthread_create(&thread, NULL, spin, NULL);
		stop = 0;
		usleep(10000);
		kill(getpid(), SIGTERM);
		for (;;)
			pause();
	}
	wait(&status);
	printf("killed among threads: %d\n", WTERMSIG(status) == SIGTERM);
	return 0;
}
