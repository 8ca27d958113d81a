/* Faults, each of which a handler jumps out of. An EV4 has no byte stores: a store of a byte loads the
 * quadword that it is in, by LDQ_U, and that is what faults. On Alpha alone.
   alpha-flags: -mcpu=ev4 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

static sigjmp_buf out;
static volatile uintptr_t where;
static volatile int code;

static void fault(int signal, siginfo_t *info, void *context)
{
	where = (uintptr_t)info->si_addr;
	code = info->si_code;
	siglongjmp(out, 1);
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = fault, .sa_flags = SA_SIGINFO };
	sigaction(SIGSEGV, &action, 0);
	volatile char *m = mmap(0, 16384, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile int rounded = 0, protected = 0, stored = 0;
	for (volatile int i = 0; i < 40000; i++) {
		if (sigsetjmp(out, 1) == 0) {
			m[i % 16384] = 1;
			stored++;
		} else {
			rounded += where == ((uintptr_t)(m + i % 16384) & ~7ul);
			protected += code == SEGV_ACCERR;
		}
	}
	printf("stored %d, rounded %d, protected %d\n", stored, rounded, protected);
	return 0;
}
