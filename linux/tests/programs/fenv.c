/* Floating-point traps that a program asks for: the signal, its code, and that the status is
   what it was asked to be. Rounding modes. The same on any machine with IEEE arithmetic.
   alpha-flags: -mieee-with-inexact -mfp-rounding-mode=d */

#define _GNU_SOURCE
#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf out;
static volatile int code;

static void handler(int signal, siginfo_t *info, void *context)
{
	code = info->si_code;
	siglongjmp(out, 1);
}

static const char *name(int code)
{
	switch (code) {
	case FPE_FLTDIV: return "division";
	case FPE_FLTOVF: return "overflow";
	case FPE_FLTUND: return "underflow";
	case FPE_FLTRES: return "inexact";
	case FPE_FLTINV: return "invalid";
	}
	return code ? "?" : "no signal";
}

static volatile double one = 1, three = 3, zero = 0, small = 1e-200, large = 1e300;
static volatile float single_small = 1e-30f, single_large = 1e30f;

#define OPERATIONS(X) \
	X(exact, one + three) \
	X(third, one / three) \
	X(infinite, one / zero) \
	X(invalid, zero / zero) \
	X(overflow, large * large) \
	X(underflow, small * small) \
	X(single_overflow, single_large * single_large) \
	X(single_underflow, single_small * single_small) \
	X(narrow, (float)large) \
	X(root, __builtin_sqrt(-one)) \
	X(truncation, (long)(one / 2 + one))

#define DEFINE(id, e) __attribute__((noinline)) static double id(void) { return e; }
OPERATIONS(DEFINE)

static void flags(int set)
{
	printf(" %s%s%s%s%s", set & FE_INVALID ? "V" : "-", set & FE_DIVBYZERO ? "Z" : "-",
	       set & FE_OVERFLOW ? "O" : "-", set & FE_UNDERFLOW ? "U" : "-",
	       set & FE_INEXACT ? "X" : "-");
}

static void try(const char *what, double (*f)(void), int traps)
{
	volatile double result = 0;

	code = 0;
	feclearexcept(FE_ALL_EXCEPT);
	feenableexcept(traps);
	if (!sigsetjmp(out, 1))
		result = f();
	fedisableexcept(FE_ALL_EXCEPT);
	printf("%s with", what);
	flags(traps);
	printf(": %s", name(code));
	if (!code) {
		printf(" %a", result == result ? (double)result : 1e99);
		flags(fetestexcept(FE_ALL_EXCEPT));
	}
	printf("\n");
}

int main(void)
{
	static const int traps[] = { 0, FE_INVALID, FE_DIVBYZERO, FE_OVERFLOW, FE_UNDERFLOW, FE_INEXACT,
				     FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW };
	static const int modes[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	sigaction(SIGFPE, &action, NULL);
	for (unsigned i = 0; i < sizeof traps / sizeof *traps; i++) {
#define TRY(id, e) try(#id, id, traps[i]);
		OPERATIONS(TRY)
	}
	for (unsigned i = 0; i < 4; i++) {
		fesetround(modes[i]);
		volatile double results[] = { third(), -third(), overflow(), underflow(), narrow() };
		volatile double minus = -one / three, single = single_underflow();
		fesetround(FE_TONEAREST);
		for (unsigned j = 0; j < 5; j++)
			printf("%a ", results[j]);
		printf("%a %a\n", minus, single);
	}
	return 0;
}
