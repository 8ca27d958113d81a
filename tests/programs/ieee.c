/* Infinities, NaNs, denormals and exception flags: on Alpha these need the software
   completion that code built with -mieee asks the kernel for.
   alpha-flags: -mieee-with-inexact */

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double values[] = {
	0.0, -0.0, 1.0, -1.0, 0x1p-1074, -0x1p-1022, 0x1.fffffffffffffp1023, INFINITY, -INFINITY, NAN,
};

#define COUNT (sizeof values / sizeof *values)

/* Which NaN comes out of an operation differs between machines; that one does doesn't. */
static void print(double value)
{
	unsigned long bits;

	memcpy(&bits, &value, 8);
	if (isnan(value))
		printf(" nan");
	else
		printf(" %016lx", bits);
}

static void print_flags(void)
{
	int raised = fetestexcept(FE_ALL_EXCEPT);

	printf(" %s%s%s%s%s\n", raised & FE_INVALID ? "V" : "-", raised & FE_DIVBYZERO ? "Z" : "-",
	       raised & FE_OVERFLOW ? "O" : "-", raised & FE_UNDERFLOW ? "U" : "-",
	       raised & FE_INEXACT ? "X" : "-");
	feclearexcept(FE_ALL_EXCEPT);
}

int main(void)
{
	feclearexcept(FE_ALL_EXCEPT);
	for (unsigned i = 0; i < COUNT; i++) {
		for (unsigned j = 0; j < COUNT; j++) {
			volatile double a = values[i], b = values[j];
			volatile double sum = a + b, product = a * b, quotient = a / b;
			int less = isless(a, b), equal = a == b;

			print(sum);
			print(product);
			print(quotient);
			printf(" %d%d", less, equal);
			print_flags();
		}
	}
	for (unsigned i = 0; i < COUNT; i++) {
		volatile double a = values[i];
		volatile float f = (float)a;
		volatile double root = sqrt(a), back = f;

		print(root);
		print(back);
		print_flags();
		printf("%d %d %d\n", isfinite(a) != 0, isnormal(a) != 0, signbit(a) != 0);
	}
	volatile double tiny = 0x1p-1022;

	for (int i = 0; i < 60; i++) {
		print(tiny);
		tiny /= 2;
	}
	print_flags();
	return 0;
}
