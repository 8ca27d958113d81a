/* Bodies that attract each other: square roots and quotients, as in simulations of a solar system.
   alpha-flags: -mieee */
#include <math.h>
#include <stdio.h>
#include "scale.h"

enum { BODIES = 8 };

struct body {
    double at[3], speed[3], mass;
};

static struct body bodies[BODIES];

static void set_up(void)
{
    for (int i = 0; i < BODIES; i++) {
        struct body *b = &bodies[i];
        double r = i == 0 ? 0 : 1 + 0.75 * i;
        b->mass = i == 0 ? 40 : 0.01 / i;
        b->at[0] = i % 2 ? r : -r;
        b->at[1] = 0.125 * i;
        b->at[2] = 0.0625 * (i % 3);
        b->speed[1] = i == 0 ? 0 : (i % 2 ? 1 : -1) * sqrt(40 / r);
        b->speed[0] = b->speed[2] = 0;
    }
}

static void step(double dt)
{
    for (int i = 0; i < BODIES; i++) {
        for (int j = i + 1; j < BODIES; j++) {
            struct body *p = &bodies[i], *q = &bodies[j];
            double d[3], square = 1e-6;
            for (int k = 0; k < 3; k++) {
                d[k] = p->at[k] - q->at[k];
                square += d[k] * d[k];
            }
            double pull = dt / (square * sqrt(square));
            for (int k = 0; k < 3; k++) {
                p->speed[k] -= d[k] * q->mass * pull;
                q->speed[k] += d[k] * p->mass * pull;
            }
        }
    }
    for (int i = 0; i < BODIES; i++)
        for (int k = 0; k < 3; k++)
            bodies[i].at[k] += dt * bodies[i].speed[k];
}

static double energy(void)
{
    double sum = 0;
    for (int i = 0; i < BODIES; i++) {
        const struct body *p = &bodies[i];
        for (int k = 0; k < 3; k++)
            sum += 0.5 * p->mass * p->speed[k] * p->speed[k];
        for (int j = i + 1; j < BODIES; j++) {
            double square = 0;
            for (int k = 0; k < 3; k++)
                square += (p->at[k] - bodies[j].at[k]) * (p->at[k] - bodies[j].at[k]);
            sum -= p->mass * bodies[j].mass / sqrt(square);
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    set_up();
    double before = energy();
    for (int i = 1000 * scale(argc, argv); i > 0; i--)
        step(0.0009765625);
    printf("planets %.17g %.17g\n", before, energy());
    return 0;
}
