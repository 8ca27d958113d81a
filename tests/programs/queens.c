/* Search: the eight queens and more, permutations, and a knight's ways. */
#include <stdio.h>
#include "scale.h"

static long place(unsigned all, unsigned columns, unsigned left, unsigned right)
{
    if (columns == all)
        return 1;
    long n = 0;
    for (unsigned free = all & ~(columns | left | right); free; free &= free - 1) {
        unsigned bit = free & -free;
        n += place(all, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return n;
}

static int list[8];

static long permute(int k)
{
    if (k == 8)
        return list[0] * 8 + list[7];
    long n = 0;
    for (int i = k; i < 8; i++) {
        int t = list[k];
        list[k] = list[i], list[i] = t;
        n += permute(k + 1);
        list[i] = list[k], list[k] = t;
    }
    return n;
}

static long ways[8][8], more[8][8];

static long knight(int moves)
{
    static const signed char step[8][2] = {
        {1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2},
    };
    ways[0][0] = 1;
    while (moves-- > 0) {
        for (int x = 0; x < 8; x++)
            for (int y = 0; y < 8; y++) {
                long n = 0;
                for (int s = 0; s < 8; s++) {
                    int a = x + step[s][0], b = y + step[s][1];
                    if (a >= 0 && a < 8 && b >= 0 && b < 8)
                        n += ways[a][b];
                }
                more[x][y] = n & 0xffffffffffff;
            }
        for (int x = 0; x < 8; x++)
            for (int y = 0; y < 8; y++)
                ways[x][y] = more[x][y];
    }
    return ways[3][4];
}

int main(int argc, char **argv)
{
    long sum = 0;
    for (int i = 0; i < 8; i++)
        list[i] = i;
    for (int i = scale(argc, argv); i > 0; i--)
        sum += place(255, 0, 0, 0) + permute(0) + knight(40);
    printf("queens %ld\n", sum);
    return 0;
}
