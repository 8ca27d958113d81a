/* Systems of linear equations, by elimination with pivots: dot products and multiples of rows, as
   in LINPACK. alpha-flags: -mieee */
#include <math.h>
#include <stdio.h>
#include "scale.h"

enum { N = 100 };

static double a[N][N], b[N], x[N];

/* Numbers between -1 and 1, the same everywhere. */
static double next(unsigned long *seed)
{
    *seed = *seed * 6364136223846793005ul + 1442695040888963407ul;
    return (double)(long)*seed / 9223372036854775808.0;
}

/* y += f * x */
static void add_multiple(double *y, const double *x, double f, int n)
{
    for (int i = 0; i < n; i++)
        y[i] += f * x[i];
}

static int eliminate(void)
{
    for (int k = 0; k < N; k++) {
        int pivot = k;
        for (int i = k + 1; i < N; i++)
            if (fabs(a[i][k]) > fabs(a[pivot][k]))
                pivot = i;
        if (a[pivot][k] == 0)
            return 0;
        for (int j = 0; j < N; j++) {
            double t = a[k][j];
            a[k][j] = a[pivot][j], a[pivot][j] = t;
        }
        double t = b[k];
        b[k] = b[pivot], b[pivot] = t;
        for (int i = k + 1; i < N; i++) {
            double f = -a[i][k] / a[k][k];
            add_multiple(&a[i][k], &a[k][k], f, N - k);
            b[i] += f * b[k];
        }
    }
    for (int k = N - 1; k >= 0; k--) {
        double sum = b[k];
        for (int j = k + 1; j < N; j++)
            sum -= a[k][j] * x[j];
        x[k] = sum / a[k][k];
    }
    return 1;
}

int main(int argc, char **argv)
{
    unsigned long seed = 1;
    double total = 0, worst = 0;
    for (int round = scale(argc, argv); round > 0; round--) {
        for (int i = 0; i < N; i++) {
            b[i] = 0;
            for (int j = 0; j < N; j++) {
                a[i][j] = next(&seed);
                b[i] += a[i][j];
            }
        }
        if (!eliminate())
            return 1;
        for (int i = 0; i < N; i++) {
            total += x[i];
            if (fabs(x[i] - 1) > worst)
                worst = fabs(x[i] - 1);
        }
    }
    printf("lu %.17g %.17g\n", total, worst);
    return 0;
}
