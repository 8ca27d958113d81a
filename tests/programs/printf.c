/* Formatting: glibc's vfprintf keeps its frame in $15, and prints doubles with
   multi-word integers. */

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>

int main(void)
{
	static const double values[] = {
		0.0,   -0.0,	1.0,	 0.1,	   1.0 / 3,	  1e100,
		1e-30, 123456.7, 0x1p-52, 0x1p1000, 9007199254740993.0, 2.5,
	};
	char line[64];
	int count = 0, read, a;
	double b;
	char word[16];

	for (unsigned i = 0; i < sizeof values / sizeof *values; i++)
		printf("%g %.17g %e %.3f %a\n", values[i], values[i], values[i], values[i], values[i]);
	printf("%d %i %u %x %X %o\n", INT_MIN, INT_MAX, UINT_MAX, 0xabcdef, 0xabcdef, 0755);
	printf("%ld %lu %lx %zu %td\n", LONG_MIN, ULONG_MAX, LONG_MIN, sizeof(long), (ptrdiff_t)-3);
	printf("%hhd %hd %" PRId64 " %jd\n", (signed char)-1, (short)-2, INT64_MIN, INTMAX_MAX);
	printf("[%8d] [%-8d] [%08d] [%+d] [% d] [%#x] [%.5d]\n", 42, 42, 42, 42, 42, 42, 42);
	printf("[%10s] [%-10s] [%.2s] [%c] [%%] [%p]\n", "text", "text", "text", 'c', (void *)0x1234);
	printf("[%*d] [%-*d] [%.*f] %n", 6, 7, 6, 7, 2, 3.14159, &count);
	printf("%d\n", count);
	printf("%2$s %1$s\n", "first", "second");
	volatile size_t room = 8;
	count = snprintf(line, room, "%s", "longer than eight");
	printf("%d %s\n", count, line);
	read = sscanf("  -17 0x1.8p3 word,rest", "%d %lf %15[a-z]", &a, &b, word);
	printf("%d %d %g %s\n", read, a, b, word);
	return 0;
}
