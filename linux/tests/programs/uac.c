/* What the kernel does of accesses that aren't aligned, as a process asks for by setsysinfo. On Alpha
 * alone. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* asm/sysinfo.h */
enum { GSI_UACPROC = 8, SSI_NVPAIRS = 1, SSIN_UACPROC = 6 };
enum { UAC_NOPRINT = 1, UAC_NOFIX = 2, UAC_SIGBUS = 4 };

static char words[32] __attribute__((aligned(8))) = "0123456789abcdef0123456789abcde";
static sigjmp_buf out;
static volatile long where;
static volatile int code;

static void bus(int signal, siginfo_t *info, void *context)
{
	where = (char *)info->si_addr - words;
	code = info->si_code;
	siglongjmp(out, 1);
}

static void access_with(int flags, const char *name)
{
	unsigned pair[2] = { SSIN_UACPROC, flags };
	long set = syscall(SYS_osf_setsysinfo, SSI_NVPAIRS, pair, 1L, 0L, 0L);
	unsigned now = 99;
	long got = syscall(SYS_osf_getsysinfo, GSI_UACPROC, &now, sizeof now, 0L, 0L);
	printf("%s: set %ld, get %ld: %u; ", name, set, got, now);
	unsigned long value = 0x1111;
	if (sigsetjmp(out, 1)) {
		printf("SIGBUS, code %d, at byte %ld\n", code, where);
		return;
	}
	__asm__ volatile("ldq %0,1(%1)" : "+&r"(value) : "r"(words));
	printf("%lx\n", value);
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = bus, .sa_flags = SA_SIGINFO };
	sigaction(SIGBUS, &action, 0);
	access_with(0, "nothing");
	access_with(UAC_SIGBUS | UAC_NOPRINT, "SIGBUS");
	access_with(UAC_NOFIX | UAC_NOPRINT, "NOFIX");
	access_with(UAC_NOPRINT, "NOPRINT");
	long sum = 0;
	for (int i = 0; i < 1000000; i++) {
		unsigned long value;
		__asm__ volatile("ldq %0,%2(%1)" : "=r"(value) : "r"(words + i % 8), "i"(8));
		sum += value & 0xff;
	}
	printf("a million: %ld\n", sum);
	return 0;
}
