/* Checksums of a buffer: CRC-32 by table, Adler-32, FNV-1a, and SHA-256's compression. */
#include <stdint.h>
#include <stdio.h>
#include "scale.h"

static uint8_t data[1 << 14];
static uint32_t table[256], round_constant[64];

static uint32_t crc(uint32_t c)
{
    for (size_t i = 0; i < sizeof data; i++)
        c = table[(c ^ data[i]) & 255] ^ c >> 8;
    return c;
}

static uint32_t adler(uint32_t a)
{
    uint32_t b = 0;
    for (size_t i = 0; i < sizeof data; i++) {
        a += data[i];
        b += a;
        if (a >= 65521)
            a -= 65521;
        if (b >= 65521)
            b -= 65521;
    }
    return b << 16 | a;
}

static uint64_t fnv(uint64_t h)
{
    for (size_t i = 0; i < sizeof data; i++)
        h = (h ^ data[i]) * 1099511628211u;
    return h;
}

static uint32_t turn(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void sha(uint32_t state[8])
{
    for (size_t block = 0; block + 64 <= sizeof data; block += 64) {
        uint32_t w[64], s[8];
        for (int i = 0; i < 16; i++) {
            const uint8_t *p = &data[block + 4 * i];
            w[i] = (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
        }
        for (int i = 16; i < 64; i++) {
            uint32_t a = w[i - 15], b = w[i - 2];
            w[i] = w[i - 16] + w[i - 7] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3)
                + (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
        }
        for (int i = 0; i < 8; i++)
            s[i] = state[i];
        for (int i = 0; i < 64; i++) {
            uint32_t x = s[7] + (turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25))
                + ((s[4] & s[5]) ^ (~s[4] & s[6])) + round_constant[i] + w[i];
            uint32_t y = (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22))
                + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
            for (int k = 7; k > 0; k--)
                s[k] = s[k - 1];
            s[4] += x;
            s[0] = x + y;
        }
        for (int i = 0; i < 8; i++)
            state[i] += s[i];
    }
}

int main(int argc, char **argv)
{
    uint32_t seed = 1, state[8] = {1, 2, 3, 4, 5, 6, 7, 8}, a = 1, c = ~0u;
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (seed = seed * 1664525 + 1013904223) >> 24;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t v = i;
        for (int k = 0; k < 8; k++)
            v = v & 1 ? v >> 1 ^ 0xedb88320 : v >> 1;
        table[i] = v;
    }
    for (int i = 0; i < 64; i++)
        round_constant[i] = seed = seed * 1664525 + 1013904223;
    for (int i = scale(argc, argv); i > 0; i--) {
        c = crc(c);
        a = adler(a & 0xffff);
        h = fnv(h);
        sha(state);
    }
    printf("checksum %x %x %llx %x\n", c, a, (unsigned long long)h, state[0]);
    return 0;
}
