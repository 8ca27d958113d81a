/* perf events: stack copies, rings, groups, periods, exec. Prints what is the same each time. */

#include "perf.h"
#include <setjmp.h>

static volatile unsigned long sum;
static void __attribute__((noinline)) work(long n)
{
	for (long i = 0; i < n; i++)
		sum += i;
}

static uint64_t w[16384];

/* K01, K03, K06, K10: copies of the stack, by size, with and without registers after them. */
static void stacks(void)
{
	static const struct { unsigned bytes; int more; } tried[] = {
		{ 0, 0 }, { 64, 0 }, { 4096, 0 }, { 65528, REGS_USER }, { 65528, REGS_USER | REGS_INTR },
		{ 65320, REGS_USER | REGS_INTR },
	};

	for (unsigned i = 0; i < sizeof tried / sizeof *tried; i++) {
		struct attr a = attr(HW, 1, 50000);
		uint64_t pattern[64];
		int n, good = 0, bad = 0;

		for (int k = 0; k < 64; k++)
			pattern[k] = 0xabc000 + k;
		a.sample_type = IP | STACK_USER | tried[i].more;
		a.regs_user = a.regs_intr = ALL;
		a.stack = tried[i].bytes;
		int fd = event(&a, 0, -1);
		char *r = ring(fd, 64);
		ioctl(fd, ENABLE, 0);
		work(20000);
		ioctl(fd, DISABLE, 0);
		uint64_t size = 0, record = 0;
		while ((n = next(r, 64, w))) {
			uint64_t *s = w + 2 + (tried[i].more & REGS_USER ? 26 : 0);
			uint64_t after = tried[i].more & REGS_INTR ? 26 * 8 : 0;

			if ((uint32_t)w[0] != 9)
				continue;
			size = s[0], record = w[0] >> 48;
			uint64_t dyn = size ? s[1 + size / 8] : 0, want = size + (size ? 16 : 8) + after + (char *)s - (char *)w;
			int found = size < 4096;
			/* What main has on its stack lies in a copy that is long enough. */
			for (unsigned k = 1; k < dyn / 8 && k + 64 < 16384 && !found; k++)
				found = !memcmp(s + k, pattern, sizeof pattern);
			(record == want && dyn <= size && found ? good++ : bad++);
		}
		__asm__ volatile("" :: "r"(pattern) : "memory");
		printf("K stack %u more %#x: size %lu record %lu, %s\n", tried[i].bytes, tried[i].more, size, record,
		       good && !bad ? "right" : "wrong");
		munmap(r, 65 * PAGE);
		close(fd);
	}
}

static int altfd;
static char *altstack;
static void on_alt(int s)
{
	ioctl(altfd, ENABLE, 0);
	work(20000);
	ioctl(altfd, DISABLE, 0);
}

/* K07: on an alternate stack with a guard above it, a copy ends at its end. K08: on a thread's. */
static void *on_thread(void *arg)
{
	struct attr a = attr(HW, 1, 20000);
	uint64_t mark;
	int n, good = 0, bad = 0;

	a.sample_type = TID | REGS_USER | STACK_USER;
	a.regs_user = 1 << 30;
	a.stack = 256;
	int fd = event(&a, 0, -1);
	char *r = ring(fd, 16);
	ioctl(fd, ENABLE, 0);
	work(20000);
	ioctl(fd, DISABLE, 0);
	while ((n = next(r, 16, w))) {
		uint64_t sp = w[3];

		(w[1] >> 32 == syscall(SYS_gettid) && (uint32_t)w[1] == getpid() && w[1] >> 32 != getpid() &&
		 sp < (uint64_t)&mark + 4096 && sp > (uint64_t)&mark - 4096 && w[4] == 256 ? good++ : bad++);
	}
	printf("K08 thread: %s\n", good && !bad ? "right" : "wrong");
	close(fd);
	return 0;
}

static void altstacks(void)
{
	struct attr a = attr(HW, 1, 20000);
	int n, good = 0, bad = 0;
	struct sigaction act = { .sa_handler = on_alt, .sa_flags = SA_ONSTACK };

	altstack = mmap(0, 9 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(altstack + 8 * PAGE, PAGE, PROT_NONE);
	stack_t st = { .ss_sp = altstack, .ss_size = 8 * PAGE };
	sigaltstack(&st, 0);
	sigaction(SIGUSR1, &act, 0);
	a.sample_type = REGS_USER | STACK_USER;
	a.regs_user = 1 << 30;
	a.stack = 32768;
	altfd = event(&a, 0, -1);
	char *r = ring(altfd, 64);
	raise(SIGUSR1);
	while ((n = next(r, 64, w))) {
		uint64_t sp = w[2], size = w[3], dyn = w[4 + size / 8];

		(sp > (uint64_t)altstack && sp < (uint64_t)altstack + 8 * PAGE && size == 32768 &&
		 dyn == (uint64_t)altstack + 8 * PAGE - sp ? good++ : bad++);
	}
	printf("K07 alternate stack: %s\n", good && !bad ? "right" : "wrong");
	close(altfd);
	pthread_t t;
	pthread_create(&t, 0, on_thread, 0);
	pthread_join(t, 0);
}

/* R05, R13, R22: samples by time in system calls. */
static void in_kernel(void)
{
	struct attr a = attr(SW, CPU_CLOCK, 100000);
	static char zeros[1 << 20];
	int n, kernel = 0, user = 0, bad = 0, zero = open("/dev/zero", O_RDONLY);

	a.sample_type = IP | CHAIN | REGS_USER | REGS_INTR;
	a.regs_user = a.regs_intr = ALL;
	int fd = event(&a, 0, -1);
	char *r = ring(fd, 64);
	ioctl(fd, ENABLE, 0);
	for (int i = 0; i < 200; i++)
		read(zero, zeros, sizeof zeros);
	work(200000);
	ioctl(fd, DISABLE, 0);
	while ((n = next(r, 64, w))) {
		uint64_t *chain = w + 2, *regs = chain + 1 + chain[0], *intr = regs + 26;

		if ((w[0] >> 32 & 7) == 2) {
			user++;
			bad += chain[0] != 1 || chain[1] != -512ul || memcmp(regs, intr, 26 * 8);
			continue;
		}
		kernel++;
		bad += (w[0] >> 32 & 7) != 1 || chain[0] != 2 || chain[1] != -128ul || chain[2] != -512ul;
		/* r0 (of read: 3), r1, r2, r16 to r18, pc; sp of the kernel. */
		if (regs[1] == 3)
			bad += regs[2] != 3 || regs[3] != 3 || regs[10] != zero || regs[11] != (uint64_t)zeros ||
			       regs[12] != sizeof zeros || ((uint32_t *)regs[25])[-1] != 0x83 ||
			       intr[24] >> 40 != 0xfffffc || intr[25] != w[1] || w[1] >> 40 != 0xfffffc;
	}
	printf("R22 in system calls: %s, %s\n", kernel && user ? "both" : "one", bad ? "wrong" : "right");
	if (!kernel || !user || bad)
		printf("%d %d %d\n", kernel, user, bad);
	munmap(r, 65 * PAGE);
	close(fd);
}

/* B04, B06, B12, B14: rings that are full, overwritten, paused. */
static void rings(void)
{
	struct attr a = attr(HW, 1, 1000);
	uint64_t values[8], id;
	int n, samples = 0;

	a.sample_type = IP;
	a.read_format = 16;
	a.flags |= 1 << 18;
	a.sample_type |= TID;
	int fd = event(&a, 0, -1);
	char *r = ring(fd, 1);
	ioctl(fd, GET_ID, &id);
	ioctl(fd, ENABLE, 0);
	work(200000);
	ioctl(fd, DISABLE, 0);
	uint64_t head = HEAD(r);
	ioctl(fd, ENABLE, 0);
	work(20000);
	ioctl(fd, DISABLE, 0);
	read(fd, values, sizeof values);
	printf("B04 full: %s, head %s", head > PAGE - 24 && head < PAGE ? "full" : "?", HEAD(r) == head ? "stays" : "moves");
	while ((n = next(r, 1, w)))
		samples++;
	ioctl(fd, ENABLE, 0);
	work(1000);
	ioctl(fd, DISABLE, 0);
	n = next(r, 1, w);
	printf(", then type %d of %d bytes id %s, lost %s", (int)w[0], n * 8, w[1] == id ? "right" : "?",
	       w[2] == values[1] ? "as read" : "?");
	while ((n = next(r, 1, w)))
		samples++;
	uint64_t all[2];
	read(fd, all, sizeof all);
	printf(", samples and lost %s\n", samples + all[1] == all[0] / 1000 ? "add up" : "don't add up");
	ioctl(fd, PAUSE, 1);
	ioctl(fd, ENABLE, 0);
	work(3000);
	ioctl(fd, DISABLE, 0);
	ioctl(fd, PAUSE, 0);
	read(fd, values, sizeof values);
	ioctl(fd, ENABLE, 0);
	work(1000);
	ioctl(fd, DISABLE, 0);
	n = next(r, 1, w);
	printf("B12 paused: type %d, lost %s\n", (int)w[0], w[2] == values[1] - all[1] && w[2] > 10 ? "all" : "?");
	munmap(r, 2 * PAGE);
	close(fd);

	for (int back = 0; back < 2; back++) {
		a.flags = DISABLED | (back ? 1 << 27 : 0);
		a.sample_type = IP | TID;
		fd = event(&a, 0, -1);
		r = mmap(0, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
		ioctl(fd, ENABLE, 0);
		work(200000);
		ioctl(fd, DISABLE, 0);
		read(fd, values, sizeof values);
		int64_t head = HEAD(r);
		printf("B06 overwritten: head %s, lost %lu", head == (int64_t)(values[0] / 1000 * 24) * (back ? -1 : 1) ?
		       "runs on" : "?", values[1]);
		printf(", newest %s\n", !back || *(uint32_t *)(r + PAGE + (head & (PAGE - 1))) == 9 ? "there" : "?");
		munmap(r, 2 * PAGE);
		close(fd);
	}
}

/* B24, C13: a group's values in samples and reads. */
static void groups(void)
{
	struct attr a = attr(HW, 1, 10000), b = attr(HW, 0, 0);
	uint64_t values[16], ids[2];
	int n, good = 0, bad = 0;

	a.sample_type = READ;
	a.read_format = b.read_format = 1 | 2 | 4 | 8;
	b.flags = 0;
	int leader = event(&a, 0, -1), member = event(&b, 0, leader);
	char *r = ring(leader, 8);
	ioctl(leader, GET_ID, &ids[0]);
	ioctl(member, GET_ID, &ids[1]);
	ioctl(leader, ENABLE, 0);
	work(20000);
	ioctl(leader, DISABLE, 0);
	while ((n = next(r, 8, w)))
		(n == 8 && w[1] == 2 && w[4] % 10000 == 0 && w[5] == ids[0] && w[4] == w[6] && w[7] == ids[1] ? good++ : bad++);
	printf("B24 group samples: %s, ids %s\n", good && !bad ? "right" : "wrong", ids[1] == ids[0] + 1 ? "follow" : "?");
	if (bad)
		printf("%d: %lx %lx %lx %lx %lx %lx %lx\n", n, w[1], w[2], w[3], w[4], w[5], w[6], w[7]);
	n = read(member, values, sizeof values);
	printf("B14 group read: %d bytes, nr %lu, %s\n", n, values[0],
	       values[3] == values[5] && values[4] == ids[0] && values[6] == ids[1] && values[1] == values[2] ? "right" : "wrong");
	ioctl(leader, RESET, 1);
	read(leader, values, sizeof values);
	printf("reset: %lu %lu\n", values[3], values[5]);
	close(member);
	close(leader);
}

/* C03: a frequency of a clock is a period; C05: software events are samples each. */
static void periods(void)
{
	struct attr a = attr(SW, CPU_CLOCK, 4000);
	int n, good = 0, bad = 0;

	a.flags |= 1 << 10;
	a.sample_type = PERIOD;
	int fd = event(&a, 0, -1);
	char *r = ring(fd, 8);
	ioctl(fd, ENABLE, 0);
	work(10000000);
	ioctl(fd, DISABLE, 0);
	while ((n = next(r, 8, w)))
		(w[1] == 250000 ? good++ : bad++);
	printf("C03 frequency: %s\n", good && !bad ? "250000" : "?");
	close(fd);
	struct attr s = attr(SW, SWITCHES, 3);
	struct timespec t = { 0, 100000 };
	s.sample_type = PERIOD;
	fd = event(&s, 0, -1);
	r = ring(fd, 8);
	ioctl(fd, ENABLE, 0);
	for (int i = 0; i < 7; i++)
		syscall(SYS_nanosleep, &t, 0);
	ioctl(fd, DISABLE, 0);
	good = 0;
	while ((n = next(r, 8, w)))
		good += w[1] == 1;
	printf("C05 each: %lu %s\n", count(fd) - good, good >= 7 ? "samples" : "?");
	close(fd);
	s.sample_type = IP;
	fd = event(&s, 0, -1);
	r = ring(fd, 8);
	ioctl(fd, ENABLE, 0);
	for (int i = 0; i < 7; i++)
		syscall(SYS_nanosleep, &t, 0);
	ioctl(fd, DISABLE, 0);
	good = 0;
	while ((n = next(r, 8, w)))
		good++;
	printf("every third: %s\n", good == count(fd) / 3 ? "right" : "wrong");
	close(fd);
	/* C09: in the kernel alone, and without it. */
	for (int i = 4; i < 6; i++) {
		struct attr c = attr(SW, SWITCHES, 0);

		c.flags |= 1 << i;
		fd = event(&c, 0, -1);
		ioctl(fd, ENABLE, 0);
		syscall(SYS_nanosleep, &t, 0);
		ioctl(fd, DISABLE, 0);
		printf("C09 %s: %s\n", i == 4 ? "exclude_user" : "exclude_kernel", count(fd) ? "counts" : "0");
		close(fd);
	}
}

/* B19, B21, B22: a child that waits, executes a program, ends. */
static void execs(const char *self)
{
	struct attr a = attr(HW, 1, 100003);
	int go[2], n;
	char c;

	pipe(go);
	int pid = fork();
	if (pid == 0) {
		read(go[0], &c, 1);
		execl(self, self, "child", (char *)0);
		_exit(9);
	}
	a.flags |= 1 << 8 | 1 << 9 | 1 << 12 | 1 << 13 | 1 << 17 | 1 << 18 | 1 << 23 | 1 << 24;
	a.sample_type = IP | TID;
	int fd = event(&a, pid, -1);
	char *r = ring(fd, 64);
	write(go[1], "x", 1);
	waitpid(pid, 0, 0);
	int first = 0, comm_exec = 0, maps = 0, text = 0, samples = 0, others = 0, last = 0, mine = 1;
	while ((n = next(r, 64, w))) {
		int type = (uint32_t)w[0];

		first = first ? first : type;
		if (type == 3)
			comm_exec += (w[0] >> 32 & 0x2000) != 0 && strstr((char *)(w + 2), "perfmore") != 0;
		else if (type == 10) {
			maps++;
			uint32_t *prot = (uint32_t *)(w + 8);
			text += prot[0] == 5 && prot[1] == 2 && strstr((char *)(w + 9), "perfmore") != 0;
		} else if (type == 9) {
			samples++;
			mine &= (uint32_t)w[2] == pid;
		} else
			others++;
		last = type;
	}
	printf("B22 exec: first %d, names %d, text %d, maps %s, samples %s of %s, last %d\n", first, comm_exec, text,
	       maps > 4 ? "more" : "?", samples > 20 ? "some" : "?", mine ? "the child" : "?", last);
	printf("B21 exit: pid %s ppid %s\n", (uint32_t)w[1] == pid ? "right" : "?", w[1] >> 32 == getpid() ? "right" : "?");
	close(fd);

	struct attr b = attr(HW, 1, 100003);
	b.flags = INHERIT | 1 << 13 | 1 << 18;
	b.sample_type = IP | TID | ID;
	/* With inherit a ring is a CPU's: the thread stays on one. */
	cpu_set_t one;
	CPU_ZERO(&one);
	int cpu = sched_getcpu();
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof one, &one);
	fd = syscall(493, &b, 0, cpu, -1, 0);
	r = ring(fd, 64);
	uint64_t id;
	ioctl(fd, GET_ID, &id);
	pid = fork();
	if (pid == 0) {
		work(1000000);
		_exit(0);
	}
	waitpid(pid, 0, 0);
	int forks = 0, theirs = 0, ids = 0;
	while ((n = next(r, 64, w))) {
		if ((uint32_t)w[0] == 7)
			forks += (uint32_t)w[1] == pid && w[1] >> 32 == getpid();
		if ((uint32_t)w[0] == 9 && (uint32_t)w[2] == pid)
			theirs++, ids += w[3] == id;
	}
	printf("B19 fork: records %d, a child's samples %s, their ids %s\n", forks, theirs > 20 ? "some" : "?",
	       theirs == ids ? "the parent's" : "?");
	close(fd);
}

/* A loop of eight instructions, each executed as often. */
extern char even_start[], even_end[];
static void __attribute__((noinline)) even(uint64_t rounds)
{
	__asm__ volatile(
		".globl even_start\neven_start:\n\t"
		"nop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tsubq %0,1,%0\n\tbne %0,even_start\n"
		".globl even_end\neven_end:\n\t" : "+r"(rounds));
}

/* Samples by time fall on instructions as often as they are executed: chi-squared, seven degrees of
   freedom, which is above 37 once in two hundred thousand times. */
static void spread(void)
{
	struct attr a = attr(SW, TASK_CLOCK, 50000);
	double cells[8] = { 0 }, all = 0, chi = 0;
	int n;

	a.sample_type = IP;
	int fd = event(&a, 0, -1);
	char *r = ring(fd, 16);
	ioctl(fd, ENABLE, 0);
	for (int i = 0; i < 100 && all < 1000; i++) {
		even(2000000);
		while ((n = next(r, 16, w)))
			if (w[1] >= (uint64_t)even_start && w[1] < (uint64_t)even_end)
				cells[(w[1] - (uint64_t)even_start) / 4]++, all++;
	}
	ioctl(fd, DISABLE, 0);
	for (int i = 0; i < 8; i++)
		chi += (cells[i] - all / 8) * (cells[i] - all / 8) / (all / 8);
	printf("spread over a loop: %s\n", all >= 1000 && chi < 37 ? "even" : "uneven");
	if (!(all >= 1000 && chi < 37))
		printf("%.0f samples, %.1f\n", all, chi);
	close(fd);
}

static volatile int tid, state;
static void *runner(void *arg)
{
	tid = syscall(SYS_gettid);
	while (state == 0)
		;
	even(1000000);
	state = 2;
	while (state == 2)
		;
	return 0;
}

/* What a process counted that a signal ended. */
static void killed(void)
{
	struct attr a = attr(HW, 1, 0);
	int pid = fork(), status;

	if (pid == 0)
		for (;;)
			even(1000000);
	int fd = event(&a, pid, -1);
	ioctl(fd, ENABLE, 0);
	for (int i = 0; i < 1000 && count(fd) <= 100000; i++)
		usleep(1000);
	kill(pid, SIGTERM);
	waitpid(pid, &status, 0);
	printf("killed: signal %d, %s\n", WTERMSIG(status), count(fd) > 100000 ? "counted" : "?");
	close(fd);
}

/* Events on another thread: opened, read and stopped while it runs. */
static void threads(void)
{
	struct attr a = attr(HW, 1, 0), s = attr(HW, 1, 10000);
	pthread_t t;
	int n, theirs = 0, all = 0, inside = 0;

	pthread_create(&t, 0, runner, 0);
	while (!tid)
		;
	int fd = event(&a, tid, -1);
	s.sample_type = IP | TID;
	int sampler = event(&s, tid, -1);
	char *r = ring(sampler, 16);
	ioctl(fd, ENABLE, 0);
	ioctl(sampler, ENABLE, 0);
	uint64_t spun = 0;
	for (int i = 0; i < 1000 && spun <= 1000; i++)
		usleep(1000), spun = count(fd);
	ioctl(fd, RESET, 0);
	state = 1;
	while (state != 2)
		;
	ioctl(sampler, DISABLE, 0);
	uint64_t worked = count(fd), more = 0;
	for (int i = 0; i < 1000 && more <= worked; i++)
		usleep(1000), more = count(fd);
	ioctl(fd, DISABLE, 0);
	uint64_t stopped = count(fd);
	usleep(2000);
	printf("another thread: %s, %s, %s, %s\n", spun > 1000 ? "counts" : "?", worked > 8000000 ? "works" : "?",
	       more > worked ? "goes on" : "?", count(fd) == stopped ? "stops" : "?");
	state = 3;
	pthread_join(t, 0);
	while ((n = next(r, 16, w))) {
		if ((uint32_t)w[0] != 9)
			continue;
		all++;
		theirs += w[2] >> 32 == tid;
		inside += w[1] >= (uint64_t)even_start && w[1] < (uint64_t)even_end;
	}
	printf("its samples: %s, %s\n", all && theirs == all ? "its own" : "?", inside >= 799 && inside <= 800 ? "exact" : "?");
	if (inside < 799 || inside > 800)
		printf("%d of %d\n", inside, all);
	close(fd);
	close(sampler);
}

static sigjmp_buf back;
static void on_segv(int s)
{
	siglongjmp(back, 1);
}

/* R07, R10: a fault that ends in SIGSEGV counts, and its sample has the registers before the load. */
static void faults(void)
{
	struct attr a = attr(SW, PAGE_FAULTS, 1), b = attr(SW, MINOR, 0);
	int n;

	a.sample_type = IP | ADDR | REGS_USER;
	a.regs_user = 1ull << 31 | 7;
	signal(SIGSEGV, on_segv);
	int fd = event(&a, 0, -1), minor = event(&b, 0, -1);
	char *r = ring(fd, 8);
	ioctl(fd, ENABLE, 0);
	ioctl(minor, ENABLE, 0);
	if (!sigsetjmp(back, 1))
		__asm__ volatile("lda $0,100($31)\n\tlda $1,101($31)\n\tldah $2,2($31)\n\tldq $0,24($2)" ::: "$0", "$1", "$2");
	ioctl(fd, DISABLE, 0);
	printf("R10 faults: %lu, minor %lu", count(fd), count(minor));
	while ((n = next(r, 8, w)))
		printf("; R07 misc %d addr %#lx, opcode %#x, regs %lu %lu %#lx, pc %s\n", (int)(w[0] >> 32 & 7), w[2],
		       *(uint32_t *)w[1] >> 26, w[4], w[5], w[6], w[7] == w[1] ? "ip" : "?");
	close(fd);
	close(minor);
}

/* More samples than there may be. */
static void throttle(void)
{
	struct attr a = attr(HW, 1, 100);
	int types[16] = { 0 }, n;

	a.sample_type = IP;
	int fd = event(&a, 0, -1);
	char *r = ring(fd, 64);
	ioctl(fd, ENABLE, 0);
	for (int i = 0; i < 40; i++) {
		work(10000);
		while ((n = next(r, 64, w)))
			types[w[0] & 15]++;
	}
	ioctl(fd, DISABLE, 0);
	printf("throttled: %s, again: %s, lost %d\n", types[5] ? "yes" : "no", types[6] ? "yes" : "no", types[2]);
	if (types[5])
		printf("between two: %s\n", types[9] <= 98 * (types[5] + 1) ? "at most 98" : "more");
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "throttle")) {
		throttle();
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "child")) {
		work(1000000);
		return 0;
	}
	setvbuf(stdout, 0, _IOLBF, 0);
	stacks();
	altstacks();
	in_kernel();
	rings();
	groups();
	periods();
	execs(argv[0]);
	spread();
	threads();
	killed();
	faults();
	return 0;
}
