/* Floating point whose result IEEE 754 fixes to the last bit: arithmetic, square root,
   conversions, rounding, exact library functions. Numbers stay finite and normal, so
   that code built without -mieee may compute them. */

#include <fenv.h>
#include <math.h>
#include <stdio.h>

static const double values[] = {
	1.0, -1.0, 0.5,	 2.0 / 3, -7.25, 1e10, -1e-10, 123456789.125, 0x1.fffffffffffffp0, 3.0, -2.5, 1.5,
};

#define COUNT (sizeof values / sizeof *values)

int main(void)
{
	for (unsigned i = 0; i < COUNT; i++) {
		for (unsigned j = 0; j < COUNT; j++) {
			volatile double a = values[i], b = values[j];

			printf("%.17g %.17g %.17g %.17g\n", a + b, a - b, a * b, a / b);
			printf("%.17g %.17g %d%d%d\n", fmod(a, b), remainder(a, b), a < b, a <= b, a == b);
		}
	}
	for (unsigned i = 0; i < COUNT; i++) {
		volatile double a = values[i];
		volatile float f = (float)a;
		int exponent;
		double whole, fraction = modf(a, &whole), mantissa = frexp(a, &exponent);

		printf("sqrt %.17g %.9g\n", sqrt(fabs(a)), sqrtf(fabsf(f)));
		printf("round %.17g %.17g %.17g %.17g %.17g\n", floor(a), ceil(a), trunc(a), round(a), rint(a));
		printf("parts %.17g %.17g %.17g %d\n", whole, fraction, mantissa, exponent);
		printf("whole %ld %lu\n", (long)a, (unsigned long)fabs(a));
		printf("single %.9g %.9g %.9g\n", f * 3.0f, f / 3.0f, f + 0.1f);
		printf("near %.17g %.17g\n", nextafter(a, 2 * a), copysign(a, -1.0));
		printf("scaled %.17g %.17g\n", ldexp(a, 40), ldexp(a, -40));
	}
	for (long n = 1; n != 0; n *= -3) {
		volatile long m = n;

		printf("from %ld %.17g %.9g\n", m, (double)m, (float)m);
		if (n > 1L << 60)
			break;
	}

	/* Through pointers: a compiler may expand rint for the default mode only. */
	double (*volatile rounded)(double) = rint;
	long (*volatile whole)(double) = lrint;
	static const int modes[] = { FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO };

	for (int i = 0; i < 4; i++) {
		fesetround(modes[i]);
		printf("mode %d: %.0f %.0f %ld\n", i, rounded(2.5), rounded(-0.75), whole(1.5));
	}
	fesetround(FE_TONEAREST);

	/* A long chain: an error anywhere in it shows in the last digits. */
	volatile double x = 0.5;

	for (int i = 0; i < 100000; i++)
		x = 3.9 * x * (1 - x);
	printf("chain %.17g\n", x);
	return 0;
}
