/* Single precision on arrays: a picture is blurred and sharpened. alpha-flags: -mieee */
#include <stdio.h>
#include "scale.h"

enum { W = 128, H = 96 };

static float picture[H][W], other[H][W];

static void pass(float (*to)[W], float (*from)[W], float middle, float side)
{
    for (int y = 1; y < H - 1; y++)
        for (int x = 1; x < W - 1; x++)
            to[y][x] = middle * from[y][x]
                       + side * (from[y - 1][x] + from[y + 1][x] + from[y][x - 1] + from[y][x + 1]);
}

int main(int argc, char **argv)
{
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            other[y][x] = picture[y][x] = (float)((x * 7 + y * 13) % 256) / 256;
    for (int i = 10 * scale(argc, argv); i > 0; i--) {
        pass(other, picture, 0.5f, 0.125f);
        pass(picture, other, 1.5f, -0.125f);
    }
    double sum = 0;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            sum += picture[y][x] * (double)(1 + x % 5);
    printf("image %.17g %.9g\n", sum, picture[H / 2][W / 2]);
    return 0;
}
