/* Code that the program makes: on the heap, on the stack, in pages that change their protection,
   in two mappings of one file, and at an address that is mapped again. Compiled for another machine
   than Alpha, it prints what Alpha must. */
/* alpha-flags: -O1 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 8192, ROUNDS = 40, CALLS = 6000 };

#ifdef __alpha__
static void make(unsigned *at, int n) {
    at[0] = 0x201f0000 | (n & 0x7fff); /* lda $0, n($31) */
    at[1] = 0x6bfa8001;                /* ret */
}
static void barrier(void) { __asm__ volatile("call_pal 0x86" ::: "memory"); }
static long call(unsigned *at) {
    long (*f)(void) = (long (*)(void))at;
    long sum = 0;
    for (int i = 0; i < CALLS; i++)
        sum += f();
    return sum;
}
#else
static void make(unsigned *at, int n) { at[0] = n; }
static void barrier(void) {}
static long call(unsigned *at) { return (long)at[0] * CALLS; }
#endif

static unsigned *map(int prot) {
    return mmap(0, SIZE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(void) {
    long sum = 0;
    unsigned *both = map(PROT_READ | PROT_WRITE | PROT_EXEC);
    for (int i = 0; i < ROUNDS; i++) {
        make(both, i);
        barrier();
        sum += call(both);
    }
    printf("writable and executable: %ld\n", sum);

    sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        mprotect(both, SIZE, PROT_READ | PROT_WRITE);
        make(both, i + 100);
        mprotect(both, SIZE, PROT_READ | PROT_EXEC);
        barrier();
        sum += call(both);
    }
    printf("one after the other: %ld\n", sum);

    sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        mprotect(both, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC);
        make(both, i + 200);
        mprotect(both, SIZE, PROT_READ | PROT_EXEC);
        barrier();
        sum += call(both);
    }
    printf("writable for a while: %ld\n", sum);

    sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        unsigned *again = mmap(both, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        make(again, i + 300);
        barrier();
        sum += call(again);
    }
    printf("mapped again: %ld\n", sum);

    sum = 0;
    int file = memfd_create("code", 0);
    if (file < 0 || write(file, both, SIZE) != SIZE)
        return 1;
    unsigned *w = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    unsigned *x = mmap(0, SIZE, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
    for (int i = 0; i < ROUNDS; i++) {
        make(w, i + 400);
        barrier();
        sum += call(x);
    }
    printf("two mappings: %ld\n", sum);

    sum = 0;
    unsigned stack[64];
    unsigned long page = (unsigned long)stack & -SIZE;
    mprotect((void *)page, 2 * SIZE, PROT_READ | PROT_WRITE | PROT_EXEC);
    for (int i = 0; i < ROUNDS; i++) {
        make(stack + i % 32, i + 500);
        barrier();
        sum += call(stack + i % 32);
    }
    printf("on the stack: %ld\n", sum);
    return 0;
}
