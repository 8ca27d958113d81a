/* A bit of everything that old benchmarks of floating point do: polynomials, arrays, conversions,
   branches on what was computed, calls, single precision. alpha-flags: -mieee */
#include <math.h>
#include <stdio.h>
#include "scale.h"

static double array[4] = { 1, -1, -1, -1 };

/* sin and exp by their series, so that no library takes part. */
static double sine(double x)
{
    double term = x, sum = x;
    for (int i = 2; i < 16; i += 2) {
        term *= -x * x / (i * (i + 1));
        sum += term;
    }
    return sum;
}

static double power(double x)
{
    double sum = 1;
    for (int i = 14; i > 0; i--)
        sum = 1 + x * sum / i;
    return sum;
}

__attribute__((noinline)) static void mix(double *e, double t)
{
    for (int i = 0; i < 6; i++) {
        e[0] = (e[0] + e[1] + e[2] - e[3]) * t;
        e[1] = (e[0] + e[1] - e[2] + e[3]) * t;
        e[2] = (e[0] - e[1] + e[2] + e[3]) * t;
        e[3] = (-e[0] + e[1] + e[2] + e[3]) / 2;
    }
}

/* A low pass, in single precision. */
static float filter(float *state, float in)
{
    state[0] += 0.125f * (in - state[0]);
    state[1] += 0.125f * (state[0] - state[1]);
    return state[1];
}

int main(int argc, char **argv)
{
    double x = 0.5, y = 0.25;
    float state[2] = { 0, 0 }, low = 0;
    long whole = 0, above = 0;
    for (int i = 10000 * scale(argc, argv); i > 0; i--) {
        mix(array, 0.499975);
        x = sine(x + y) * 0.75 + 0.1;
        y = power(-x) - 0.25 * y;
        if (x > y)
            above++;
        whole += (long)(1000 * y) + (long)rint(x * 16);
        low = filter(state, (float)(x - y));
    }
    printf("mixture %.17g %.17g %.9g %ld %ld", x, y, low, whole, above);
    for (int i = 0; i < 4; i++)
        printf(" %.17g", array[i]);
    printf("\n");
    return 0;
}
