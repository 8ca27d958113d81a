/* Results of the C library's functions of floating point, in bits: "name arguments: result". An `=`
   stands before those that IEEE 754 or the library's manual has correctly rounded.
   alpha-flags: -mieee -fno-builtin */

#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const double VALUES[] = {
	0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 3.0, 0.7, -0.7, 1.5, 10.0, 100.25, -1000.5, 709.0, 1e-5,
	1e10, -1e10, 1e22, 1e300, -1e300, 1e-300, 0x1p-1022, 0x1p-1074, -0x1.8p-1060, 0x1.fffffffffffffp1023,
	0x1.921fb54442d18p0, 0x1.921fb54442d18p1, 0x1.5bf0a8b145769p1, 0x1p52, 0x1.0000000000001p52,
	4503599627370497.5, 0x1p63, INFINITY, -INFINITY, NAN,
};
enum { COUNT = sizeof VALUES / sizeof *VALUES };

/* All NaNs are one: which comes of two is the machine's choice. */
static uint64_t bits(double x)
{
	uint64_t b;

	if (isnan(x))
		return 0x7ff8000000000000;
	memcpy(&b, &x, 8);
	return b;
}

static uint32_t bitsf(float x)
{
	uint32_t b;

	if (isnan(x))
		return 0x7fc00000;
	memcpy(&b, &x, 4);
	return b;
}

/* Which zero comes of two is the library's choice. */
static double least(double x, double y) { return fmin(x, y) + 0.0; }
static double most(double x, double y) { return fmax(x, y) + 0.0; }
static float leastf(float x, float y) { return fminf(x, y) + 0.0f; }
static float mostf(float x, float y) { return fmaxf(x, y) + 0.0f; }

#define ONE(mark, name)                                                                            \
	for (i = 0; i < COUNT; i++) {                                                              \
		volatile double x = VALUES[i];                                                     \
		volatile float xf = x;                                                             \
		printf(mark #name " %a: %016lx\n", x, bits(name(x)));                              \
		printf(mark #name "f %a: %08x\n", xf, bitsf(name##f(xf)));                         \
	}
#define TWO(mark, name)                                                                            \
	for (i = 0; i < COUNT; i++)                                                                \
		for (j = 0; j < COUNT; j++) {                                                      \
			volatile double x = VALUES[i], y = VALUES[j];                              \
			volatile float xf = x, yf = y;                                             \
			printf(mark #name " %a %a: %016lx\n", x, y, bits(name(x, y)));             \
			printf(mark #name "f %a %a: %08x\n", xf, yf, bitsf(name##f(xf, yf)));      \
		}

int main(void)
{
	int i, j;

	ONE("", sin) ONE("", cos) ONE("", tan) ONE("", asin) ONE("", acos) ONE("", atan)
	ONE("", sinh) ONE("", cosh) ONE("", tanh) ONE("", asinh) ONE("", acosh) ONE("", atanh)
	ONE("", exp) ONE("", exp2) ONE("", expm1) ONE("", log) ONE("", log2) ONE("", log10) ONE("", log1p)
	ONE("", cbrt) ONE("", erf) ONE("", erfc) ONE("", tgamma) ONE("", lgamma)
	ONE("=", sqrt) ONE("=", fabs) ONE("=", floor) ONE("=", ceil) ONE("=", trunc) ONE("=", round)
	ONE("=", rint) ONE("=", nearbyint) ONE("=", logb)
	TWO("", pow) TWO("", atan2) TWO("", hypot)
	TWO("=", fmod) TWO("=", remainder) TWO("=", least) TWO("=", most) TWO("=", copysign)
	TWO("=", nextafter) TWO("=", fdim)
	for (i = 0; i < COUNT; i++) {
		volatile double x = VALUES[i];
		double whole;
		int exponent = 0;

		printf("=frexp %a: %016lx", x, bits(frexp(x, &exponent)));
		printf(" %d\n", isfinite(x) ? exponent : 0);
		printf("=modf %a: %016lx", x, bits(modf(x, &whole)));
		printf(" %016lx\n", bits(whole));
		printf("=ldexp %a: %016lx %016lx %016lx\n", x, bits(ldexp(x, 3)), bits(ldexp(x, -1060)),
		       bits(ldexp(x, 2000)));
		if (fabs(x) < 0x1p62)
			printf("=lrint %a: %ld %ld %ld\n", x, lrint(x), lround(x), llrint(x));
		for (j = 0; j < COUNT; j++) {
			volatile double y = VALUES[j], z = VALUES[(i * 7 + j) % COUNT];

			printf("=fma %a %a %a: %016lx\n", x, y, z, bits(fma(x, y, z)));
		}
	}
	return 0;
}
