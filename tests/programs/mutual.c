/* Functions that call each other: Hofstadter's sequences, and a recursive-descent calculator. */
#include <stdio.h>
#include "scale.h"

static int male(int n);

__attribute__((noinline)) static int female(int n)
{
    return n == 0 ? 1 : n - male(female(n - 1));
}

__attribute__((noinline)) static int male(int n)
{
    return n == 0 ? 0 : n - female(male(n - 1));
}

static const char *at;
static long expression(void);

__attribute__((noinline)) static long factor(void)
{
    if (*at == '(') {
        at++;
        long v = expression();
        at++;
        return v;
    }
    long v = 0;
    while (*at >= '0' && *at <= '9')
        v = 10 * v + (*at++ - '0');
    return v;
}

__attribute__((noinline)) static long term(void)
{
    long v = factor();
    while (*at == '*') {
        at++;
        v *= factor();
    }
    return v;
}

__attribute__((noinline)) static long expression(void)
{
    long v = term();
    while (*at == '+' || *at == '-')
        v = *at++ == '+' ? v + term() : v - term();
    return v;
}

int main(int argc, char **argv)
{
    static const char text[] = "((1+2)*3-4*(5+6*(7-8)))*9+(10*(11+12*(13-14*(15+16))))-17";
    long sum = 0;
    for (int i = scale(argc, argv); i > 0; i--) {
        sum += female(20 + (i & 7)) + male(22);
        for (int k = 0; k < 50; k++) {
            at = text;
            sum += expression();
        }
    }
    printf("mutual %ld\n", sum);
    return 0;
}
