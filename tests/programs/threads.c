/* Threads: atomics, mutexes, conditions, thread-local storage. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define ROUNDS 100000

static atomic_long atomic_count;
static _Atomic unsigned char narrow_count;
static atomic_int narrow_swaps;
static long locked_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static int turn;
static _Thread_local long own_count = 5;

/* Neighbouring bytes: each thread owns one, none may lose a write. */
static _Atomic unsigned char neighbours[THREADS];

static void *work(void *argument)
{
	long me = (long)argument;

	pthread_barrier_wait(&barrier);
	for (int i = 0; i < ROUNDS; i++) {
		long seen;

		atomic_fetch_add(&atomic_count, 1);
		narrow_count++;
		neighbours[me]++;
		own_count++;
		seen = atomic_load(&atomic_count);
		while (!atomic_compare_exchange_weak(&atomic_count, &seen, seen + 2))
			;
		if (i % 8 == 0) {
			pthread_mutex_lock(&lock);
			locked_count++;
			pthread_mutex_unlock(&lock);
		}
	}
	for (int i = 0; i < 50; i++) {
		pthread_mutex_lock(&lock);
		while (turn % THREADS != me)
			pthread_cond_wait(&changed, &lock);
		turn++;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	}
	atomic_fetch_add(&narrow_swaps, 1);
	return (void *)own_count;
}

static void *finish(void *argument)
{
	*(int *)argument = 3;
	pthread_exit((void *)11);
}

int main(void)
{
	pthread_t threads[THREADS];
	void *result;
	int mark = 0;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &result);
		printf("thread %d counted %ld\n", i, (long)result);
	}
	printf("atomic %ld, narrow %d, locked %ld, turns %d, own %ld, done %d\n", atomic_count,
	       narrow_count, locked_count, turn, own_count, narrow_swaps);
	for (int i = 0; i < THREADS; i++)
		printf("neighbour %d: %d\n", i, neighbours[i]);

	for (int i = 0; i < 200; i++) {
		pthread_create(&threads[0], NULL, finish, &mark);
		pthread_join(threads[0], &result);
	}
	printf("finished with %ld and %d\n", (long)result, mark);
	return 0;
}
