/* Instructions that a 21064 lacks: rounding to an infinity and square roots, which the kernel
   executes for it. The same as this machine's arithmetic.
   alpha-flags: -mcpu=ev4 -mieee-with-inexact -mfp-rounding-mode=d */

#define _GNU_SOURCE
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

#ifdef __alpha__
#define TWO(name, type, insn, mode, expression)                                                    \
	__attribute__((noipa)) static type name(type a, type b)                                                           \
	{                                                                                          \
		type r;                                                                            \
		__asm__ volatile(".arch ev6\n\t" insn " %1,%2,%0\n\ttrapb" : "=&f"(r) : "f"(a), "f"(b)); \
		return r;                                                                          \
	}
#define ONE(name, type, insn, mode, expression)                                                    \
	__attribute__((noipa)) static type name(type a, type b)                                                           \
	{                                                                                          \
		type r;                                                                            \
		__asm__ volatile(".arch ev6\n\t" insn " %1,%0\n\ttrapb" : "=&f"(r) : "f"(a));      \
		return r;                                                                          \
	}
#define TO_LONG(name, insn, mode, expression)                                                      \
	__attribute__((noipa)) static double name(double a, double b)                                                     \
	{                                                                                          \
		double r;                                                                          \
		long l;                                                                            \
		__asm__ volatile(insn " %1,%0\n\ttrapb" : "=&f"(r) : "f"(a));                      \
		__builtin_memcpy(&l, &r, 8);                                                       \
		return l;                                                                          \
	}
#else
/* `mode` is the instruction's, or -1 for the dynamic one. */
#define TWO(name, type, insn, mode, expression)                                                    \
	__attribute__((noipa)) static type name(volatile type a, volatile type b)                                         \
	{                                                                                          \
		int before = fegetround();                                                         \
		if (mode >= 0)                                                                     \
			fesetround(mode);                                                          \
		volatile type r = expression;                                                      \
		fesetround(before);                                                                \
		return r;                                                                          \
	}
#define ONE TWO
#define TO_LONG(name, insn, mode, expression) TWO(name, double, insn, mode, expression)
#endif

TWO(add_down, double, "addt/sum", FE_DOWNWARD, a + b)
TWO(add_dynamic, double, "addt/sud", -1, a + b)
TWO(sub_dynamic, double, "subt/suid", -1, a - b)
TWO(multiply_down, double, "mult/suim", FE_DOWNWARD, a * b)
TWO(multiply_dynamic, double, "mult/sud", -1, a * b)
TWO(divide_dynamic, double, "divt/sud", -1, a / b)
TWO(divide_down, double, "divt/suim", FE_DOWNWARD, a / b)
TWO(divide_single, float, "divs/sud", -1, a / b)
TWO(multiply_single, float, "muls/sum", FE_DOWNWARD, a * b)
ONE(root, double, "sqrtt/su", FE_TONEAREST, sqrt(a))
ONE(root_dynamic, double, "sqrtt/suid", -1, sqrt(a))
ONE(root_single, float, "sqrts/sum", FE_DOWNWARD, sqrtf(a))
TO_LONG(floor_long, "cvttq/svm", FE_DOWNWARD, (long)rint(a))
TO_LONG(long_dynamic, "cvttq/svid", -1, (long)rint(a))
/* Without software completion the kernel completes it all the same, where the CPU can't. */
TWO(add_plain, double, "addt/m", FE_DOWNWARD, a + b)
ONE(root_plain, double, "sqrtt", FE_TONEAREST, sqrt(a))

static int lacking(void)
{
	long version = 0;
#ifdef __alpha__
	__asm__("implver %0" : "=r"(version));
#endif
	return version == 0;
}

static sigjmp_buf out;
static volatile int code;

static void handler(int signal, siginfo_t *info, void *context)
{
	code = info->si_code;
	siglongjmp(out, 1);
}

static void show(const char *name, double r)
{
	int set = fetestexcept(FE_ALL_EXCEPT);

	if (r != r)
		printf(" %s nan", name);
	else
		printf(" %s %a", name, r);
	printf("/%s%s%s%s%s", set & FE_INVALID ? "V" : "", set & FE_DIVBYZERO ? "Z" : "",
	       set & FE_OVERFLOW ? "O" : "", set & FE_UNDERFLOW ? "U" : "",
	       set & FE_INEXACT ? "X" : "");
	feclearexcept(FE_ALL_EXCEPT);
}

static volatile double values[] = { 1, 3, -7, 0, 1e300, 1e-300, 5e-324, -0.0, INFINITY, NAN, 1e10 };
#define VALUES (sizeof values / sizeof *values)

#define RUN(f) show(#f, f(a, b))
static void all(double a, double b)
{
	RUN(add_down); RUN(add_dynamic); RUN(sub_dynamic); RUN(multiply_down);
	RUN(multiply_dynamic); RUN(divide_dynamic); RUN(divide_down); RUN(root);
	RUN(root_dynamic);
	if (lacking()) {
		RUN(add_plain); RUN(root_plain);
	}
	if (a == 1 || a == 3 || a == -7 || a == 0) {
		RUN(divide_single); RUN(multiply_single); RUN(root_single);
	}
	/* An integer that overflows is another on other machines. */
	if (fabs(a) < 1e15) {
		RUN(floor_long); RUN(long_dynamic);
	}
	printf("\n");
}

static void trapping(const char *what, double (*f)(double, double), double a, double b, int traps)
{
	code = 0;
	feclearexcept(FE_ALL_EXCEPT);
	feenableexcept(traps);
	if (!sigsetjmp(out, 1))
		f(a, b);
	fedisableexcept(FE_ALL_EXCEPT);
	printf("%s: %d\n", what, code);
}

int main(void)
{
	static const int modes[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NODEFER };

	for (unsigned m = 0; m < 4; m++)
		for (unsigned i = 0; i < VALUES; i++)
			for (unsigned j = 0; j < VALUES; j++) {
				fesetround(modes[m]);
				feclearexcept(FE_ALL_EXCEPT);
				all(values[i], values[j]);
			}
	fesetround(FE_TONEAREST);
	sigaction(SIGFPE, &action, NULL);
	trapping("division", divide_dynamic, 1, 0, FE_DIVBYZERO);
	trapping("division, not enabled", divide_dynamic, 1, 0, FE_OVERFLOW);
	trapping("invalid", root, -1, 0, FE_INVALID);
	trapping("overflow", multiply_dynamic, 1e300, 1e300, FE_OVERFLOW);
	trapping("underflow", multiply_down, 1e-300, 1e-300, FE_UNDERFLOW);
	trapping("inexact", divide_down, 1, 3, FE_INEXACT);
	return 0;
}
