/* Calls through pointers with four targets each, in an order that is hard to foresee. */
#include <stdio.h>
#include "scale.h"

struct shape;
struct methods {
    long (*area)(const struct shape *);
    void (*grow)(struct shape *, int);
};
struct shape {
    const struct methods *methods;
    long a, b;
};

static long square(const struct shape *s) { return s->a * s->a; }
static long box(const struct shape *s) { return s->a * s->b; }
static long frame(const struct shape *s) { return 2 * (s->a + s->b); }
static long corner(const struct shape *s) { return s->a * s->b / 2; }
static void both(struct shape *s, int n) { s->a += n; s->b -= n; }
static void first(struct shape *s, int n) { s->a ^= n; }
static void second(struct shape *s, int n) { s->b += s->a & n; }
static void turn(struct shape *s, int n)
{
    long a = s->a;
    s->a = s->b;
    s->b = a + n;
}

static const struct methods classes[4] = {
    {square, both}, {box, first}, {frame, second}, {corner, turn},
};

int main(int argc, char **argv)
{
    static struct shape shapes[64];
    unsigned seed = 1;
    long sum = 0;
    for (int i = 0; i < 64; i++) {
        seed = seed * 1103515245 + 12345;
        shapes[i].methods = &classes[seed >> 16 & 3];
        shapes[i].a = seed >> 20;
        shapes[i].b = i;
    }
    for (int i = scale(argc, argv) * 200; i > 0; i--) {
        for (int k = 0; k < 64; k++) {
            struct shape *s = &shapes[k];
            s->methods->grow(s, i & 15);
            sum += s->methods->area(s) & 0xffff;
        }
    }
    printf("methods %ld\n", sum);
    return 0;
}
