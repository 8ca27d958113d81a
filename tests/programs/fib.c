/* Recursion: Fibonacci numbers the slow way, and Ackermann's function. */
#include <stdio.h>
#include "scale.h"

__attribute__((noinline)) static unsigned fib(unsigned n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) static unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

int main(int argc, char **argv)
{
    unsigned sum = 0;
    for (int i = scale(argc, argv); i > 0; i--)
        sum += fib(20 + (i & 3)) + ackermann(2, 40 + (i & 7));
    printf("fib %u\n", sum);
    return 0;
}
