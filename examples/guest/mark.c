/* A workload for comparing speeds: what integer programs spend their time on, in
   equal shares. Its four parts are lists, small matrices, a scanner and a CRC.

   usage: mark [rounds]        about a million instructions a round */

#include "guest.h"

#define ROUNDS 2400

/* ---- chains: pointers that must be followed one by one ---- */

#define LINKS 512

struct link {
	struct link *next;
	u32 key;
	u16 tag, seen;
};

static struct link links[LINKS];

static FRAME struct link *scatter(struct dice *dice)
{
	struct link *head = 0;
	/* An odd stride visits every place of a power of two once. */
	u64 stride = roll(dice) | 1;

	for (u64 i = 0; i < LINKS; i++) {
		struct link *link = &links[i * stride % LINKS];

		link->next = head;
		link->key = roll(dice) >> 40;
		link->tag = i;
		link->seen = 0;
		head = link;
	}
	return head;
}

static FRAME struct link *reverse(struct link *head)
{
	struct link *done = 0;

	while (head) {
		struct link *rest = head->next;

		head->next = done;
		done = head;
		head = rest;
	}
	return done;
}

static FRAME struct link *merge(struct link *a, struct link *b)
{
	struct link head, *last = &head;

	while (a && b) {
		struct link **smaller = b->key < a->key ? &b : &a;

		last->next = *smaller;
		last = *smaller;
		*smaller = last->next;
	}
	last->next = a ? a : b;
	return head.next;
}

/* Sorts a chain from the bottom up: bins[n] holds none or 2^n links in order. */
static FRAME struct link *merge_sort(struct link *head)
{
	struct link *bins[10], *sorted = 0;

	for (int n = 0; n < 10; n++)
		bins[n] = 0;
	while (head) {
		struct link *run = head;
		int n = 0;

		head = head->next;
		run->next = 0;
		for (; bins[n]; n++) {
			run = merge(bins[n], run);
			bins[n] = 0;
		}
		bins[n] = run;
	}
	for (int n = 0; n < 10; n++)
		sorted = merge(bins[n], sorted);
	return sorted;
}

static FRAME struct link *find(struct link *head, u16 tag)
{
	while (head && head->tag != tag)
		head = head->next;
	return head;
}

static FRAME u64 chains(struct dice *dice)
{
	struct link *head = reverse(merge_sort(reverse(scatter(dice))));
	u64 sum = 0;

	for (int i = 0; i < 48; i++)
		find(head, roll(dice) % LINKS)->seen++;
	for (; head; head = head->next)
		sum = sum * 3 + head->key + head->seen;
	return sum;
}

/* ---- grids: multiplication of small integers, counted loops ---- */

#define SIDE 22

typedef short grid[SIDE][SIDE];

static grid left, right;
static int product[SIDE][SIDE];

static FRAME void fill(grid into, struct dice *dice)
{
	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++)
			into[i][j] = roll(dice) >> 52;
}

static FRAME void multiply(void)
{
	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++) {
			int dot = 0;

			for (int k = 0; k < SIDE; k++)
				dot += left[i][k] * right[k][j];
			product[i][j] = dot;
		}
}

/* Every product, clipped to a window around its left neighbour. */
static FRAME void smooth(int window)
{
	for (int i = 0; i < SIDE; i++)
		for (int j = 1; j < SIDE; j++) {
			int gap = product[i][j] - product[i][j - 1];

			if (gap > window)
				product[i][j] = product[i][j - 1] + window;
			else if (gap < -window)
				product[i][j] = product[i][j - 1] - window;
		}
}

static FRAME u64 grids(struct dice *dice)
{
	u64 sum = 0;

	fill(left, dice);
	fill(right, dice);
	for (int pass = 0; pass < 2; pass++) {
		multiply();
		smooth(1 << (14 + pass));
		for (int i = 0; i < SIDE; i++)
			for (int j = 0; j < SIDE; j++) {
				sum = sum * 5 + product[i][j];
				left[i][j] = (left[i][j] ^ product[j][i] >> 6) & 4095;
			}
	}
	return sum;
}

/* ---- scanner: a switch in a loop, byte by byte ---- */

enum kind { BLANK, NAME, NUMBER, FRACTION, TEXT, ESCAPE, REMARK, SIGN, KINDS };

#define LETTERS 3600

static u8 source[LETTERS + 1];

static FRAME void compose(struct dice *dice)
{
	static const u8 alphabet[64] = "abcxyz019 abcxyz_42. efghij\"77; +-*/(x)=\n"
				       "k l\\mn 35 op\"q# rs 8.5\n";

	for (int i = 0; i < LETTERS; i++)
		source[i] = alphabet[roll(dice) >> 58];
	source[LETTERS] = 0;
}

static inline int is_name(u8 c)
{
	return (u8)((c | 32) - 'a') < 26 || c == '_';
}

static inline int is_digit(u8 c)
{
	return (u8)(c - '0') < 10;
}

/* What a fresh token that begins with this letter is. */
static inline enum kind begin(u8 c)
{
	if (is_name(c))
		return NAME;
	if (is_digit(c))
		return NUMBER;
	switch (c) {
	case '"':
		return TEXT;
	case '#':
		return REMARK;
	case '.':
		return FRACTION;
	case ' ':
	case '\n':
		return BLANK;
	default:
		return SIGN;
	}
}

static FRAME u64 scan(const u8 *at, u32 *counts)
{
	enum kind kind = BLANK;
	u64 sum = 0;

	for (; *at; at++) {
		enum kind next = kind;

		switch (kind) {
		case NAME:
			if (!is_name(*at) && !is_digit(*at))
				next = begin(*at);
			break;
		case NUMBER:
			if (*at == '.')
				next = FRACTION;
			else if (!is_digit(*at))
				next = begin(*at);
			break;
		case FRACTION:
			if (!is_digit(*at))
				next = begin(*at);
			break;
		case TEXT:
			if (*at == '\\')
				next = ESCAPE;
			else if (*at == '"')
				next = SIGN;
			break;
		case ESCAPE:
			next = TEXT;
			break;
		case REMARK:
			if (*at == '\n')
				next = BLANK;
			break;
		default:
			next = begin(*at);
		}
		if (next != kind)
			counts[kind]++;
		sum = sum * 7 + next;
		kind = next;
	}
	return sum;
}

static FRAME u64 scanner(struct dice *dice)
{
	u32 counts[KINDS] = { 0 };
	u64 sum = 0;

	compose(dice);
	for (int pass = 0; pass < 6; pass++)
		sum += scan(source + pass, counts);
	for (int kind = 0; kind < KINDS; kind++)
		sum = sum * 11 + counts[kind];
	return sum;
}

/* ---- crc: shifts, and a value that the next step waits for ---- */

static FRAME u16 crc16(u16 crc, const u8 *bytes, u64 length)
{
	for (u64 i = 0; i < length; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xa001 : crc >> 1;
	}
	return crc;
}

static u64 to_number(const char *text)
{
	u64 number = 0;

	while (is_digit(*text))
		number = number * 10 + *text++ - '0';
	return number;
}

int main(int argc, char **argv)
{
	u64 rounds = argc > 1 ? to_number(argv[1]) : ROUNDS;
	u64 chain = 0, grid = 0, token = 0;
	struct dice dice = { 2026 };
	u16 crc = 0;

	for (u64 i = 0; i < rounds; i++) {
		chain = mix(chain + chains(&dice));
		grid = mix(grid + grids(&dice));
		token = mix(token + scanner(&dice));
		crc = crc16(crc, source, LETTERS);
	}
	report("rounds", rounds);
	report("chains", chain);
	report("grids", grid);
	report("scanner", token);
	report("crc", crc);
	return 0;
}
