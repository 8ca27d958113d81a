/* What perf_event_open refuses: a line a fact, by the errno's name. Arguments: none. */

#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* struct perf_event_attr of Linux 7.2, which headers of older ones lack the end of. */
struct attr {
	uint32_t type, size;
	uint64_t config, period, sample_type, read_format, flags;
	uint32_t wakeup, bp_type;
	uint64_t config1, config2, branch, regs_user;
	uint32_t stack;
	int32_t clockid;
	uint64_t regs_intr;
	uint32_t aux_watermark;
	uint16_t max_stack, reserved2;
	uint32_t aux_sample, aux_action;
	uint64_t sig_data, config3, config4;
};

enum { HW, SW, TRACE, CACHE, RAW };
enum { REGS_USER = 1 << 12, STACK_USER = 1 << 13, REGS_INTR = 1 << 18 };
#define BIT(n) (1ull << (n))
#define EXCLUDE_KERNEL BIT(5)

static const char *name(int e)
{
	static char other[16];

	switch (e) {
	case 0: return "ok";
	case EINVAL: return "EINVAL";
	case ENOENT: return "ENOENT";
	case EOPNOTSUPP: return "EOPNOTSUPP";
	case EACCES: return "EACCES";
	case EPERM: return "EPERM";
	case ESRCH: return "ESRCH";
	case EBADF: return "EBADF";
	case EFAULT: return "EFAULT";
	case E2BIG: return "E2BIG";
	case ENOSYS: return "ENOSYS";
	}
	sprintf(other, "%d", e);
	return other;
}

static struct attr fresh(void)
{
	struct attr a = { .type = SW, .size = sizeof a, .period = 1000000 };

	return a;
}

static int open_at(void *a, int pid, int cpu, int group, unsigned long flags)
{
	long fd = syscall(493, a, pid, cpu, group, flags);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int try(struct attr a)
{
	return open_at(&a, 0, -1, -1, 0);
}

/* The bits, tried one by one, that give this result. */
static uint64_t bits_with(int result, int from, int to, struct attr (*edit)(int))
{
	uint64_t set = 0;

	for (int i = from; i < to; i++)
		if (try(edit(i)) == result)
			set |= BIT(i);
	return set;
}

#define EDIT(name, what) \
	static struct attr name(int i) { struct attr a = fresh(); what; return a; }
EDIT(user_bit, (a.sample_type = REGS_USER, a.regs_user = BIT(i)))
EDIT(intr_bit, (a.sample_type = REGS_INTR, a.regs_intr = BIT(i)))
EDIT(type_bit, (a.sample_type = BIT(i), a.regs_user = a.regs_intr = 1))
EDIT(flag_bit, a.flags = BIT(i))
EDIT(format_bit, a.read_format = BIT(i))
EDIT(soft, a.config = i)
EDIT(soft_user, (a.config = i, a.flags = EXCLUDE_KERNEL))
EDIT(soft_count, (a.config = i, a.period = 0))
EDIT(soft_freq, (a.config = i, a.period = 1000, a.flags = BIT(10)))

#define SAY(what, edit) do { struct attr a = fresh(); edit; \
	printf("%s: %s\n", what, name(try(a))); } while (0)

static void masks(void)
{
	static const uint64_t tried[] = { 0, ~0ull, 0xffffffff, BIT(32), 0xc0000000, 0x1ff, 1, BIT(31), 0xffff01ff };

	printf("E02 user %#llx of which EINVAL %#llx\n", (long long)bits_with(0, 0, 64, user_bit),
	       (long long)bits_with(EINVAL, 0, 64, user_bit));
	printf("E02 intr %#llx of which EINVAL %#llx\n", (long long)bits_with(0, 0, 64, intr_bit),
	       (long long)bits_with(EINVAL, 0, 64, intr_bit));
	for (unsigned i = 0; i < sizeof tried / sizeof *tried; i++) {
		struct attr u = fresh(), n = fresh();

		u.sample_type = REGS_USER, u.regs_user = tried[i];
		n.sample_type = REGS_INTR, n.regs_intr = tried[i];
		printf("E03 %#llx: %s", (long long)tried[i], name(try(u)));
		printf(" %s\n", name(try(n)));
	}
	SAY("E06", a.regs_user = a.regs_intr = ~0ull);
}

static void stacks(void)
{
	static const unsigned sizes[] = { 0, 8, 16, 4096, 8192, 16384, 65520, 65528, 7, 65535, 65536 };

	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct attr a = fresh();

		a.sample_type = STACK_USER, a.stack = sizes[i];
		printf("E08 %u: %s\n", sizes[i], name(try(a)));
	}
}

static void fields(void)
{
	printf("E11 types %#llx EINVAL %#llx\n", (long long)bits_with(0, 0, 40, type_bit),
	       (long long)bits_with(EINVAL, 0, 40, type_bit));
	SAY("E12 weights", a.sample_type = BIT(14) | BIT(24));
	SAY("E12 branches", (a.sample_type = BIT(11), a.branch = 1 | BIT(3)));
	printf("E14 software %#llx %#llx %#llx %#llx\n", (long long)bits_with(0, 0, 20, soft),
	       (long long)bits_with(0, 0, 20, soft_user), (long long)bits_with(0, 0, 20, soft_count),
	       (long long)bits_with(0, 0, 20, soft_freq));
	SAY("E14 12", a.config = 12);
	SAY("E14 1<<32", a.config = BIT(32));
	printf("E23 flags %#llx EINVAL %#llx\n", (long long)bits_with(0, 0, 64, flag_bit),
	       (long long)bits_with(EINVAL, 0, 64, flag_bit));
	SAY("E23 aux_output", a.flags = BIT(31));
	for (uint64_t p = 0; p < 4; p++) {
		SAY("E25 precise", a.flags = p << 15);
	}
	printf("E26 formats %#llx EINVAL %#llx\n", (long long)bits_with(0, 0, 64, format_bit),
	       (long long)bits_with(EINVAL, 0, 64, format_bit));
	SAY("E28 freq 100000", (a.flags = BIT(10), a.period = 100000));
	SAY("E28 freq 100001", (a.flags = BIT(10), a.period = 100001));
	SAY("E28 freq 0", (a.flags = BIT(10), a.period = 0));
	SAY("E28 1<<63", a.period = BIT(63));
	SAY("E28 ~0", a.period = ~0ull);
	SAY("E28 1<<62", a.period = BIT(62));
	SAY("E29 reserved_2", a.reserved2 = 1);
	SAY("E29 reserved_3", a.aux_action = 2);
	SAY("E29 aux_sample_size", a.aux_sample = 8);
	SAY("E29 aux_start_paused", a.aux_action = 1);
	SAY("E29 others", (a.config1 = a.config2 = a.config3 = 1, a.bp_type = 1, a.sig_data = 1,
	    a.aux_watermark = 1, a.wakeup = 1000000, a.branch = 1));
}

static void arguments(void)
{
	struct attr a = fresh(), b;
	int child = fork();
	char *page = calloc(1, 16384);

	if (child == 0)
		_exit(0);
	waitpid(child, 0, 0);
	printf("E15 0,0: %s\n", name(open_at(&a, 0, 0, -1, 0)));
	printf("E15 -1,0: %s\n", name(open_at(&a, -1, 0, -1, 0)));
	printf("E15 -1,-1: %s\n", name(open_at(&a, -1, -1, -1, 0)));
	printf("E15 -2,-1: %s\n", name(open_at(&a, -2, -1, -1, 0)));
	printf("E15 dead: %s\n", name(open_at(&a, child, -1, -1, 0)));
	printf("E15 own: %s\n", name(open_at(&a, getpid(), -1, -1, 0)));
	printf("E15 cpu 100000: %s\n", name(open_at(&a, 0, 100000, -1, 0)));
	printf("E15 cpu -2: %s\n", name(open_at(&a, 0, -2, -1, 0)));
	for (int i = 0; i < 6; i++)
		printf("E17 %d: %s\n", 1 << i, name(open_at(&a, 0, -1, -1, 1 << i)));
	printf("E17 1<<32: %s\n", name(open_at(&a, 0, -1, -1, BIT(32))));
	printf("E18 0: %s\n", name(open_at(0, 0, -1, -1, 0)));
	printf("E18 kernel: %s\n", name(open_at((void *)0xfffffc0000310000, 0, -1, -1, 0)));
	for (int i = 0; i < 6; i++) {
		static const unsigned sizes[] = { 0, 64, 65, 140, 4096, 8192 };

		memcpy(page, &a, sizeof a);
		memcpy(page + 4, &sizes[i], 4);
		printf("E19 %u: %s\n", sizes[i], name(open_at(page, 0, -1, -1, 0)));
	}
	for (int n = 72; n <= 152; n += 8) {
		memcpy(page + 4, &n, 4);
		if (open_at(page, 0, -1, -1, 0))
			printf("E19 %d: %s\n", n, name(errno));
	}
	for (int i = 0; i < 4; i++) {
		static const unsigned sizes[] = { 1, 63, 8193, 65536 };
		unsigned after;

		memcpy(page + 4, &sizes[i], 4);
		printf("E20 %u: %s", sizes[i], name(open_at(page, 0, -1, -1, 0)));
		memcpy(&after, page + 4, 4);
		printf(" %u\n", after);
	}
	page[4] = 152, page[5] = page[6] = page[7] = 0, page[151] = 1;
	printf("E20 tail: %s\n", name(open_at(page, 0, -1, -1, 0)));
	printf("group 0: %s\n", name(open_at(&a, 0, -1, 0, 0)));
	printf("group 99: %s\n", name(open_at(&a, 0, -1, 99, 0)));
	b = fresh();
	b.flags = 0;
	int leader = syscall(493, &b, 0, -1, -1, 0);
	int member = syscall(493, &b, 0, -1, leader, 0);

	printf("E33 member: %s\n", member < 0 ? name(errno) : "ok");
	b.flags = BIT(1);
	printf("E33 inherit: %s\n", name(open_at(&b, 0, -1, leader, 0)));
	b.flags = BIT(3);
	printf("E33 exclusive: %s\n", name(open_at(&b, 0, -1, leader, 0)));
	b.flags = BIT(2);
	printf("E33 pinned: %s\n", name(open_at(&b, 0, -1, leader, 0)));
	b.flags = 0;
	printf("E33 cpu: %s\n", name(open_at(&b, 0, 0, leader, 0)));
	child = fork();
	if (child == 0)
		_exit(pause());
	printf("E33 pid: %s\n", name(open_at(&b, child, -1, leader, 0)));
	kill(child, 9);
	waitpid(child, 0, 0);
	printf("E33 member of a member: %s\n", name(open_at(&b, 0, -1, member, 0)));
}

static void hardware(void)
{
	printf("E30 hw:");
	for (int i = 0; i < 11; i++) {
		struct attr a = fresh();

		a.type = HW, a.config = i;
		printf(" %s", name(try(a)));
	}
	printf("\nE30 raw:");
	for (int i = 0; i < 7; i++) {
		struct attr a = fresh();

		a.type = RAW, a.config = i;
		printf(" %s", name(try(a)));
	}
	printf("\nE30 exclude:");
	for (int i = 4; i < 8; i++) {
		struct attr a = fresh();

		a.type = HW, a.flags = BIT(i);
		printf(" %s", name(try(a)));
	}
	printf("\n");
	SAY("E30 cache", (a.type = CACHE, a.config = 0));
	SAY("E25 cycles precise", (a.type = HW, a.flags = 3ull << 15));
	SAY("type 1000", a.type = 1000);
}

/* As a user without privileges. */
static void user(void)
{
	struct attr a = fresh();

	SAY("U01", a.config = 0);
	SAY("U01 config 12", a.config = 12);
	SAY("U01 type 1000", a.type = 1000);
	SAY("U01 excluded", a.flags = EXCLUDE_KERNEL);
	SAY("U02 callchain", (a.flags = EXCLUDE_KERNEL, a.sample_type = BIT(5)));
	SAY("U02 callchain excluded", (a.flags = EXCLUDE_KERNEL | BIT(21), a.sample_type = BIT(5)));
	a.flags = EXCLUDE_KERNEL;
	printf("U04 all: %s\n", name(open_at(&a, -1, 0, -1, 0)));
	printf("U04 init: %s\n", name(open_at(&a, 1, -1, -1, 0)));
	printf("U04 own: %s\n", name(open_at(&a, getpid(), -1, -1, 0)));
	SAY("U05", (a.type = HW, a.flags = EXCLUDE_KERNEL));
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "hardware")) {
		hardware();
	} else if (argc > 1 && !strcmp(argv[1], "user")) {
		if (geteuid() == 0 && setresuid(1000, 1000, 1000))
			return 1;
		user();
	} else {
		printf("E01 sizes %zu %d\n", sizeof(struct attr), getpagesize());
		masks();
		stacks();
		fields();
		arguments();
	}
	return 0;
}
