/* A thread goes round in code that another one unmaps, protects or maps over: it faults there, at
   once and without a barrier. And a thread that unmaps the code that it runs. */

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile int got, got_code;
static volatile uintptr_t got_addr, got_pc;
static uint32_t *page;

static void handler(int signal, siginfo_t *info, void *context)
{
	got = signal;
	got_code = info->si_code;
	got_addr = (uintptr_t)info->si_addr;
	got_pc = ((ucontext_t *)context)->uc_mcontext.sc_pc;
	siglongjmp(back, 1);
}

static void fresh(void)
{
	page = mmap(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS | (page ? MAP_FIXED : 0), -1, 0);
}

static void call(void)
{
	__asm__ volatile("call_pal 0x86" : : : "memory");
	got = 0;
	if (sigsetjmp(back, 1) == 0)
		((void (*)(void))page)();
}

static void unmap(void) { munmap(page, 8192); }
static void read_only(void) { mprotect(page, 8192, PROT_READ); }
static void nothing(void) { mprotect(page, 8192, PROT_NONE); }
static void over(void) { fresh(); }

static void *other(void *what)
{
	usleep(30000);
	((void (*)(void))what)();
	return NULL;
}

int main(void)
{
	static const struct {
		const char *name;
		void (*what)(void);
	} WAYS[] = {
		{ "unmapped", unmap }, { "read only", read_only }, { "nothing", nothing }, { "over", over },
	};
	struct sigaction action;
	pthread_t thread;
	int i, round;

	memset(&action, 0, sizeof action);
	action.sa_sigaction = handler;
	action.sa_flags = SA_SIGINFO | SA_NODEFER;
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGILL, &action, NULL);
	for (i = 0; i < 4; i++)
		for (round = 0; round < 3; round++) {
			fresh();
			page[0] = 0x40203401; /* addq $1,1,$1 */
			page[1] = 0xc3fffffe; /* br page */
			pthread_create(&thread, NULL, other, WAYS[i].what);
			call();
			pthread_join(thread, NULL);
			printf("%s: %d code %d, %s, %s\n", WAYS[i].name, got, got_code,
			       got_pc - (uintptr_t)page < 8 ? "there" : "elsewhere",
			       got_pc == got_addr ? "same" : "different");
		}
	for (round = 0; round < 3; round++) {
		fresh();
		page[0] = 0x201f0000 | SYS_munmap; /* lda $0,SYS_munmap */
		page[1] = 0x00000083; /* callsys */
		page[2] = 0x6bfa8001; /* ret */
		__asm__ volatile("call_pal 0x86" : : : "memory");
		got = 0;
		if (sigsetjmp(back, 1) == 0)
			((void (*)(void *, long))page)(page, 8192);
		printf("its own: %d code %d, %ld\n", got, got_code, (long)(got_pc - (uintptr_t)page));
	}
	return 0;
}
