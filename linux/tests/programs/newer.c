/* Linux's own system calls, those that came later: prints the same on every 64-bit Linux. A line a
   fact. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <dirent.h>
#include <time.h>
#include <unistd.h>

static void say(const char *what, long value)
{
	if (value < 0)
		printf("%s: %s\n", what, strerror(errno));
	else
		printf("%s: %ld\n", what, value);
	fflush(stdout);
}

static void vectors(void)
{
	char a[4] = "", b[4] = "";
	struct iovec in[2] = { { "abc", 3 }, { "def", 3 } }, out[2] = { { a, 2 }, { b, 3 } };
	int fd = memfd_create("file", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	printf("memfd cloexec %d\n", fcntl(fd, F_GETFD));
	say("pwritev", pwritev(fd, in, 2, 4));
	say("pwritev2", pwritev2(fd, in, 2, 2, RWF_DSYNC));
	say("preadv2", preadv2(fd, out, 2, 3, 0));
	printf("%s %s\n", a, b);
	say("preadv2 at the position", preadv2(fd, out, 1, -1, 0));
	say("position", lseek(fd, 0, SEEK_CUR));
	say("preadv2 with flags that aren't", preadv2(fd, out, 2, 3, 0x4000));
	say("preadv2 of too many", preadv2(fd, out, 1025, 3, 0));
	say("fallocate", fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2, 3));
	pread(fd, a, 3, 4);
	printf("%d %c\n", a[0], a[1]);
	say("seal", fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW));
	say("write to sealed", write(fd, "x", 1));
	say("seals", fcntl(fd, F_GET_SEALS));
}

static void pipes(void)
{
	int p[2], q[2], fd = memfd_create("source", 0), to = memfd_create("target", 0);
	char text[8] = "";
	loff_t from = 1, at = 0;
	struct iovec iov = { "vm", 2 };

	pipe(p), pipe(q);
	write(fd, "0123456789", 10);
	say("splice", splice(fd, &from, p[1], NULL, 4, SPLICE_F_MOVE));
	say("offset", from);
	say("tee", tee(p[0], q[1], 3, 0));
	say("read", read(q[0], text, 8));
	puts(text);
	say("vmsplice", vmsplice(p[1], &iov, 1, 0));
	say("read", read(p[0], text, 8));
	puts(text);
	say("splice between files", splice(fd, NULL, to, NULL, 4, 0));
	from = 2;
	say("copy_file_range", copy_file_range(fd, &from, to, &at, 5, 0));
	say("offsets", from * 100 + at);
	say("copy_file_range with flags", copy_file_range(fd, NULL, to, NULL, 5, 1));
}

static void opening(const char *dir)
{
	struct open_how how = { .flags = O_CREAT | O_RDWR | O_CLOEXEC, .mode = 0640 };
	int d = open(dir, O_PATH | O_DIRECTORY);
	int fd = syscall(SYS_openat2, d, "new", &how, sizeof how);
	struct { struct open_how how; long more; } large = { { .flags = O_RDONLY } };
	struct stat st;

	say("openat2", fd >= 0);
	fstat(fd, &st);
	printf("mode %o, cloexec %d\n", st.st_mode & 07777, fcntl(fd, F_GETFD));
	how = (struct open_how){ .flags = O_RDONLY, .resolve = RESOLVE_BENEATH };
	say("beneath", syscall(SYS_openat2, d, "../x", &how, sizeof how));
	say("absolute beneath", syscall(SYS_openat2, d, "/etc/passwd", &how, sizeof how));
	symlinkat("new", d, "link");
	how.resolve = RESOLVE_NO_SYMLINKS;
	say("no links", syscall(SYS_openat2, d, "link", &how, sizeof how));
	how.resolve = 0;
	how.mode = 0600;
	say("a mode without O_CREAT", syscall(SYS_openat2, d, "new", &how, sizeof how));
	how = (struct open_how){ .flags = 1ull << 40 };
	say("a flag that isn't", syscall(SYS_openat2, d, "new", &how, sizeof how));
	say("a small structure", syscall(SYS_openat2, d, "new", &how, 8));
	say("a large one of zeros", syscall(SYS_openat2, d, "new", &large, sizeof large) >= 0);
	large.more = 1;
	say("a large one", syscall(SYS_openat2, d, "new", &large, sizeof large));
	say("no structure", syscall(SYS_openat2, d, "new", NULL, sizeof how));

	char value[16] = "";
	say("setxattr", fsetxattr(fd, "user.colour", "green", 5, XATTR_CREATE));
	say("again", fsetxattr(fd, "user.colour", "red", 3, XATTR_CREATE));
	say("getxattr", fgetxattr(fd, "user.colour", value, sizeof value));
	say("too small", fgetxattr(fd, "user.colour", value, 2));
	say("size", fgetxattr(fd, "user.colour", NULL, 0));
	say("none", fgetxattr(fd, "user.size", value, sizeof value));
	say("removexattr", fremovexattr(fd, "user.colour"));

	union { struct file_handle h; char room[200]; } u = { .h.handle_bytes = 128 };
	int mount;
	say("name_to_handle_at", name_to_handle_at(d, "new", &u.h, &mount, 0));
	u.h.handle_bytes = 0;
	say("its size", name_to_handle_at(d, "new", &u.h, &mount, 0));
	u.h.handle_bytes = 1000;
	say("too large", name_to_handle_at(d, "new", &u.h, &mount, 0));

	int names = 0;
	char list[1000];
	int o = openat(d, ".", O_RDONLY | O_DIRECTORY);
	long got = syscall(SYS_getdents, o, list, sizeof list);
	for (long i = 0; i < got; i += *(unsigned short *)(list + i + 16))
		names += !strcmp(list + i + 18, "new") && list[i + *(unsigned short *)(list + i + 16) - 1] == DT_REG;
	say("getdents", names);
	struct statfs sf, sg;
	statfs(dir, &sf), fstatfs(fd, &sg);
	printf("statfs %d %d %d\n", sf.f_type == sg.f_type, sf.f_bsize == sg.f_bsize, sf.f_namelen == sg.f_namelen);
}

static void events(const char *dir)
{
	int in = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char text[1000], path[5000];
	snprintf(path, sizeof path, "%s/watched", dir);
	say("nothing", read(in, text, sizeof text));
	say("watch", inotify_add_watch(in, dir, IN_CREATE | IN_DELETE | IN_CLOSE_WRITE));
	close(open(path, O_CREAT | O_WRONLY, 0600));
	unlink(path);
	long got = read(in, text, sizeof text);
	for (long i = 0; i < got;) {
		struct inotify_event *e = (void *)(text + i);
		printf("event %x %s\n", e->mask, e->name);
		i += sizeof *e + e->len;
	}
	say("remove", inotify_rm_watch(in, 1));
	say("again", inotify_rm_watch(in, 7));
	int fan = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK, O_RDONLY | O_LARGEFILE);
	say("fanotify_init", fan >= 0 ? 0 : -1);
	if (fan >= 0) {
		say("fanotify_mark", fanotify_mark(fan, FAN_MARK_ADD, FAN_OPEN | FAN_EVENT_ON_CHILD, AT_FDCWD, dir));
		say("fanotify_mark nothing", fanotify_mark(fan, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, "/nonexistent"));
	}

	/* Signals. */
	sigset_t set;
	struct signalfd_siginfo si[4];
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1), sigaddset(&set, SIGRTMIN + 3), sigaddset(&set, SIGCHLD), sigaddset(&set, SIGURG);
	sigprocmask(SIG_BLOCK, &set, NULL);
	int sfd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	printf("signalfd cloexec %d, nonblock %d\n", fcntl(sfd, F_GETFD), !!(fcntl(sfd, F_GETFL) & O_NONBLOCK));
	say("none yet", read(sfd, si, sizeof si));
	int ep = epoll_create1(0);
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = 0xfedcba9876543210 }, out;
	epoll_ctl(ep, EPOLL_CTL_ADD, sfd, &e);
	kill(getpid(), SIGUSR1);
	sigqueue(getpid(), SIGRTMIN + 3, (union sigval){ .sival_int = 99 });
	struct timespec ts = { 1, 0 };
	say("epoll_pwait2", syscall(SYS_epoll_pwait2, ep, &out, 1, &ts, NULL, 8));
	printf("data %d\n", out.data.u64 == e.data.u64);
	got = read(dup(sfd), si, sizeof si);
	say("signals", got);
	for (long i = 0; i < got / (long)sizeof *si; i++)
		printf("%s, code %d, mine %d, value %d\n",
		       si[i].ssi_signo == SIGUSR1 ? "usr1" : si[i].ssi_signo == SIGRTMIN + 3 ? "rt" : "other",
		       si[i].ssi_code, si[i].ssi_pid == getpid(), si[i].ssi_int);
	pid_t child = fork();
	if (child == 0) {
		raise(SIGTERM);
		_exit(0);
	}
	siginfo_t info;
	waitid(P_PID, child, &info, WEXITED | WNOWAIT);
	got = read(sfd, si, sizeof si);
	printf("child %d: status %d, code %d\n", got > 0 && si[0].ssi_pid == child, si[0].ssi_status == SIGTERM, si[0].ssi_code);
	waitpid(child, NULL, 0);
	say("a signalfd with a bad set", syscall(SYS_signalfd4, -1, &set, 4, 0));
	say("a signalfd of a file", signalfd(0, &set, 0));
	say("with flags that aren't", signalfd(-1, &set, 1 << 30));

	int tfd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	struct itimerspec it = { { 0, 0 }, { 0, 1000000 } }, old;
	uint64_t ticks;
	say("timerfd early", read(tfd, &ticks, 8));
	say("timerfd_settime", timerfd_settime(tfd, 0, &it, &old));
	usleep(20000);
	say("timerfd", read(tfd, &ticks, 8) == 8 ? (long)ticks : -1);
	say("a bad time", (it.it_value.tv_nsec = 1000000000, timerfd_settime(tfd, 0, &it, NULL)));

	timer_t timer;
	struct sigevent se = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGURG, .sigev_value.sival_int = 4 };
	say("timer_create", timer_create(CLOCK_MONOTONIC, &se, &timer));
	it.it_value.tv_nsec = 1000000;
	timer_settime(timer, 0, &it, NULL);
	usleep(20000);
	got = read(sfd, si, sizeof si);
	printf("timer: urg %d, code %d, value %d\n", got > 0 && si[0].ssi_signo == SIGURG, si[0].ssi_code, si[0].ssi_int);
	say("overrun", timer_getoverrun(timer));
	say("timer_delete", timer_delete(timer));
	say("a timer that isn't", timer_delete(timer));
	say("a clock that isn't", timer_create(99, &se, &timer));
}

static void messages(void)
{
	int s[2];
	char text[3][8] = { "" };
	struct iovec iov[3] = { { "one", 4 }, { "two", 4 }, { "three", 6 } };
	struct mmsghdr m[3] = { { { .msg_iov = iov, .msg_iovlen = 1 } },
				{ { .msg_iov = iov + 1, .msg_iovlen = 1 } },
				{ { .msg_iov = iov + 2, .msg_iovlen = 1 } } };
	struct timespec ts = { 5, 0 };
	socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, s);
	say("sendmmsg", sendmmsg(s[0], m, 3, 0));
	printf("%d %d %d\n", m[0].msg_len, m[1].msg_len, m[2].msg_len);
	for (int i = 0; i < 3; i++)
		iov[i] = (struct iovec){ text[i], 8 };
	say("recvmmsg", recvmmsg(s[1], m, 2, 0, &ts));
	printf("%s %s %d, time %ld\n", text[0], text[1], m[1].msg_len, (long)ts.tv_sec);
	say("recvmmsg for one", recvmmsg(s[1], m, 3, MSG_WAITFORONE, NULL));
	printf("%s\n", text[0]);
	say("none", recvmmsg(s[1], m, 3, 0, NULL));
	ts.tv_nsec = -1;
	say("a bad time", recvmmsg(s[1], m, 3, 0, &ts));
	struct timeval tv = { 0, 1000 };
	setsockopt(s[1], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
	int one = 1;
	say("SO_PEEK_OFF", setsockopt(s[1], SOL_SOCKET, SO_PEEK_OFF, &one, sizeof one));
	say("a filter of nothing", setsockopt(s[1], SOL_SOCKET, SO_ATTACH_FILTER, &one, sizeof one));
	struct ucred cred;
	socklen_t len = sizeof cred;
	say("SO_PEERCRED", getsockopt(s[1], SOL_SOCKET, SO_PEERCRED, &cred, &len));
	printf("mine %d\n", cred.pid == getpid());
	say("SO_RCVTIMEO", ({ len = sizeof tv; getsockopt(s[1], SOL_SOCKET, SO_RCVTIMEO, &tv, &len); }));
	printf("%d %d\n", (int)tv.tv_sec, tv.tv_usec > 0);
}

static void interfaces(void)
{
	struct ifreq r = { .ifr_name = "lo" }, list[20];
	struct ifconf c = { .ifc_len = sizeof list, .ifc_req = list };
	int s = socket(AF_INET, SOCK_DGRAM, 0);

	say("index", if_nametoindex("lo"));
	say("flags", ioctl(s, SIOCGIFFLAGS, &r));
	printf("loopback %d\n", !!(r.ifr_flags & IFF_LOOPBACK));
	say("mtu", ioctl(s, SIOCGIFMTU, &r) < 0 ? -1 : r.ifr_mtu);
	say("list", ioctl(s, SIOCGIFCONF, &c));
	say("of", c.ifc_len % sizeof r);
	c.ifc_len = sizeof list, c.ifc_req = (void *)1;
	say("list to nowhere", ioctl(s, SIOCGIFCONF, &c));
	say("no interface", if_nametoindex("nothing") ? 0 : -1);
	say("a command that isn't", ioctl(s, 0x7f123456, 0));
}

static void processes(void)
{
	pid_t child = fork();
	if (child == 0) {
		pause();
		_exit(1);
	}
	int fd = syscall(SYS_pidfd_open, child, 0);
	siginfo_t info;
	say("pidfd_open", fd >= 0);
	printf("cloexec %d\n", fcntl(fd, F_GETFD));
	int nb = syscall(SYS_pidfd_open, child, O_NONBLOCK);
	say("pidfd_open with flags", nb >= 0);
	say("waiting", waitid(P_PIDFD, nb, &info, WEXITED));
	say("pidfd_send_signal", syscall(SYS_pidfd_send_signal, fd, SIGUSR2, NULL, 0));
	say("waitid", waitid(P_PIDFD, fd, &info, WEXITED));
	printf("killed %d by usr2 %d\n", info.si_code == CLD_KILLED, info.si_status == SIGUSR2);
	say("to one that is gone", syscall(SYS_pidfd_send_signal, fd, SIGUSR2, NULL, 0));
	say("pidfd_open of nobody", syscall(SYS_pidfd_open, 0x7ffffff, 0));
	int self = syscall(SYS_pidfd_open, getpid(), 0);
	int copy = syscall(SYS_pidfd_getfd, self, 1, 0);
	say("pidfd_getfd", copy > 2);
	say("pidfd_getfd of nothing", syscall(SYS_pidfd_getfd, self, 900, 0));
	dup2(1, 200), dup2(1, 201), dup2(1, 202);
	say("close_range", close_range(201, 202, 0));
	printf("%d %d\n", fcntl(200, F_GETFD), fcntl(201, F_GETFD));
	say("close_range on exec", close_range(200, ~0u, CLOSE_RANGE_CLOEXEC));
	printf("%d\n", fcntl(200, F_GETFD));
	say("close_range backwards", close_range(10, 9, 0));
	say("close_range with flags", close_range(300, 310, 0x80));

	say("kcmp", syscall(SYS_kcmp, getpid(), getpid(), 0, 1, 200));
	struct { char a[8]; } here = { "local" }, there = { "remote" };
	struct iovec l = { &here, 8 }, r = { &there, 8 }, bad = { (void *)8, 8 };
	say("process_vm_readv", process_vm_readv(getpid(), &l, 1, &r, 1, 0));
	puts(here.a);
	say("from nowhere", process_vm_readv(getpid(), &l, 1, &bad, 1, 0));

	say("priority", getpriority(PRIO_PROCESS, 0));
	say("setpriority", setpriority(PRIO_PROCESS, 0, 7));
	say("priority", getpriority(PRIO_PROCESS, 0));
	errno = 0;
	say("priority of nobody", getpriority(PRIO_PROCESS, 0x7ffffff));
	say("nice", nice(3));
	struct sched_param sp = { 0 };
	say("policy", sched_getscheduler(0));
	say("batch", sched_setscheduler(0, SCHED_BATCH, &sp));
	say("policy", sched_getscheduler(0));
	say("most", sched_get_priority_max(SCHED_RR));
	sp.sched_priority = 1000;
	say("priority that isn't", sched_setscheduler(0, SCHED_RR, &sp));
	struct { uint32_t size, policy; uint64_t flags; int32_t nice; uint32_t priority; uint64_t time[3]; } attr = { 0 };
	say("sched_getattr", syscall(SYS_sched_getattr, 0, &attr, sizeof attr, 0));
	printf("%u %u %d\n", attr.size, attr.policy, attr.nice);
	attr.nice = 12;
	say("sched_setattr", syscall(SYS_sched_setattr, 0, &attr, 0));
	say("priority", getpriority(PRIO_PROCESS, 0));
	cpu_set_t cpus;
	say("affinity", sched_getaffinity(0, sizeof cpus, &cpus));
	say("as many", CPU_COUNT(&cpus) == sysconf(_SC_NPROCESSORS_ONLN));

	struct rlimit limit, old;
	static const int which[] = { RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_CORE, RLIMIT_NPROC, RLIMIT_MEMLOCK,
				     RLIMIT_LOCKS, RLIMIT_NICE, RLIMIT_RTPRIO };
	for (unsigned i = 0; i < sizeof which / sizeof *which; i++) {
		prlimit(0, which[i], NULL, &limit);
		limit.rlim_cur = (1 << 24) + i;
		int done = prlimit(0, which[i], &limit, &old);
		getrlimit(which[i], &limit);
		printf("limit %u: %d %d\n", i, done, limit.rlim_cur == (1 << 24) + i || done != 0);
	}
	say("limit below", (limit.rlim_cur = 5, limit.rlim_max = 4, setrlimit(RLIMIT_CPU, &limit)));
	struct rusage usage;
	say("getrusage", getrusage(RUSAGE_SELF, &usage));
	printf("%d %d\n", usage.ru_maxrss > 0, usage.ru_minflt > 0);
	say("getrusage of whom", getrusage(77, &usage));
	long list[2];
	say("robust list", syscall(SYS_get_robust_list, 0, list, list + 1));
	printf("%ld\n", list[1]);
}

static void memory(void)
{
	long page = sysconf(_SC_PAGESIZE);
	unsigned char vec[8] = { 9, 9, 9, 9, 9, 9, 9, 9 };
	char *p = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(p + page, 1, 2 * page);
	say("mincore", mincore(p, 4 * page, vec));
	printf("%d %d %d %d %d\n", vec[0], vec[1] & 1, vec[2] & 1, vec[3], vec[4]);
	say("mincore at odd", mincore(p + 1, page, vec));
	say("mincore of nothing", mincore(p, 0, vec));
	munmap(p + 4 * page, page);
	say("mincore of a hole", mincore(p, 8 * page, vec));
	say("mincore into nowhere", mincore(p, 4 * page, (void *)1));
	say("mlock", mlock(p, page));
	say("munlock", munlock(p, page));
	say("mlockall of nothing", mlockall(0));
	say("mlockall with flags", mlockall(1 << 20));
	say("munlockall", munlockall());
	say("io_uring", syscall(SYS_io_uring_setup, 0, NULL) < 0);
}

/* Keys, where the system lets a program have them. */
static void keys(void)
{
	char text[200] = "";
	long id = syscall(SYS_add_key, "user", "axperf:test", "secret", 6, -2);

	say("add_key", id < 0 ? id : 1);
	say("add_key of no type", syscall(SYS_add_key, "nothing", "x", "y", 1, -2));
	say("search", syscall(SYS_keyctl, 10, -2, "user", "axperf:test", 0) == id);
	say("describe", syscall(SYS_keyctl, 6, id, text, sizeof text));
	printf("%s\n", strrchr(text, ';') ? strrchr(text, ';') : "");
	say("read", syscall(SYS_keyctl, 11, id, memset(text, 0, sizeof text), sizeof text));
	printf("%s\n", text);
	say("read to nowhere", syscall(SYS_keyctl, 11, id, 8, 100));
	say("update", syscall(SYS_keyctl, 2, id, "other", 5));
	say("request_key", syscall(SYS_request_key, "user", "axperf:none", 0, 0));
	say("unlink", syscall(SYS_keyctl, 9, id, -2));
	say("no such command", syscall(SYS_keyctl, 12345, 0, 0, 0, 0));
}

/* Part of a mapping that shows another part of its file. */
static void pages(void)
{
	long page = sysconf(_SC_PAGESIZE);
	int fd = memfd_create("pages", 0);

	ftruncate(fd, 4 * page);
	for (int i = 0; i < 4; i++)
		pwrite(fd, &(char){ 'a' + i }, 1, i * page);
	char *p = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	say("remap_file_pages", syscall(SYS_remap_file_pages, p + page, page, 0, 3, 0));
	printf("%c%c%c%c\n", p[0], p[page], p[2 * page], p[3 * page]);
	p[page] = 'z';
	printf("%c\n", p[3 * page]);
	say("with protection", syscall(SYS_remap_file_pages, p, page, PROT_READ, 0, 0));
	say("beyond its end", syscall(SYS_remap_file_pages, p + 3 * page, 2 * page, 0, 0, 0));
	char *own = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	say("of no file", syscall(SYS_remap_file_pages, own, page, 0, 0, 0));
	int self = syscall(SYS_pidfd_open, getpid(), 0);
	struct iovec v = { p, page };
	say("process_madvise", syscall(SYS_process_madvise, self, &v, 1, MADV_WILLNEED, 0) == page);
	say("advice that isn't", syscall(SYS_process_madvise, self, &v, 1, 12345, 0));
}

/* What needs more than a test has, or changes the machine: the errors. */
static void refusals(void)
{
	say("syslog", syscall(SYS_syslog, 99, 0, 0));
	say("syslog to nowhere", syscall(SYS_syslog, 3, 0, 10));
	say("fsopen", syscall(SYS_fsopen, "nothing", 0));
	say("fsopen, flags", syscall(SYS_fsopen, "tmpfs", 0x1000));
	say("fsconfig", syscall(SYS_fsconfig, -1, 0, "key", "value", 0));
	say("fspick", syscall(SYS_fspick, AT_FDCWD, "/nowhere", 0));
	say("open_tree", syscall(SYS_open_tree, AT_FDCWD, "/nowhere", O_CLOEXEC));
	int fd = syscall(SYS_open_tree, AT_FDCWD, ".", O_CLOEXEC);
	say("open_tree", fd < 0 ? fd : fcntl(fd, F_GETFD));
	say("move_mount", syscall(SYS_move_mount, -1, "", -1, "", 4));
	say("mount_setattr", syscall(SYS_mount_setattr, AT_FDCWD, "/nowhere", 0, "12345678", 8));
	say("quotactl", syscall(SYS_quotactl, 0x80000700, "/nowhere", 0, 0));
	say("landlock", syscall(SYS_landlock_create_ruleset, 0, 0, 1) > 0 ? 1 : -1);
	say("landlock_restrict_self", syscall(SYS_landlock_restrict_self, -1, 0));
	say("landlock_add_rule", syscall(SYS_landlock_add_rule, -1, 1, "", 0));
}

int main(int argc, char **argv)
{
	char dir[] = "newer-XXXXXX";
	mkdtemp(dir);
	vectors();
	pipes();
	opening(dir);
	events(dir);
	messages();
	interfaces();
	processes();
	memory();
	keys();
	pages();
	refusals();
	chdir(dir);
	unlink("new"), unlink("link");
	chdir("..");
	return rmdir(dir) != 0;
}
