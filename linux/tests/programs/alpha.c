/* What is Alpha's alone. The expected lines stand in tests/programs.rs. */

#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

extern char __executable_start[], etext[];

/* A raw system call; what it leaves in $0, $1, $2, $19 and $20. */
static void raw(long number, long a0, long a1, long a2, long out[5])
{
	register long v0 __asm__("$0") = number;
	register long r16 __asm__("$16") = a0;
	register long r17 __asm__("$17") = a1;
	register long r18 __asm__("$18") = a2;
	register long r19 __asm__("$19");
	register long r20 __asm__("$20");
	register long r1 __asm__("$1");
	register long r2 __asm__("$2");

	__asm__ volatile("callsys"
			 : "+r"(v0), "=r"(r1), "=r"(r2), "=r"(r19), "=r"(r20), "+r"(r16), "+r"(r17), "+r"(r18)
			 : : "$3", "$4", "$5", "$6", "$7", "$8", "$21", "$22", "$23", "$24", "$25", "$27", "$28", "memory");
	out[0] = v0, out[1] = r1, out[2] = r2, out[3] = r19, out[4] = r20;
}

int main(void)
{
	struct utsname u;
	long r[5];
	unsigned long fpcr;
	double d;
	int local;
	char *map = mmap(NULL, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* Before anything sets it. */
	__asm__ volatile("mf_fpcr %0" : "=f"(d));
	__builtin_memcpy(&fpcr, &d, 8);
	uname(&u);
	printf("machine %s\n", u.machine);
	printf("page %ld, ticks %ld, hwcap %#lx, platform %s\n", getauxval(AT_PAGESZ), getauxval(AT_CLKTCK),
	       getauxval(AT_HWCAP), (char *)getauxval(AT_PLATFORM));
	unsigned long entry = getauxval(AT_ENTRY);
	printf("phdr %#lx, entry in text %d, base %#lx\n", getauxval(AT_PHDR),
	       entry >= (unsigned long)__executable_start && entry < (unsigned long)etext, getauxval(AT_BASE));
	printf("l1i %#lx, l1d %#lx, l3 %ld, vdso %ld\n", getauxval(34), getauxval(35), getauxval(37), getauxval(33));
	printf("text %p, stack below it %d, mapping above %d\n", __executable_start,
	       (unsigned long)&local < 0x120000000 && (unsigned long)&local > 0x11f000000,
	       (unsigned long)map >= 0x20000000000);
	printf("fpcr %#lx\n", fpcr);
	raw(42, 0, 0, 0, r); /* pipe */
	printf("pipe second %d\n", write(r[4], "x", 1) == 1);
	printf("errno %d %d %d %d %d\n", EAGAIN, EDEADLK, ENOSYS, ENOTEMPTY, ELOOP);
	printf("signals %d %d %d\n", SIGCHLD, SIGBUS, SIGUSR1);
	fflush(stdout);
	raw(4, 1, (long)"", 0, r); /* write */
	printf("r1 %ld r2 %ld a3 %ld\n", r[1], r[2], r[3]);
	raw(4, -1, (long)"", 0, r);
	printf("error a3 %ld v0 %ld\n", r[3], r[0]);
	return 0;
}
