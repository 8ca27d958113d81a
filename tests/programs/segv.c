/* Dies of SIGSEGV. On Alpha at the label `culprit`, with registers that are known:
   r1 = 0x1111111111111111 and so on to r8 = 0x8888888888888888, r16 = 0x40, and f2 = 2.5;
   the store is of r3, to 0x48. */

#include <stdio.h>

int main(void)
{
	puts("about to fault");
	fflush(stdout);
#ifdef __alpha__
	static const unsigned long ones = 0x1111111111111111;
	static const double real = 2.5;

	__asm__ volatile("ldt $f2, %1\n\t"
			 "ldq $1, %0\n\t"
			 "addq $1, $1, $2\n\t"
			 "addq $2, $1, $3\n\t"
			 "addq $3, $1, $4\n\t"
			 "addq $4, $1, $5\n\t"
			 "addq $5, $1, $6\n\t"
			 "addq $6, $1, $7\n\t"
			 "addq $7, $1, $8\n\t"
			 "lda $16, 0x40($31)\n\t"
			 ".globl culprit\n"
			 "culprit:\n\t"
			 "stq $3, 8($16)"
			 :
			 : "m"(ones), "m"(real)
			 : "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$16", "$f2", "memory");
#else
	volatile unsigned long nowhere = 0x48;

	*(volatile long *)nowhere = 0x3333333333333333;
#endif
	puts("still here");
	return 0;
}
