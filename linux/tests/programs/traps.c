/* What traps give, on Alpha only: a line a case, "name: what came". The expected lines stand in
   tests/traps.rs, with where they are known from. */

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

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

static void pass(int signal)
{
	got = signal;
}

static const char *name(int signal)
{
	switch (signal) {
	case 0: return "none";
	case SIGILL: return "ILL";
	case SIGTRAP: return "TRAP";
	case SIGFPE: return "FPE";
	case SIGBUS: return "BUS";
	case SIGSEGV: return "SEGV";
	default: return "?";
	}
}

/* The address of the instruction after the case's own is at `after`. */
#define CASE(label, ...)                                                           \
	do {                                                                       \
		got = 0;                                                           \
		if (sigsetjmp(back, 1) == 0) {                                     \
			__VA_ARGS__;                                               \
		}                                                                  \
		printf("%s: %s", label, name(got));                                \
		if (got)                                                           \
			printf(" code %d", got_code);                              \
	} while (0)
#define END printf("\n")

static uintptr_t after;
/* Runs an instruction; `after` is the address of the next. */
#define INSN(text, ...)                                                            \
	({                                                                         \
		uintptr_t here;                                                    \
		__asm__ volatile("br %0,1f\n1:\tlda %0,12(%0)\n\tstq %0,%1\n\t" text : "=&r"(here), "=m"(after) : __VA_ARGS__ : "memory", "$0", "$1", "$2", "$16"); \
	})

int main(void)
{
	struct sigaction action;
	uint64_t word[2] = { 0x1122334455667788, 0x99aabbccddeeff00 };
	double zero = 0.0, one = 1.0, inf = __builtin_inf(), r;
	volatile int i;

	memset(&action, 0, sizeof action);
	action.sa_sigaction = handler;
	action.sa_flags = SA_SIGINFO | SA_NODEFER;
	for (i = 0; i < 5; i++)
		sigaction((int[]){ SIGILL, SIGTRAP, SIGFPE, SIGBUS, SIGSEGV }[i], &action, NULL);

	CASE("opcode 1", INSN(".long 0x04000000", "r"(0)));
	printf(", pc %ld, address %ld", (long)(got_pc - after), (long)(got_addr - after)); END;
	CASE("halt", INSN("call_pal 0", "r"(0))); END;
	CASE("bpt", INSN("call_pal 0x80", "r"(0)));
	printf(", pc %ld", (long)(got_pc - after)); END;
	CASE("bugchk", INSN("call_pal 0x81", "r"(0))); END;
	for (i = -1; i >= -12; i--) {
		char label[32];
		snprintf(label, sizeof label, "gentrap %d", i);
		CASE(label, register long why __asm__("$16") = i;
		     __asm__ volatile("call_pal 0xaa" : : "r"(why))); END;
	}

	volatile long quotient, dividend = 7, divisor = 0;
	CASE("integer division by zero", quotient = dividend / divisor; (void)quotient); END;
	long sum, big = 0x40000000;
	CASE("addl/v", __asm__ volatile("addl/v %1,%1,%0\n\ttrapb" : "=r"(sum) : "r"(big))); END;
	CASE("addl/v without overflow", __asm__ volatile("addl/v %1,%1,%0\n\ttrapb" : "=r"(sum) : "r"(1L))); END;
	CASE("divt by zero", __asm__ volatile("divt %1,%2,%0\n\ttrapb" : "=&f"(r) : "f"(one), "f"(zero))); END;
	CASE("divt/su by zero", __asm__ volatile("divt/su %1,%2,%0\n\ttrapb" : "=&f"(r) : "f"(one), "f"(zero)));
	printf(" %g", r); END;
	CASE("addt of infinities", __asm__ volatile("addt %1,%1,%0\n\ttrapb" : "=&f"(r) : "f"(inf))); END;

	char *p = (char *)word;
	uint64_t v = 0;
	CASE("ldq unaligned", __asm__ volatile("ldq %0,0(%1)" : "=r"(v) : "r"(p + 1)));
	printf(" %016lx", v); END;
	CASE("ldq_l unaligned", __asm__ volatile("ldq_l %0,0(%1)" : "=r"(v) : "r"(p + 1)));
	printf(", address %ld", (long)(got_addr - (uintptr_t)p)); END;

	/* A page that can be written but not executed, with `ret` in it. */
	uint32_t *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	page[0] = 0x6bfa8001;
	__asm__ volatile("call_pal 0x86" : : : "memory");
	CASE("execute data", ((void (*)(void))page)());
	printf(", pc %ld", (long)(got_pc - (uintptr_t)page)); END;
	mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
	CASE("execute code", ((void (*)(void))page)()); END;
	/* Code that changes: old or new until IMB, new after. */
	page[0] = 0x201f0001, page[1] = 0x6bfa8001; /* lda $0,1; ret */
	__asm__ volatile("call_pal 0x86" : : : "memory");
	int first = ((int (*)(void))page)();
	page[0] = 0x201f0002;
	__asm__ volatile("call_pal 0x86" : : : "memory");
	printf("changed code: %d %d\n", first, ((int (*)(void))page)());
	/* Which functions of CALL_PAL a program has; callsys aside, which does as $0 says. */
	printf("PAL functions:");
	for (i = 0; i < 0x100 + 18; i++) {
		uint32_t function = i < 0x100 ? i : 1u << (i - 0x100 + 8);
		page[0] = function, page[1] = 0x6bfa8001;
		__asm__ volatile("call_pal 0x86" : : : "memory");
		got = 0;
		if (function != 0x83 && sigsetjmp(back, 1) == 0)
			((void (*)(void *))page)(__builtin_thread_pointer());
		if (function != 0x83 && got != SIGILL)
			printf(" %x", function);
	}
	printf("\n");
	double three = 3.0;
	CASE("clrfen", __asm__ volatile("call_pal 0xae\n\taddt %1,%1,%0" : "=&f"(r) : "f"(three) : "$0", "$1", "$16", "$22", "$23", "$24", "$25"));
	printf(" %g", r); END;
	munmap(page, 8192);
	CASE("execute nothing", ((void (*)(void))page)());
	printf(", pc %ld", (long)(got_pc - (uintptr_t)page)); END;

	CASE("read nothing", v = *(volatile uint64_t *)page; (void)v);
	printf(", address %ld", (long)(got_addr - (uintptr_t)page)); END;
	CASE("read kernel", v = *(volatile uint64_t *)0xfffffc0000000008ul);
	printf(", address %lx", got_addr); END;
	CASE("read beyond the space", v = *(volatile uint64_t *)0x40000000000ul);
	printf(", address %lx", got_addr); END;
	char *none = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CASE("write protected", *(volatile uint64_t *)(none + 8) = 1);
	printf(", address %ld", (long)(got_addr - (uintptr_t)none)); END;

	/* A store conditional fails after a system call and without a load locked. */
	register long number __asm__("$0") = 20; /* getxpid */
	long stored = 1;
	__asm__ volatile("ldq_l $1,%0\n\tcall_pal 0x83\n\tmov 1,$2\n\tstq_c $2,%0\n\tmov $2,%1"
			 : "+m"(word[0]), "=r"(stored), "+r"(number)
			 : : "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$16", "$17", "$18", "$19", "$20",
			     "$21", "$22", "$23", "$24", "$25", "$27", "$28", "memory");
	printf("stq_c after callsys: %ld %016lx\n", stored, word[0]);
	stored = 1;
	__asm__ volatile("mov 1,$2\n\tstq_c $2,%0\n\tmov $2,%1" : "+m"(word[0]), "=r"(stored) : : "$2");
	printf("stq_c alone: %ld\n", stored);
	long old;
	__asm__ volatile("ldq_l %0,%2\n\tmov 5,$2\n\tstq_c $2,%2\n\tmov $2,%1"
			 : "=&r"(old), "=&r"(stored), "+m"(word[0]) : : "$2");
	printf("stq_c: %ld %lx\n", stored, word[0]);
	/* After what the kernel saw to: an unaligned load, and a trap that had a handler. */
	__asm__ volatile("ldq_l %0,%2\n\tmov 6,$2\n\tldq %0,1(%3)\n\tstq_c $2,%2\n\tmov $2,%1"
			 : "=&r"(old), "=&r"(stored), "+m"(word[0]) : "r"(p) : "$2");
	printf("stq_c after an unaligned load: %ld %lx\n", stored, word[0]);
	signal(SIGFPE, pass);
	__asm__ volatile("ldq_l %0,%2\n\tmov 6,$2\n\taddl/v %3,%3,%0\n\ttrapb\n\tstq_c $2,%2\n\tmov $2,%1"
			 : "=&r"(old), "=&r"(stored), "+m"(word[0]) : "r"(0x40000000l) : "$2");
	printf("stq_c after a handler: %ld %lx %s\n", stored, word[0], name(got));
	return 0;
}
