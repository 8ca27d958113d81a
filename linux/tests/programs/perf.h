/* What programs that open events of perf have in common. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
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

enum { HW, SW };
enum { CPU_CLOCK, TASK_CLOCK, PAGE_FAULTS, SWITCHES, MIGRATIONS, MINOR, MAJOR, ALIGNMENT, EMULATION, DUMMY };
enum { IP = 1, TID = 2, TIME = 4, ADDR = 8, READ = 16, CHAIN = 32, ID = 64, CPU = 128, PERIOD = 256 };
enum { REGS_USER = 1 << 12, STACK_USER = 1 << 13, REGS_INTR = 1 << 18 };
enum { DISABLED = 1, INHERIT = 2, EXCLUDE_KERNEL = 32 };
#define ALL 0xffff01ffull
#define PAGE 8192
/* Alpha's. */
enum { ENABLE = 0x20002400, DISABLE, REFRESH, RESET };
#define SET_PERIOD 0x80082404
#define SET_OUTPUT 0x20002405
#define GET_ID 0x40082407
#define PAUSE 0x80042409

static struct attr attr(int type, uint64_t config, uint64_t period)
{
	struct attr a = { .type = type, .size = sizeof a, .config = config, .period = period,
		.flags = DISABLED };

	return a;
}

static int event(struct attr *a, int pid, int group)
{
	int fd = syscall(493, a, pid, -1, group, 0);

	if (fd < 0)
		perror("perf_event_open"), exit(1);
	return fd;
}

static char *ring(int fd, int pages)
{
	char *at = mmap(0, (1 + pages) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		perror("mmap"), exit(1);
	return at;
}

#define HEAD(r) (*(volatile uint64_t *)((r) + 1024))
#define TAIL(r) (*(volatile uint64_t *)((r) + 1032))

/* Takes the next record, into words; its length in words, or 0. */
static int next(char *r, int pages, uint64_t *words)
{
	uint64_t tail = TAIL(r), size = pages * PAGE;

	if (tail == HEAD(r))
		return 0;
	__sync_synchronize();
	words[0] = *(uint64_t *)(r + PAGE + tail % size);
	int n = (words[0] >> 48) / 8;
	for (int i = 0; i < n; i++)
		words[i] = *(uint64_t *)(r + PAGE + (tail + 8 * i) % size);
	__sync_synchronize();
	TAIL(r) = tail + 8 * n;
	return n;
}

static uint64_t count(int fd)
{
	uint64_t n = 0;

	if (read(fd, &n, 8) != 8)
		perror("read");
	return n;
}
