/* Bits and wide integers: a population count, a random generator, Montgomery products, Life. */
#include <stdint.h>
#include <stdio.h>
#include "scale.h"

static uint64_t next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    return *s ^= *s << 17;
}

static int ones(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555;
    x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return (int)(x * 0x0101010101010101 >> 56);
}

/* a * b / 2^64 modulo an odd n; inverse is -1/n modulo 2^64. */
static uint64_t product(uint64_t a, uint64_t b, uint64_t n, uint64_t inverse)
{
    unsigned __int128 t = (unsigned __int128)a * b;
    uint64_t m = (uint64_t)t * inverse;
    uint64_t high = (uint64_t)(((unsigned __int128)m * n) >> 64);
    uint64_t r = (uint64_t)(t >> 64) + high + ((uint64_t)t != 0);
    return r >= n ? r - n : r;
}

static uint64_t board[64], after[64];

static void live(void)
{
    for (int y = 0; y < 64; y++) {
        uint64_t up = board[(y + 63) & 63], here = board[y], down = board[(y + 1) & 63];
        uint64_t row[8] = {
            up << 1, up, up >> 1, here << 1, here >> 1, down << 1, down, down >> 1,
        };
        uint64_t one = 0, two = 0, four = 0;
        for (int i = 0; i < 8; i++) {
            uint64_t carry = one & row[i];
            one ^= row[i];
            four |= two & carry;
            two ^= carry;
        }
        after[y] = two & ~four & (one | here);
    }
    for (int y = 0; y < 64; y++)
        board[y] = after[y];
}

int main(int argc, char **argv)
{
    uint64_t s = 88172645463325252, sum = 0, n = 0x7fffffffffffffe7, inverse = 1;
    for (int i = 0; i < 6; i++)
        inverse *= 2 + n * inverse;
    for (int i = 0; i < 64; i++)
        board[i] = next(&s) & next(&s);
    for (int i = scale(argc, argv); i > 0; i--) {
        uint64_t x = next(&s) % n;
        for (int k = 0; k < 20000; k++) {
            sum += (uint64_t)ones(next(&s));
            x = product(x, x ^ (x >> 3), n, inverse);
        }
        for (int k = 0; k < 200; k++)
            live();
        sum += x + board[i & 63];
    }
    printf("bits %llx\n", (unsigned long long)sum);
    return 0;
}
