/* Tries addresses that aren't the program's: lines of a name and an address come from standard input.
   Each way to reach memory must end in SIGSEGV, each system call in an error. Alpha's alone. */
/* alpha-flags: -O1 -mcpu=ev67 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define LOAD(name, insn) \
	static __attribute__((noinline)) long name(long p) { long v; __asm__ volatile(insn " %0,0(%1)" : "=r"(v) : "r"(p)); return v; }
#define STORE(name, insn) \
	static __attribute__((noinline)) long name(long p) { __asm__ volatile(insn " $31,0(%0)" : : "r"(p) : "memory"); return 0; }

LOAD(ldbu, "ldbu") LOAD(ldwu, "ldwu") LOAD(ldl, "ldl") LOAD(ldq, "ldq") LOAD(ldq_u, "ldq_u")
LOAD(ldl_l, "ldl_l") LOAD(ldq_l, "ldq_l")
STORE(stb, "stb") STORE(stw, "stw") STORE(stl, "stl") STORE(stq, "stq") STORE(stq_u, "stq_u")
static __attribute__((noinline)) long ldt(long p) { __asm__ volatile("ldt $f10,0(%0)" : : "r"(p) : "$f10"); return 0; }
static __attribute__((noinline)) long stt(long p) { __asm__ volatile("stt $f31,0(%0)" : : "r"(p) : "memory"); return 0; }
/* A pair that begins inside and ends outside. */
static long inside;
static __attribute__((noinline)) long stq_c(long p)
{
	long v = 1;
	__asm__ volatile("ldq_l $1,0(%1)\n\tstq_c %0,0(%2)" : "+r"(v) : "r"(&inside), "r"(p) : "$1", "memory");
	return v;
}
/* An address that a displacement takes out. */
static __attribute__((noinline)) long displaced(long p) { long v; __asm__ volatile("ldq %0,-32768(%1)" : "=r"(v) : "r"(p + 32768)); return v; }
static __attribute__((noinline)) long jump(long p) { return ((long (*)(void))p)(); }
static long (*const ways[])(long) = { ldbu, ldwu, ldl, ldq, ldq_u, ldl_l, ldq_l, stb, stw, stl, stq, stq_u, ldt, stt, stq_c, displaced, jump };
#define WAYS (sizeof ways / sizeof *ways)

static sigjmp_buf back;
static void fault(int signal) { siglongjmp(back, 1); }

/* A store-conditional whose address doesn't match may fail instead of trapping; it stores nothing. */
static int is_kept_out(unsigned i, long addr)
{
	if (sigsetjmp(back, 1))
		return 1;
	return ways[i](addr) == 0 && ways[i] == stq_c;
}

static int errors(long addr, int mem, int file)
{
	struct iovec here = { &inside, 8 }, there = { (void *)addr, 8 }, *vectors = (void *)addr;
	int n = 0;
#define FAILS(call) n += (call) == -1
	FAILS(syscall(SYS_read, file, addr, 8));
	FAILS(syscall(SYS_write, file, addr, 8));
	FAILS(syscall(SYS_pread64, mem, &inside, 8, addr));
	FAILS(syscall(SYS_pwrite64, mem, &inside, 8, addr));
	FAILS(readv(file, &there, 1));
	FAILS(writev(file, vectors, 1));
	FAILS(process_vm_readv(getpid(), &here, 1, &there, 1, 0));
	FAILS(process_vm_writev(getpid(), &here, 1, &there, 1, 0));
	FAILS(syscall(SYS_open, addr, O_RDONLY));
	FAILS(syscall(SYS_futex, addr, FUTEX_WAKE, 1, 0));
	FAILS(syscall(SYS_uname, addr));
	FAILS(syscall(SYS_rt_sigaction, SIGUSR1, addr, 0, 8, 0));
	FAILS(syscall(SYS_execve, "/nowhere", addr, 0));
	FAILS(syscall(SYS_munmap, addr & -8192, 8192));
	FAILS(syscall(SYS_mprotect, addr & -8192, 8192, PROT_READ));
	FAILS(syscall(SYS_madvise, addr & -8192, 8192, MADV_DONTNEED));
	FAILS(syscall(SYS_mlock, addr & -8192, 8192));
	FAILS(syscall(SYS_msync, addr & -8192, 8192, MS_SYNC));
	FAILS(syscall(SYS_mremap, addr & -8192, 8192, 16384, MREMAP_MAYMOVE));
	FAILS(syscall(SYS_mmap, addr & -8192, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	FAILS(syscall(SYS_shmat, -1, addr & -8192, 0));
	FAILS(syscall(SYS_mincore, addr & -8192, 8192, &inside));
	return n;
}

int main(void)
{
	struct sigaction action = { .sa_handler = fault, .sa_flags = SA_NODEFER };
	char name[100];
	long addr;
	int mem = open("/proc/self/mem", O_RDWR), file = open("/dev/zero", O_RDWR);

	sigaction(SIGSEGV, &action, NULL);
	/* Translated code tries, too. */
	for (unsigned i = 0; i + 1 < WAYS; i++)
		for (int j = 0; j < 50000; j++)
			ways[i]((long)&inside);
	printf("ready\n");
	fflush(stdout);
	while (scanf("%99s %lx", name, &addr) == 2) {
		int kept = 0;
		for (unsigned i = 0; i < WAYS; i++) {
			int is = is_kept_out(i, addr);
			if (!is)
				printf("%s: way %u\n", name, i);
			kept += is;
		}
		printf("%s: %d of %d, %d errors\n", name, kept, (int)WAYS, errors(addr, mem, file));
		fflush(stdout);
	}
	return 0;
}
