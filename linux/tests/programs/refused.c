/* Instructions that came with some CPU: a line each, "none" or the signal, its code, and where pc and
   address stand from the instruction. Alpha only; the expected lines stand in tests/programs.rs.
   alpha-flags: -mcpu=ev4 */

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <ucontext.h>

static sigjmp_buf back;
static volatile int got, got_code;
static volatile uintptr_t got_addr, got_pc;

static void handler(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	got = signal;
	got_code = info->si_code;
	got_addr = (uintptr_t)info->si_addr;
	got_pc = uc->uc_mcontext.sc_pc;
	siglongjmp(back, 1);
}

/* The instruction stands 12 bytes after the label. */
#define TRY(name, insn)                                                                            \
	do {                                                                                       \
		static volatile uintptr_t at;                                                      \
		got = 0;                                                                           \
		if (sigsetjmp(back, 1) == 0)                                                       \
			__asm__ volatile(                                                          \
				".arch ev67\n\tbr $2,1f\n1:\tlda $2,12($2)\n\tstq $2,%0\n\tlda $1,%1\n\t" insn \
				: "=m"(at) : "m"(quad) : "$1", "$2", "$3", "$f1", "$f2", "memory"); \
		if (got)                                                                           \
			printf(name ": %s code %d, pc %ld %ld\n", got == SIGILL ? "ILL" : "?",     \
			       got_code, (long)(got_pc - at), (long)(got_addr - at));              \
		else                                                                               \
			printf(name ": none\n");                                                   \
	} while (0)

static uint64_t quad;

int main(void)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NODEFER };

	sigaction(SIGILL, &action, NULL);
	TRY("ldbu", "ldbu $3,0($1)");
	TRY("stw", "stw $31,0($1)");
	TRY("sextb", "sextb $1,$3");
	TRY("itoft", "itoft $1,$f1");
	TRY("ftoit", "ftoit $f1,$3");
	TRY("sqrtg", "sqrtg $f31,$f2");
	TRY("ctpop", "ctpop $1,$3");
	TRY("minub8", "minub8 $1,$1,$3");
	TRY("hw_mfpr", ".long 0x643f1a05");
	return 0;
}
