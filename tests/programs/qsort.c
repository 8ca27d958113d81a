/* Calls back and forth between the program and the C library, through pointers. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 20000

struct entry {
	char name[12];
	uint32_t number;
	double weight;
};

static struct entry entries[COUNT];
static unsigned long compared;

static int by_name(const void *a, const void *b)
{
	compared++;
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static int by_weight(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->weight > y->weight) - (x->weight < y->weight);
}

int main(void)
{
	uint64_t state = 3;
	unsigned long found = 0, sum = 0;

	for (int i = 0; i < COUNT; i++) {
		state = state * 6364136223846793005 + 1442695040888963407;
		entries[i].number = state >> 32;
		entries[i].weight = entries[i].number * 0.25;
		snprintf(entries[i].name, sizeof entries[i].name, "%08x", entries[i].number ^ 0x5a5a5a5a);
	}
	qsort(entries, COUNT, sizeof *entries, by_name);
	for (int i = 1; i < COUNT; i++)
		if (strcmp(entries[i - 1].name, entries[i].name) > 0)
			printf("%d is out of order\n", i);
	printf("first %s, last %s\n", entries[0].name, entries[COUNT - 1].name);
	printf("compared %s\n", compared >= COUNT ? "enough" : "too little");

	for (int i = 0; i < COUNT; i += 7) {
		struct entry key = entries[i];

		found += bsearch(&key, entries, COUNT, sizeof key, by_name) != NULL;
	}
	printf("found %lu\n", found);

	qsort(entries, COUNT, sizeof *entries, by_weight);
	for (int i = 0; i < COUNT; i++)
		sum = sum * 31 + entries[i].number;
	printf("sum %016lx\n", sum);
	return 0;
}
