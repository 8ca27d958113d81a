/* Primes by the sieve of Eratosthenes, one byte a number. */
#include <stdio.h>
#include <string.h>
#include "scale.h"

static unsigned char composite[1 << 16];

int main(int argc, char **argv)
{
    long sum = 0;
    for (int i = scale(argc, argv); i > 0; i--) {
        memset(composite, 0, sizeof composite);
        for (unsigned p = 2; p < sizeof composite; p++) {
            if (composite[p])
                continue;
            sum += p;
            for (unsigned m = 2 * p; m < sizeof composite; m += p)
                composite[m] = 1;
        }
    }
    printf("sieve %ld\n", sum);
    return 0;
}
