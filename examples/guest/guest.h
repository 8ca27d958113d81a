/* What demo.c and mark.c share: numbers, text, and the one system call they make. */
#ifndef GUEST_H
#define GUEST_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
typedef long i64;

/* A function that keeps its frame, whatever its callers know about it. */
#define FRAME __attribute__((noipa))

/* From start.S on Alpha, from the C library elsewhere. */
long write(int fd, const void *from, unsigned long bytes);

/* A good mixer of 64 bits: two rounds of multiply and fold. */
static inline u64 mix(u64 x)
{
	x = (x ^ x >> 31) * 0x9e3779b97f4a7c15;
	x = (x ^ x >> 29) * 0xd1342543de82ef95;
	return x ^ x >> 32;
}

/* The sequence of numbers that every part starts from. */
struct dice {
	u64 state;
};

static inline u64 roll(struct dice *dice)
{
	dice->state = dice->state * 6364136223846793005 + 1442695040888963407;
	return mix(dice->state);
}

/* Writes "name  0123456789abcdef". */
static FRAME void report(const char *name, u64 sum)
{
	char line[32];
	int at = 0;

	while (*name)
		line[at++] = *name++;
	while (at < 8)
		line[at++] = ' ';
	for (int shift = 60; shift >= 0; shift -= 4)
		line[at++] = "0123456789abcdef"[sum >> shift & 15];
	line[at++] = '\n';
	write(1, line, at);
}

#endif
