/* Code that one thread changes and another executes, on Alpha only: after IMB the new must run. */

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

static uint32_t *code;
static atomic_int written, executed;

#define IMB() __asm__ volatile("call_pal 0x86" : : : "memory")

static void *execute(void *arg)
{
	long bad = 0;

	for (int n = 1; n <= 1000; n++) {
		while (written < n)
			sched_yield();
		IMB();
		bad += ((int (*)(void))code)() != n % 1000;
		executed = n;
	}
	return (void *)bad;
}

int main(void)
{
	pthread_t thread;
	void *bad;

	code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	code[1] = 0x6bfa8001; /* ret */
	pthread_create(&thread, NULL, execute, NULL);
	for (int n = 1; n <= 1000; n++) {
		code[0] = 0x201f0000 | n % 1000; /* lda $0,n */
		IMB();
		written = n;
		while (executed < n)
			sched_yield();
	}
	pthread_join(thread, &bad);
	printf("stale %ld\n", (long)bad);
	/* The same address, another mapping each time. */
	long wrong = 0;
	for (int n = 0; n < 300; n++) {
		munmap(code, 8192);
		code = mmap(code, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		code[0] = 0x201f0000 | n, code[1] = 0x6bfa8001;
		IMB();
		for (int i = 0; i < 100; i++)
			wrong += ((int (*)(void))code)() != n;
	}
	printf("wrong %ld\n", wrong);
	return 0;
}
