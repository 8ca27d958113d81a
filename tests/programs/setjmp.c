/* Jumps out of deep calls: registers that a function must preserve come back. */

#include <setjmp.h>
#include <stdio.h>

static jmp_buf back;

static void dive(int depth, int value)
{
	volatile char frame[100];

	frame[depth] = depth;
	if (frame[depth] == 40)
		longjmp(back, value);
	if (depth < 1000)
		dive(depth + 1, value);
}

int main(void)
{
	double sum = 0;
	volatile double total = 0;
	volatile int jumps = 0;

	for (volatile int i = 0; i < 5; i++) {
		double a = i * 1.25, b = a + 0.5, c = a * b, d = b - c;
		long p = i + 7, q = p * 3, r = p ^ q, s = q - r;
		int value = setjmp(back);

		if (value == 0)
			dive(0, i ? i : 100);
		jumps = jumps + 1;
		sum = a + b + c + d + p + q + r + s;
		total += sum;
		printf("%d: %d %g\n", i, value, sum);
	}
	printf("%d jumps, %g\n", jumps, total);

	/* Nought becomes one. */
	int value = setjmp(back);
	if (value == 0)
		dive(0, 0);
	printf("nought came back as %d\n", value);

	/* Out of a nested setjmp to the outer one. */
	jmp_buf outer;
	volatile int inner = 0;
	if (setjmp(outer) == 0) {
		if (setjmp(back) == 0)
			dive(10, 3);
		inner++;
		longjmp(outer, 1);
	}
	printf("inner %d\n", inner);
	return 0;
}
