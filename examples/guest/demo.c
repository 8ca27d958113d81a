/* A program to profile. Each part is a few calls deep and busy in its own way; each
   prints a checksum, so that a machine which computes wrongly says so.

   The same file, compiled for any 64-bit Linux, prints the same lines: that is where
   demo.expected comes from (see scripts/build-guests). */

#include "guest.h"

/* ---- sort: recursion, branches that depend on data ---- */

#define KEYS 60000

static u64 keys[KEYS];

static FRAME void insertion_sort(u64 *from, u64 *end)
{
	for (u64 *next = from + 1; next < end; next++) {
		u64 key = *next;
		u64 *hole = next;

		for (; hole > from && hole[-1] > key; hole--)
			*hole = hole[-1];
		*hole = key;
	}
}

/* Moves what is below the middle key to the front, and returns where that ends. */
static FRAME u64 *partition(u64 *from, u64 *end)
{
	u64 pivot = from[(end - from) / 2];
	u64 *low = from, *high = end - 1;

	for (;; low++, high--) {
		while (*low < pivot)
			low++;
		while (*high > pivot)
			high--;
		if (low >= high)
			return high + 1;

		u64 swapped = *low;
		*low = *high;
		*high = swapped;
	}
}

static FRAME void quick_sort(u64 *from, u64 *end)
{
	if (end - from <= 12) {
		insertion_sort(from, end);
		return;
	}

	u64 *middle = partition(from, end);
	quick_sort(from, middle);
	quick_sort(middle, end);
}

static FRAME u64 part_sort(void)
{
	u64 sum = 0;

	for (u64 round = 0; round < 5; round++) {
		struct dice dice = { round };

		for (int i = 0; i < KEYS; i++)
			keys[i] = roll(&dice);
		quick_sort(keys, keys + KEYS);
		for (int i = 0; i < KEYS; i++)
			sum = mix(sum + keys[i]);
	}
	return sum;
}

/* ---- hash: loads of bytes, and remainders, which Alpha computes by a call ---- */

#define SLOTS 8191
#define WORDS 5000

static struct slot {
	u64 hash;
	u64 count;
} slots[SLOTS];

static FRAME u64 hash_bytes(const u8 *bytes, u64 length)
{
	u64 hash = 0xcbf29ce484222325;

	for (u64 i = 0; i < length; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	return hash;
}

static FRAME void count_word(u64 hash, u64 size)
{
	u64 at = hash % size;

	while (slots[at].count && slots[at].hash != hash)
		at = at + 1 < size ? at + 1 : 0;
	slots[at].hash = hash;
	slots[at].count++;
}

static FRAME u64 part_hash(void)
{
	u8 word[24];
	u64 sum = 0;
	struct dice dice = { 77 };

	for (u64 i = 0; i < 110000; i++) {
		u64 value = roll(&dice) % WORDS;
		u64 length = 4 + value % 17;

		for (u64 j = 0; j < length; j++)
			word[j] = 'a' + (mix(value) >> j) % 26;
		count_word(hash_bytes(word, length), SLOTS);
	}
	for (u64 i = 0; i < SLOTS; i++)
		sum = mix(sum + slots[i].hash * slots[i].count);
	return sum;
}

/* ---- queens: deep recursion and bits ---- */

static FRAME u64 place(u64 free, u64 left, u64 right, u64 columns)
{
	u64 found = 0;

	if (!free)
		return 1;
	for (u64 open = free & ~left & ~right & columns; open; open &= open - 1) {
		u64 queen = open & -open;

		found += place(free ^ queen, (left | queen) << 1, (right | queen) >> 1, columns);
	}
	return found;
}

static FRAME u64 part_queens(void)
{
	u64 sum = 0;

	for (u64 size = 4; size <= 12; size++) {
		u64 columns = (1UL << size) - 1;

		sum = sum * 31 + place(columns, 0, 0, columns);
	}
	return sum;
}

/* ---- orbit: floating point, no operation that may be contracted or reordered ---- */

#define BODIES 6

static struct body {
	double at[3], speed[3], mass;
} bodies[BODIES];

static FRAME double cube_of_distance(const double *gap)
{
	double square = gap[0] * gap[0] + gap[1] * gap[1] + gap[2] * gap[2];

	return square * __builtin_sqrt(square);
}

static FRAME void attract(struct body *a, struct body *b, double step)
{
	double gap[3], pull;

	for (int i = 0; i < 3; i++)
		gap[i] = b->at[i] - a->at[i];
	pull = step / cube_of_distance(gap);
	for (int i = 0; i < 3; i++) {
		a->speed[i] += gap[i] * pull * b->mass;
		b->speed[i] -= gap[i] * pull * a->mass;
	}
}

static FRAME void advance(double step)
{
	for (int i = 0; i < BODIES; i++)
		for (int j = i + 1; j < BODIES; j++)
			attract(&bodies[i], &bodies[j], step);
	for (int i = 0; i < BODIES; i++)
		for (int j = 0; j < 3; j++)
			bodies[i].at[j] += bodies[i].speed[j] * step;
}

static FRAME u64 part_orbit(void)
{
	u64 sum = 0;
	struct dice dice = { 5 };

	for (int i = 0; i < BODIES; i++) {
		for (int j = 0; j < 3; j++) {
			bodies[i].at[j] = (double)(i64)(roll(&dice) >> 12) * 0x1p-48 - 8;
			bodies[i].speed[j] = (double)(i64)(roll(&dice) >> 12) * 0x1p-54;
		}
		bodies[i].mass = 1 + i * 0.25;
	}
	for (int i = 0; i < 40000; i++)
		advance(0x1p-10);
	for (int i = 0; i < BODIES; i++)
		for (int j = 0; j < 3; j++) {
			union {
				double value;
				u64 bits;
			} last = { bodies[i].at[j] };

			sum = mix(sum + last.bits);
		}
	return sum;
}

/* ---- median: a window of variable size on the stack, so $15 is the frame pointer ---- */

static FRAME u64 median_of(const u64 *from, int width)
{
	u64 window[width];

	for (int i = 0; i < width; i++)
		window[i] = from[i];
	insertion_sort(window, window + width);
	return window[width / 2];
}

static FRAME u64 part_median(void)
{
	u64 sum = 0;
	struct dice dice = { 11 };

	for (int i = 0; i < KEYS; i++)
		keys[i] = roll(&dice) >> 40;
	for (int i = 0; i + 25 < KEYS; i++)
		sum = mix(sum + median_of(keys + i, 5 + i % 20));
	return sum;
}

static FRAME u64 run(const char *name, u64 (*part)(void))
{
	u64 sum = part();

	report(name, sum);
	return sum;
}

int main(void)
{
	u64 total = 0;

	total = mix(total + run("sort", part_sort));
	total = mix(total + run("hash", part_hash));
	total = mix(total + run("queens", part_queens));
	total = mix(total + run("orbit", part_orbit));
	total = mix(total + run("median", part_median));
	report("total", total);
	return 0;
}
