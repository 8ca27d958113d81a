/* perf events on oneself: counts, samples and what they hold. Prints what is the same each time. */

#include "perf.h"

/* Loops, with known values in all registers that a sample can have: 6 instructions a round. */
extern char loop_start[], loop_end[];
static void loop(uint64_t rounds, uint64_t *sp)
{
	register uint64_t n __asm__("$9") = rounds;
	register uint64_t *out __asm__("$10") = sp;

	__asm__ volatile(
		"stq $30,0(%1)\n\t"
		"lda $0,100($31)\n\tlda $1,101($31)\n\tlda $2,102($31)\n\tlda $3,103($31)\n\t"
		"lda $4,104($31)\n\tlda $5,105($31)\n\tlda $6,106($31)\n\tlda $7,107($31)\n\t"
		"lda $8,108($31)\n\tlda $16,116($31)\n\tlda $17,117($31)\n\tlda $18,118($31)\n\t"
		"lda $19,119($31)\n\tlda $20,120($31)\n\tlda $21,121($31)\n\tlda $22,122($31)\n\t"
		"lda $23,123($31)\n\tlda $24,124($31)\n\tlda $25,125($31)\n\tmov $26,$12\n\t"
		"mov $29,$13\n\tlda $26,126($31)\n\tlda $27,127($31)\n\tlda $28,128($31)\n\tlda $29,129($31)\n"
		".globl loop_start\nloop_start:\n\t"
		"nop\n\tnop\n\tnop\n\tnop\n\tsubq %0,1,%0\n\tbne %0,loop_start\n"
		".globl loop_end\nloop_end:\n\t"
		"mov $12,$26\n\tmov $13,$29"
		: "+r"(n) : "r"(out)
		: "$0", "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$12", "$13", "$16", "$17",
		  "$18", "$19", "$20", "$21", "$22", "$23", "$24", "$25", "$27", "$28", "memory");
}

/* Checks 25 registers of a sample in the loop. */
static int wrong_regs(uint64_t *regs, uint64_t sp)
{
	int wrong = 0;

	for (int i = 0; i < 25; i++) {
		int r = i < 9 ? i : i + 7;
		uint64_t want = r == 30 ? sp : 100 + r;

		if (r == 31)
			wrong += regs[i] < (uint64_t)loop_start || regs[i] >= (uint64_t)loop_end;
		else
			wrong += regs[i] != want;
	}
	return wrong;
}

static void counts(void)
{
	struct attr a = attr(HW, 1, 0);
	int fd = event(&a, 0, -1);
	uint64_t sp, one, two;

	printf("never enabled: %lu\n", count(fd));
	ioctl(fd, ENABLE, 0);
	loop(1000, &sp);
	ioctl(fd, DISABLE, 0);
	one = count(fd);
	ioctl(fd, RESET, 0);
	printf("reset: %lu\n", count(fd));
	ioctl(fd, ENABLE, 0);
	loop(3000, &sp);
	ioctl(fd, DISABLE, 0);
	two = count(fd);
	printf("2000 rounds more: %lu instructions more\n", two - one);
	loop(1000, &sp);
	printf("disabled: %s\n", count(fd) == two ? "same" : "counts on");
	close(fd);
}

/* R01, R04: samples in a loop by `config`, `period` apart. */
static void samples(const char *what, int type, int config, uint64_t period, uint64_t rounds, int least)
{
	struct attr a = attr(type, config, period);
	uint64_t w[1024], sp, previous = 0;
	int n, all = 0, inside = 0, wrong = 0, differ = 0, misc = 0;

	a.sample_type = IP | TID | TIME | PERIOD | REGS_USER | REGS_INTR;
	a.regs_user = a.regs_intr = ALL;
	int fd = event(&a, 0, -1);
	char *r = ring(fd, 64);
	ioctl(fd, ENABLE, 0);
	loop(rounds, &sp);
	ioctl(fd, DISABLE, 0);
	while ((n = next(r, 64, w))) {
		if ((uint32_t)w[0] != 9)
			continue;
		all++;
		uint64_t *user = w + 6, *intr = user + 26;
		misc += (w[0] >> 32 & 7) != 2;
		if (w[1] < (uint64_t)loop_start || w[1] >= (uint64_t)loop_end)
			continue;
		inside++;
		wrong += n != 5 + 26 + 26 || w[5] != 2 || user[25] != 2;
		wrong += w[1] != user[24] || wrong_regs(user, sp);
		wrong += (uint32_t)w[2] != getpid() || w[2] >> 32 != getpid();
		wrong += w[3] < previous || w[4] != period;
		previous = w[3];
		differ += memcmp(user, intr + 0, 25 * 8) != 0;
	}
	printf("%s: %s, wrong %d, differ %d, not user %d\n", what,
	       inside >= least && all - inside < 10 ? "enough" : "too few", wrong, differ,
	       misc > 2 ? misc : 0);
	if (inside < least || all - inside >= 10)
		printf("%d samples, %d inside\n", all, inside);
	munmap(r, 65 * PAGE);
	close(fd);
}

/* R16, R17: a switch of tasks in nanosleep. */
static void switches(int exact)
{
	struct attr a = attr(SW, SWITCHES, 1);
	struct timespec t = { 0, 1000000 };
	uint64_t w[1024];
	int n;

	a.sample_type = IP | REGS_USER | STACK_USER | REGS_INTR;
	a.regs_user = ALL;
	a.regs_intr = 0xc0000000;
	a.stack = 64;
	int fd = event(&a, 0, -1);
	char *r = ring(fd, 8);
	ioctl(fd, ENABLE, 0);
	syscall(SYS_nanosleep, &t, 0);
	ioctl(fd, DISABLE, 0);
	printf("switches: %lu\n", count(fd));
	while ((n = next(r, 8, w))) {
		uint64_t *user = w + 3, *stack = user + 25, *intr = stack + 1 + 8 + 1;

		printf("switch: misc %d r0 %ld r1 %ld r2 %ld r16 %s sp %s pc %s stack %ld %s %ld, abi %ld ",
		       (int)(w[0] >> 32 & 7), user[0], user[1], user[2],
		       user[9] == (uint64_t)&t ? "argument" : "?",
		       user[23] / PAGE == (uint64_t)__builtin_frame_address(0) / PAGE ? "near" : "?",
		       ((uint32_t *)user[24])[-1] == 0x83 ? "after callsys" : "?",
		       stack[0], memcmp(stack + 1, (void *)(user[23] + 32), 32) ? "" : "", stack[9], intr[0]);
		if (exact)
			printf("ip %#lx sp %#lx pc %#lx\n", w[1], intr[1], intr[2]);
		else
			printf("ip %s sp %s pc %s\n", w[1] == intr[2] ? "pc" : "?",
			       intr[1] >> 40 == 0xfffffc ? "kernel" : "?",
			       intr[2] >> 40 == 0xfffffc ? "kernel" : "?");
	}
	close(fd);
	a.flags |= EXCLUDE_KERNEL;
	fd = event(&a, 0, -1);
	r = ring(fd, 8);
	ioctl(fd, ENABLE, 0);
	syscall(SYS_nanosleep, &t, 0);
	ioctl(fd, DISABLE, 0);
	printf("switches:u: %lu, head %lu\n", count(fd), HEAD(r));
	close(fd);
}

/* R24: accesses that aren't aligned. */
static void alignment(void)
{
	struct attr a = attr(SW, ALIGNMENT, 1);
	char bytes[64];
	uint64_t w[1024];
	int n;

	a.sample_type = IP | ADDR;
	int fd = event(&a, 0, -1);
	char *r = ring(fd, 8);
	ioctl(fd, ENABLE, 0);
	__asm__ volatile("ldq $1,1(%0)\n\tstq $1,3(%0)\n\tldl $1,2(%0)" :: "r"(((uint64_t)bytes + 7) & ~7ul) : "$1", "memory");
	ioctl(fd, DISABLE, 0);
	printf("alignment faults: %lu\n", count(fd));
	while ((n = next(r, 8, w)))
		printf("at %ld of 8, opcode %#x\n", w[2] & 7, *(uint32_t *)w[1] >> 26);
	close(fd);
}

/* B03, B09, B14, B15, B16. */
static void descriptors(void)
{
	struct attr a = attr(SW, CPU_CLOCK, 1000000);
	uint64_t buf[8];
	char link[64] = "";
	int fd = event(&a, 0, -1);
	struct pollfd p = { fd, POLLIN };

	printf("poll without ring: %d", poll(&p, 1, 0));
	printf(" %#x\n", p.revents);
	printf("pages 1 %d", mmap(0, PAGE, 1, MAP_PRIVATE, fd, 0) == MAP_FAILED ? errno : 0);
	for (int i = 0; i < 3; i++) {
		static const int pages[] = { 4, 6, 66 };

		printf(", %d %d", pages[i], mmap(0, pages[i] * PAGE, 3, MAP_SHARED, fd, 0) == MAP_FAILED ? errno : 0);
	}
	printf(", offset %d\n", mmap(0, 2 * PAGE, 3, MAP_SHARED, fd, PAGE) == MAP_FAILED ? errno : 0);
	char *r = ring(fd, 4);
	printf("page: version %u size %u capabilities %lu offset %lu size %lu\n", *(uint32_t *)r,
	       *(uint32_t *)(r + 72), *(uint64_t *)(r + 40), *(uint64_t *)(r + 1040), *(uint64_t *)(r + 1048));
	printf("again %d, other size %d\n", mmap(0, 5 * PAGE, 3, MAP_SHARED, fd, 0) == MAP_FAILED ? errno : 0,
	       mmap(0, 9 * PAGE, 3, MAP_SHARED, fd, 0) == MAP_FAILED ? errno : 0);
	p.revents = 0;
	printf("poll with ring: %d", poll(&p, 1, 0));
	printf(" %#x\n", p.revents);
	printf("read of 4: %d", (int)read(fd, buf, 4));
	printf(" %s\n", errno == ENOSPC ? "ENOSPC" : strerror(errno));
	printf("lseek: %d", (int)lseek(fd, 0, SEEK_SET));
	printf(" %s\n", errno == ESPIPE ? "ESPIPE" : strerror(errno));
	printf("flags %#x, %#x\n", fcntl(fd, F_GETFL) & 3, fcntl(fd, F_GETFD));
	errno = 0;
	ioctl(fd, 0x2400, 0);
	printf("x86's ENABLE: %d\n", errno == ENOTTY);
	errno = 0;
	ioctl(fd, 0x40047467, buf);
	printf("FIONREAD-like: %d\n", errno == ENOTTY);
	buf[0] = 0;
	printf("period 0: %d\n", ioctl(fd, SET_PERIOD, buf) ? errno == EINVAL : 0);
	printf("period at 8: %d\n", ioctl(fd, SET_PERIOD, (void *)8) ? errno == EFAULT : 0);
	printf("id: %d\n", ioctl(fd, GET_ID, buf));
	printf("id is new: %d\n", buf[0] > 0);
	close(fd);
	a.period = 0;
	fd = event(&a, 0, -1);
	printf("refresh a counter: %d\n", ioctl(fd, REFRESH, 1) ? errno == EINVAL : 0);
	close(fd);
}

static volatile int signals, signal_fd;
static void on_signal(int s, siginfo_t *info, void *context)
{
	signals++;
	signal_fd = info->si_fd;
}

/* Wake-ups: poll, SIGIO, and REFRESH. */
static void wakeups(void)
{
	struct attr a = attr(HW, 1, 1000);
	struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
	uint64_t sp;

	a.sample_type = IP;
	a.wakeup = 1;
	int fd = event(&a, 0, -1);
	char *r = ring(fd, 8);
	struct pollfd p = { fd, POLLIN };
	ioctl(fd, ENABLE, 0);
	loop(200, &sp);
	ioctl(fd, DISABLE, 0);
	printf("poll after samples: %d", poll(&p, 1, 0));
	printf(" %#x, again: %d\n", p.revents, poll(&p, 1, 0));
	sigaction(SIGIO, &act, 0);
	fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK);
	fcntl(fd, F_SETSIG, SIGIO);
	fcntl(fd, F_SETOWN, getpid());
	TAIL(r) = HEAD(r);
	uint64_t before = HEAD(r);
	printf("refresh: %d\n", ioctl(fd, REFRESH, 3));
	loop(10000, &sp);
	printf("samples %lu, signals %s, fd %s\n", (HEAD(r) - before) / 16, signals >= 1 && signals <= 3 ? "some" : "?",
	       signal_fd == fd ? "right" : "?");
	close(fd);
}

/* Threads inherit; a process too, and its counts come back. */
static void children(void)
{
	struct attr a = attr(HW, 1, 0);
	uint64_t sp, n;

	a.flags = INHERIT;
	a.read_format = 0;
	int fd = event(&a, 0, -1);
	int pid = fork();
	if (pid == 0) {
		loop(1000000, &sp);
		_exit(0);
	}
	waitpid(pid, 0, 0);
	n = count(fd);
	printf("a child's instructions: %s\n", n >= 6000000 && n < 6200000 ? "counted" : "?");
	if (!(n >= 6000000 && n < 6200000))
		printf("%lu\n", n);
	close(fd);

	int go[2];
	char c;
	pipe(go);
	pid = fork();
	if (pid == 0) {
		read(go[0], &c, 1);
		loop(1000000, &sp);
		_exit(0);
	}
	a.flags = 0;
	fd = event(&a, pid, -1);
	struct attr s = attr(HW, 1, 100003);
	s.flags = 0;
	s.sample_type = IP | TID | REGS_USER;
	s.regs_user = ALL;
	int sampler = event(&s, pid, -1);
	char *r = ring(sampler, 16);
	struct pollfd p = { sampler, POLLIN };
	write(go[1], "x", 1);
	waitpid(pid, 0, 0);
	n = count(fd);
	printf("another process's instructions: %s\n", n >= 6000000 && n < 6010000 ? "counted" : "?");
	if (!(n >= 6000000 && n < 6010000))
		printf("%lu\n", n);
	uint64_t w[128];
	int inside = 0, all = 0;
	while (next(r, 16, w)) {
		all++;
		inside += w[1] >= (uint64_t)loop_start && w[1] < (uint64_t)loop_end && (uint32_t)w[2] == pid && w[3] == 2 &&
			w[4] == 100 && w[5] == 101;
	}
	printf("its samples: %s\n", inside >= 55 && all - inside < 3 ? "right" : "?");
	if (!(inside >= 55 && all - inside < 3))
		printf("%d of %d\n", inside, all);
	printf("poll after its exit: %d", poll(&p, 1, 0));
	printf(" %#x\n", p.revents);
	close(fd);
	close(sampler);
}

int main(int argc, char **argv)
{
	int exact = argc > 1 && !strcmp(argv[1], "exact");

	setvbuf(stdout, 0, _IOLBF, 0);
	counts();
	samples("instructions", HW, 1, 200003, 8000000, 230);
	samples("cpu-clock", SW, CPU_CLOCK, 50000, 10000000, 30);
	samples("task-clock", SW, TASK_CLOCK, 50000, 10000000, 30);
	switches(exact);
	alignment();
	descriptors();
	wakeups();
	children();
	return 0;
}
