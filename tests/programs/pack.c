/* Compression: matches by hash chains, a move-to-front pass and Huffman's code lengths. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "scale.h"

enum { SIZE = 1 << 15, HASHES = 1 << 12, FAR = 64 };

static uint8_t text[SIZE], packed[2 * SIZE], back[SIZE];
static int head[HASHES], previous[SIZE];

static void write_text(uint32_t seed)
{
    static const char *const words[16] = {
        "register ", "sampler ", "the ", "of ", "a ", "stack ", "and ", "pointer ", "frame ",
        "is ", "unwinds ", "alpha ", "in ", "to ", "call ", "returns ",
    };
    size_t n = 0;
    while (n < SIZE) {
        seed = seed * 1664525 + 1013904223;
        const char *word = words[seed >> 28];
        for (size_t i = 0; word[i] && n < SIZE; i++)
            text[n++] = (uint8_t)word[i];
    }
}

static unsigned hash(const uint8_t *p)
{
    return (p[0] | p[1] << 8 | p[2] << 16) * 2654435761u >> 20 & (HASHES - 1);
}

static size_t pack(void)
{
    size_t out = 0;
    memset(head, -1, sizeof head);
    for (int i = 0; i < SIZE;) {
        int best = 0, from = 0;
        if (i + 3 < SIZE) {
            unsigned h = hash(&text[i]);
            int tries = FAR;
            for (int k = head[h]; k >= 0 && tries-- > 0; k = previous[k]) {
                int n = 0;
                while (n < 255 && i + n < SIZE && text[k + n] == text[i + n])
                    n++;
                if (n > best)
                    best = n, from = k;
            }
            previous[i] = head[h];
            head[h] = i;
        }
        if (best < 4) {
            packed[out++] = 0;
            packed[out++] = text[i++];
        } else {
            packed[out++] = (uint8_t)best;
            packed[out++] = (uint8_t)(i - from);
            packed[out++] = (uint8_t)((i - from) >> 8);
            i += best;
        }
    }
    return out;
}

static size_t unpack(size_t length)
{
    size_t n = 0;
    for (size_t i = 0; i < length;) {
        size_t run = packed[i++];
        if (run == 0) {
            back[n++] = packed[i++];
        } else {
            size_t distance = packed[i] | packed[i + 1] << 8;
            i += 2;
            while (run-- > 0) {
                back[n] = back[n - distance];
                n++;
            }
        }
    }
    return n;
}

static unsigned front(size_t length)
{
    uint8_t order[256];
    unsigned sum = 0;
    for (int i = 0; i < 256; i++)
        order[i] = (uint8_t)i;
    for (size_t i = 0; i < length; i++) {
        unsigned at = 0;
        while (order[at] != packed[i])
            at++;
        sum += at;
        for (; at > 0; at--)
            order[at] = order[at - 1];
        order[0] = packed[i];
    }
    return sum;
}

static unsigned lengths(size_t length)
{
    unsigned weight[256] = {0}, total = 0;
    for (size_t i = 0; i < length; i++)
        weight[packed[i]]++;
    for (;;) {
        int a = -1, b = -1;
        for (int i = 0; i < 256; i++) {
            if (weight[i] == 0)
                continue;
            if (a < 0 || weight[i] < weight[a])
                b = a, a = i;
            else if (b < 0 || weight[i] < weight[b])
                b = i;
        }
        if (b < 0)
            return total;
        total += weight[a] + weight[b];
        weight[b] += weight[a];
        weight[a] = 0;
    }
}

int main(int argc, char **argv)
{
    unsigned long sum = 0;
    for (int i = scale(argc, argv); i > 0; i--) {
        write_text((uint32_t)i);
        size_t n = pack();
        if (unpack(n) != SIZE || memcmp(back, text, SIZE) != 0)
            return 1;
        sum += n + front(n) + lengths(n);
    }
    printf("pack %lu\n", sum);
    return 0;
}
