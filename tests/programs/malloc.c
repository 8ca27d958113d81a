/* The allocator: many sizes, reuse, growth in place and by moving, alignment. */

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 512

static unsigned char *blocks[BLOCKS];
static size_t sizes[BLOCKS];

static uint64_t state = 1;

static uint64_t roll(void)
{
	state = state * 6364136223846793005 + 1442695040888963407;
	return state >> 33;
}

/* Whether block i still holds what was written into it. */
static int whole(int i)
{
	for (size_t j = 0; j < sizes[i]; j++)
		if (blocks[i][j] != (unsigned char)(i + j))
			return 0;
	return 1;
}

static void refill(int i, size_t size)
{
	sizes[i] = size;
	for (size_t j = 0; j < size; j++)
		blocks[i][j] = i + j;
}

int main(void)
{
	unsigned long allocated = 0, freed = 0, grown = 0, broken = 0;

	for (int step = 0; step < 40000; step++) {
		int i = roll() % BLOCKS;
		/* Most blocks are small; now and then one is large enough for mmap. */
		size_t size = 1 + roll() % (step % 500 ? 700 : 300000);

		if (!blocks[i]) {
			blocks[i] = malloc(size);
			refill(i, size);
			allocated++;
		} else if (roll() % 3) {
			broken += !whole(i);
			free(blocks[i]);
			blocks[i] = NULL;
			freed++;
		} else if (size > sizes[i]) {
			blocks[i] = realloc(blocks[i], size);
			broken += !whole(i);
			refill(i, size);
			grown++;
		}
	}
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	printf("allocated %lu, freed %lu, grown %lu, broken %lu\n", allocated, freed, grown, broken);

	for (size_t align = 16; align <= 1 << 20; align *= 4) {
		void *block = memalign(align, 100);

		printf("%zu: %s\n", align, (uintptr_t)block % align ? "not aligned" : "aligned");
		free(block);
	}
	unsigned char *zeros = calloc(1000, 1000);
	size_t set = 0;

	for (int i = 0; i < 1000000; i++)
		set += zeros[i] != 0;
	printf("%zu bytes not zero\n", set);
	free(zeros);
	return 0;
}
