/* Many threads, many signals, descriptors closed that aren't the program's. Prints the same on every
   64-bit Linux. SOAK in the environment multiplies what is done, and NOTHING_BUT names one part. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int times = 1;

/* All alive at once, each with what it was given. */
#define THREADS 64
static pthread_barrier_t together;
static __thread long own;
static void *one_of_many(void *arg)
{
	own = (long)arg;
	pthread_barrier_wait(&together);
	long sum = 0;
	for (int i = 0; i < 20000; i++)
		sum += i ^ own;
	pthread_barrier_wait(&together);
	return (void *)(sum + own);
}

static void at_once(void)
{
	pthread_t threads[THREADS];
	unsigned long all = 0, count = 0;

	pthread_barrier_init(&together, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		count += pthread_create(&threads[i], NULL, one_of_many, (void *)i) == 0;
	for (int i = 0; i < THREADS; i++) {
		void *sum;
		pthread_join(threads[i], &sum);
		all += (long)sum;
	}
	printf("at once %lu: %lu\n", count, all);
}

/* One after the other, joined or detached. */
static volatile long gone;
static void *short_lived(void *arg)
{
	__sync_fetch_and_add(&gone, 1);
	return arg;
}

static void one_by_one(void)
{
	long made = 0;
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (long i = 0; i < 1000L * times; i++) {
		pthread_t thread;
		if (pthread_create(&thread, &small, short_lived, NULL))
			continue;
		made++;
		if (i % 2)
			pthread_detach(thread);
		else
			pthread_join(thread, NULL);
		while (made - gone > 8)
			sched_yield();
	}
	while (gone < made)
		sched_yield();
	printf("one by one %d\n", made == 1000L * times);
}

/* No increment is lost. */
static long counter, other;
static int narrow;
static void *count_up(void *arg)
{
	for (long i = 0; i < 100000L * times; i++) {
		__sync_fetch_and_add(&counter, 1);
		__sync_fetch_and_add(&narrow, 1);
		while (!__sync_bool_compare_and_swap(&other, other, other + 1))
			;
	}
	return NULL;
}

static void increments(void)
{
	pthread_t threads[4];

	counter = 0;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, count_up, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("increments %d %d\n", counter == 400000L * times, narrow == (int)(400000L * times));
}

/* A thousand queued signals a second into a loop without calls: each comes, once, in its turn. */
static volatile long received, out_of_turn;
static void on_queued(int signal, siginfo_t *info, void *context)
{
	if (info->si_code != SI_QUEUE || info->si_value.sival_int != received)
		out_of_turn++;
	received++;
}

static volatile int looping;
static void *loop(void *arg)
{
	sigset_t set;
	volatile unsigned long n = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 1);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	for (looping = 1; looping; n++)
		;
	return NULL;
}

static void signals(void)
{
	struct sigaction action = { .sa_sigaction = on_queued, .sa_flags = SA_SIGINFO };
	sigset_t set;
	pthread_t thread;
	long sent;

	sigaction(SIGRTMIN + 1, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_create(&thread, NULL, loop, NULL);
	while (!looping)
		usleep(100);
	for (sent = 0; sent < 500L * times; sent++) {
		union sigval value = { .sival_int = sent };
		while (sigqueue(getpid(), SIGRTMIN + 1, value) < 0)
			usleep(100);
		usleep(950);
	}
	for (int i = 0; i < 10000 && received < sent; i++)
		usleep(1000);
	looping = 0;
	pthread_join(thread, NULL);
	printf("signals %d, out of turn %ld\n", received == sent, out_of_turn);
}

/* As daemons start: what was open before is closed, to the last number there can be. */
static void *after_closing(void *arg)
{
	return (void *)(write(*(int *)arg, "x", 1));
}

static void closing(void)
{
	pthread_t thread;
	int p[2], status;
	void *wrote;
	char c;
	long sum = 0;

	for (int fd = 3; fd < 70000; fd++)
		close(fd);
	syscall(SYS_close_range, 3, ~0u, 0);
	pipe(p);
	printf("pipe %d %d\n", p[0], p[1]);
	pthread_create(&thread, NULL, after_closing, &p[1]);
	pthread_join(thread, &wrote);
	printf("thread %ld, %ld\n", (long)wrote, (long)read(p[0], &c, 1));
	for (long i = 0; i < 3000000; i++)
		sum += i & p[0];
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		for (long i = 0; i < 300000; i++)
			sum -= i & p[1];
		_exit(open("/proc/self/maps", O_RDONLY));
	}
	waitpid(child, &status, 0);
	printf("child %d, sum %ld\n", WEXITSTATUS(status), sum);
}

int main(void)
{
	const char *soak = getenv("SOAK"), *only = getenv("NOTHING_BUT");
	struct {
		const char *name;
		void (*part)(void);
	} parts[] = {
		{ "at_once", at_once }, { "one_by_one", one_by_one }, { "increments", increments },
		{ "signals", signals }, { "closing", closing },
	};

	if (soak)
		times = atoi(soak);
	for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
		if (!only || !strcmp(only, parts[i].name))
			parts[i].part();
	return 0;
}
