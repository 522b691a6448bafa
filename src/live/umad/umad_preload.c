/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE

/*
 * libheddle-umad.so: preloaded into InfiniBand administration tools, it provides the adapter of a
 * node of a running 'heddle live' fabric in place of the kernel's. /dev/infiniband/umadN is a
 * socket to the fabric's daemon, a real descriptor for poll, dup and fork; reads below
 * /sys/class/infiniband return the daemon's answers at that moment. Connection management is in
 * cm_preload.c.
 *
 * Without HEDDLE_LIVE and HEDDLE_HOST the library does nothing.
 */

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "live/passing.h"
#include "live/place.h"
#include "live/umad/preload.h"

/* Connection numbers of descriptors that are connections; 0: others. */
static _Atomic uint32_t connection_of[MAX_FDS];

#define NEXT(name) preload_next(#name)

void *preload_next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static int real_open(const char *path, int flags, mode_t mode)
{
	int (*f)(const char *, int, ...);

	*(void **)&f = NEXT(open);
	return f(path, flags, mode);
}

int preload_close(int fd)
{
	int (*f)(int);

	*(void **)&f = NEXT(close);
	return f(fd);
}

static ssize_t real_read(int fd, void *to, size_t n)
{
	static _Atomic(void *) found;
	ssize_t (*f)(int, void *, size_t);

	if (!found)
		found = NEXT(read);
	*(void **)&f = found;
	return f(fd, to, n);
}

static ssize_t real_write(int fd, const void *from, size_t n)
{
	static _Atomic(void *) found;
	ssize_t (*f)(int, const void *, size_t);

	if (!found)
		found = NEXT(write);
	*(void **)&f = found;
	return f(fd, from, n);
}

/* ---- the daemon */

/* Opens a connection to the daemon and greets it; -1 with errno. */
static int dial(enum live_kind kind, unsigned unit)
{
	const char *dir = getenv(LIVE_DIR);
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct live_greeting g = {
		.magic = LIVE_MAGIC,
		.kind = (uint32_t)kind,
		.unit = unit,
	};

	if (!dir || !live_place_of_program(g.host) ||
	    (size_t)snprintf(to.sun_path, sizeof(to.sun_path), "%s/%s", dir, LIVE_SOCKET) >=
		    sizeof(to.sun_path)) {
		errno = ENODEV;
		return -1;
	}
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0 ||
	    send(fd, &g, sizeof(g), MSG_NOSIGNAL) != (ssize_t)sizeof(g)) {
		preload_close(fd);
		errno = ENODEV;
		return -1;
	}
	return fd;
}

long preload_call(enum live_question question, const void *text, size_t n, char *out,
		  size_t *out_size)
{
	struct live_call c = { .question = (uint32_t)question };
	struct live_reply r = { .error = ENODEV };
	struct iovec to[] = { { &c, sizeof(c) }, { (void *)text, n } };
	struct iovec from[] = { { &r, sizeof(r) }, { out, out ? *out_size : 0 } };
	struct msghdr ask = { .msg_iov = to, .msg_iovlen = 2 };
	struct msghdr answer = { .msg_iov = from, .msg_iovlen = 2 };
	int fd = dial(LIVE_CALL, 0);
	ssize_t got = -1;

	if (fd < 0)
		return -1;
	if (sendmsg(fd, &ask, MSG_NOSIGNAL) > 0)
		got = recvmsg(fd, &answer, 0);
	preload_close(fd);
	if (got < (ssize_t)sizeof(r) || r.error != 0) {
		errno = r.error ? r.error : ENODEV;
		return -1;
	}
	if (out)
		*out_size = (size_t)got - sizeof(r);
	return (long)r.number;
}

/* ---- paths */

bool preload_is_on(void)
{
	return getenv(LIVE_DIR) && getenv(LIVE_HOST);
}

static bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* True if `path` is below a folder that the fabric provides. */
static bool is_sysfs(const char *path)
{
	return path && preload_is_on() &&
	       (starts_with(path, "/sys/class/infiniband") ||
		starts_with(path, "/sys/class/misc/rdma_cm"));
}

/* The folder or file that replaces `path` below /sys; folders have the same entries. */
static bool stand_in(const char *path, char *out, size_t size)
{
	const char *dir = getenv(LIVE_DIR);
	char host[LIVE_NAME], folder[LIVE_NAME];

	if (!dir || !path || !live_place_of_program(host))
		return false;
	if (starts_with(path, "/dev/infiniband/uverbs"))
		/*
		 * Programs test whether the device exists; libheddle-verbs provides its functions.
		 */
		return (size_t)snprintf(out, size, "/dev/null") < size;
	if (!is_sysfs(path))
		return false;
	live_host_folder(host, folder, sizeof(folder));
	return (size_t)snprintf(out, size, "%s/hosts/%s%s", dir, folder, path) < size;
}

/* Opens the replacement if it has content; or -1. */
static int open_stand_in(const char *path)
{
	char file[PATH_MAX];
	struct stat s;
	int fd = stand_in(path, file, sizeof(file)) ? real_open(file, O_RDONLY | O_CLOEXEC, 0) : -1;

	if (fd >= 0 && (fstat(fd, &s) != 0 || s.st_size == 0)) {
		preload_close(fd);
		fd = -1;
	}
	return fd;
}

/* A file with the daemon's answer. */
static int open_sysfs(const char *path)
{
	static _Thread_local char text[LIVE_TEXT];
	size_t size = sizeof(text);
	int ready = open_stand_in(path);

	if (ready >= 0)
		return ready;
	if (preload_call(LIVE_SYSFS, path, strlen(path) + 1, text, &size) < 0)
		return -1;
	int fd = memfd_create("heddle-sysfs", MFD_CLOEXEC);

	if (fd < 0)
		return -1;
	if (real_write(fd, text, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0) {
		preload_close(fd);
		errno = EIO;
		return -1;
	}
	return fd;
}

uint32_t preload_open(enum live_kind kind, unsigned unit, int *fd)
{
	struct live_reply r = { .error = EIO };

	*fd = dial(kind, unit);
	if (*fd < 0)
		return 0;
	if (recv(*fd, &r, sizeof(r), 0) == (ssize_t)sizeof(r) && r.error == 0)
		return r.number;
	preload_close(*fd);
	*fd = -1;
	errno = r.error ? r.error : EIO;
	return 0;
}

static int open_umad(unsigned unit)
{
	int fd;
	uint32_t number = preload_open(LIVE_UMAD, unit, &fd);

	if (fd >= MAX_FDS) {
		preload_close(fd);
		errno = EMFILE;
		return -1;
	}
	if (fd >= 0)
		connection_of[fd] = number;
	return fd;
}

static int open_issm(unsigned unit)
{
	int fd;

	preload_open(LIVE_ISSM, unit, &fd);
	return fd;
}

/* Parses N of a path that is `prefix` and N. */
static bool has_unit(const char *path, const char *prefix, unsigned *unit)
{
	char *end;

	if (!starts_with(path, prefix))
		return false;
	*unit = (unsigned)strtoul(path + strlen(prefix), &end, 10);
	return end != path + strlen(prefix) && *end == '\0';
}

/* The descriptor, or -1 with errno; -2 for other paths. */
static int open_ours(const char *path)
{
	unsigned unit;

	if (!path || !preload_is_on())
		return -2;
	if (has_unit(path, "/dev/infiniband/umad", &unit))
		return open_umad(unit);
	if (has_unit(path, "/dev/infiniband/issm", &unit))
		return open_issm(unit);
	if (strcmp(path, "/dev/infiniband/rdma_cm") == 0)
		return cm_open();
	if (is_sysfs(path))
		return open_sysfs(path);
	return -2;
}

/* ---- functions that replace the C library's; their headers name parameters differently */

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */

/* The argument after `flags`, which exists only if a file may be created. */
#define TAKE_MODE(mode, flags)                                           \
	do {                                                             \
		va_list more;                                            \
                                                                         \
		va_start(more, flags);                                   \
		if ((flags)&O_CREAT || ((flags)&O_TMPFILE) == O_TMPFILE) \
			(mode) = va_arg(more, mode_t);                   \
		va_end(more);                                            \
	} while (0)

int open(const char *path, int flags, ...)
{
	int fd = open_ours(path);
	mode_t mode = 0;

	if (fd != -2)
		return fd;
	TAKE_MODE(mode, flags);
	return real_open(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	mode_t mode = 0;

	TAKE_MODE(mode, flags);
	return open(path, flags | O_LARGEFILE, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	int fd = path && path[0] == '/' ? open_ours(path) : -2;
	int (*f)(int, const char *, int, ...);
	mode_t mode = 0;

	if (fd != -2)
		return fd;
	TAKE_MODE(mode, flags);
	*(void **)&f = NEXT(openat);
	return f(dir, path, flags, mode);
}

int openat64(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;

	TAKE_MODE(mode, flags);
	return openat(dir, path, flags | O_LARGEFILE, mode);
}

static FILE *fopen_as(const char *name, const char *path, const char *mode)
{
	FILE *(*f)(const char *, const char *);
	int fd = is_sysfs(path) ? open_sysfs(path) : -2;

	if (fd >= 0)
		return fdopen(fd, "r");
	if (fd == -1)
		return NULL;
	*(void **)&f = preload_next(name);
	return f(path, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	return fopen_as("fopen", path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	return fopen_as("fopen64", path, mode);
}

DIR *opendir(const char *path)
{
	DIR *(*f)(const char *);
	char other[4096];

	*(void **)&f = NEXT(opendir);
	return f(stand_in(path, other, sizeof(other)) ? other : path);
}

int scandir(const char *path, struct dirent ***names, int (*keep)(const struct dirent *),
	    int (*order)(const struct dirent **, const struct dirent **))
{
	int (*f)(const char *, struct dirent ***, int (*)(const struct dirent *),
		 int (*)(const struct dirent **, const struct dirent **));
	char other[4096];

	*(void **)&f = NEXT(scandir);
	return f(stand_in(path, other, sizeof(other)) ? other : path, names, keep, order);
}

int scandir64(const char *path, struct dirent64 ***names, int (*keep)(const struct dirent64 *),
	      int (*order)(const struct dirent64 **, const struct dirent64 **))
{
	int (*f)(const char *, struct dirent64 ***, int (*)(const struct dirent64 *),
		 int (*)(const struct dirent64 **, const struct dirent64 **));
	char other[4096];

	*(void **)&f = NEXT(scandir64);
	return f(stand_in(path, other, sizeof(other)) ? other : path, names, keep, order);
}

/* Functions with a path and one further argument; shells use several of them. */
#define WITH_PATH(name, type)                                                        \
	int name(const char *path, type more)                                        \
	{                                                                            \
		int (*f)(const char *, type);                                        \
		char other[4096];                                                    \
                                                                                     \
		*(void **)&f = NEXT(name);                                           \
		return f(stand_in(path, other, sizeof(other)) ? other : path, more); \
	}

WITH_PATH(stat, struct stat *)
WITH_PATH(stat64, struct stat64 *)
WITH_PATH(lstat, struct stat *)
WITH_PATH(lstat64, struct stat64 *)
WITH_PATH(access, int)
WITH_PATH(eaccess, int)
WITH_PATH(euidaccess, int)

int chdir(const char *path)
{
	int (*f)(const char *);
	char other[4096];

	*(void **)&f = NEXT(chdir);
	return f(stand_in(path, other, sizeof(other)) ? other : path);
}

int statx(int dir, const char *restrict path, int flags, unsigned mask, struct statx *restrict out)
{
	int (*f)(int, const char *, int, unsigned, struct statx *);
	char other[4096];

	*(void **)&f = NEXT(statx);
	return f(dir, stand_in(path, other, sizeof(other)) ? other : path, flags, mask, out);
}

int faccessat(int dir, const char *path, int how, int flags)
{
	int (*f)(int, const char *, int, int);
	char other[4096];

	*(void **)&f = NEXT(faccessat);
	return f(dir, stand_in(path, other, sizeof(other)) ? other : path, how, flags);
}

int close(int fd)
{
	if (fd >= 0 && fd < MAX_FDS)
		connection_of[fd] = 0;
	cm_closed(fd);
	return preload_close(fd);
}

static uint32_t connection(int fd)
{
	return fd >= 0 && fd < MAX_FDS ? connection_of[fd] : 0;
}

/* Reads a frame from a memory file; the frame is consumed if it fits. */
static ssize_t read_large(int fd, int file, void *to, size_t n)
{
	struct stat s;

	if (fstat(file, &s) != 0 || (size_t)s.st_size > n) {
		/* Copies the first part, which has the length, as the kernel does. */
		ssize_t part = pread(file, to, n, 0);

		preload_close(file);
		errno = part < 0 ? EIO : ENOSPC;
		return -1;
	}
	size_t done = 0, size = (size_t)s.st_size;

	while (done < size) {
		ssize_t got = pread(file, (char *)to + done, size - done, (off_t)done);

		if (got <= 0)
			break;
		done += (size_t)got;
	}
	preload_close(file);
	recv(fd, NULL, 0, 0);
	return done == size ? (ssize_t)done : -1;
}

/*
 * The fabric has ended. Most programs end after this error, but OpenSM reads again in an endless
 * loop and its log grows by ten megabytes a second. A program that continues to read gets SIGTERM,
 * and its reads block from then on.
 */
static void read_in_vain(void)
{
	enum { PATIENCE = 64 };
	static _Atomic unsigned reads;
	unsigned before = reads++;

	if (before < PATIENCE)
		return;
	if (before == PATIENCE)
		kill(getpid(), SIGTERM);
	sleep(1);
}

/*
 * Reads one frame. A frame that does not fit stays queued and the read fails with ENOSPC, as in
 * the kernel; the caller repeats it with more room.
 */
static ssize_t read_frame(int fd, void *to, size_t n)
{
	struct iovec part = { to, n };
	int file;
	ssize_t got = passing_receive(fd, &part, 1, MSG_PEEK | MSG_TRUNC, &file);

	if (got == 0) {
		read_in_vain();
		errno = ENODEV;
		return -1;
	}
	if (file >= 0)
		return read_large(fd, file, to, n);
	if (got > (ssize_t)n) {
		errno = ENOSPC;
		return -1;
	}
	if (got > 0)
		recv(fd, NULL, 0, 0);
	return got;
}

ssize_t read(int fd, void *to, size_t n)
{
	return connection(fd) ? read_frame(fd, to, n) : real_read(fd, to, n);
}

/* Sends the header, with the whole frame in a memory file. */
static ssize_t write_large(int fd, const void *from, size_t n)
{
	struct iovec part = { (void *)from, UMAD_HEADER };
	int file = memfd_create("heddle-frame", MFD_CLOEXEC);
	size_t done = 0;

	if (file < 0)
		return -1;
	while (done < n) {
		ssize_t put = real_write(file, (const char *)from + done, n - done);

		if (put <= 0)
			break;
		done += (size_t)put;
	}
	ssize_t sent = done == n ? passing_send(fd, &part, 1, file, 0) : -1;

	preload_close(file);
	return sent < 0 ? -1 : (ssize_t)n;
}

ssize_t write(int fd, const void *from, size_t n)
{
	if (cm_is_open(fd))
		return cm_write(fd, from, n);
	if (!connection(fd))
		return real_write(fd, from, n);
	if (n > LIVE_INLINE)
		return write_large(fd, from, n);
	ssize_t sent = send(fd, from, n, MSG_NOSIGNAL);

	if (sent < 0 && errno == EPIPE)
		errno = ENODEV;
	return sent;
}

/* Requests of the kernel's interface (magic 0x1b) and their arguments. */
struct register_request {
	uint32_t id;
	uint32_t methods[4];
	/* cppcheck-suppress unusedStructMember ; the kernel's */
	uint8_t qp;
	uint8_t mgmt_class, class_version, oui[3], rmpp_version;
};

struct register_request2 {
	uint32_t id;
	/* cppcheck-suppress unusedStructMember ; the kernel's */
	uint32_t qp;
	uint8_t mgmt_class, class_version;
	/* cppcheck-suppress unusedStructMember ; the kernel's */
	uint16_t reserved;
	/* cppcheck-suppress unusedStructMember ; the kernel's */
	uint32_t flags;
	uint64_t methods[2];
	uint32_t oui;
	uint8_t rmpp_version;
	/* cppcheck-suppress unusedStructMember ; the kernel's */
	uint8_t reserved2[3];
};

enum {
	UMAD_REGISTER = _IOWR(0x1b, 1, struct register_request),
	UMAD_UNREGISTER = _IOW(0x1b, 2, uint32_t),
	UMAD_ENABLE_PKEY = _IO(0x1b, 3),
	UMAD_REGISTER2 = _IOWR(0x1b, 4, struct register_request2),
};

static int ask_agent(enum live_question q, const struct live_agent *a, uint32_t *id)
{
	long number = preload_call(q, a, sizeof(*a), NULL, NULL);

	if (number < 0)
		return -1;
	if (id)
		*id = (uint32_t)number;
	return 0;
}

static int register_agent(uint32_t on, struct register_request *r)
{
	struct live_agent a = {
		.connection = on,
		.mgmt_class = r->mgmt_class,
		.class_version = r->class_version,
		.rmpp_version = r->rmpp_version,
	};

	memcpy(a.oui, r->oui, sizeof(a.oui));
	memcpy(a.methods, r->methods, sizeof(a.methods));
	return ask_agent(LIVE_REGISTER, &a, &r->id);
}

static int register_agent2(uint32_t on, struct register_request2 *r)
{
	struct live_agent a = {
		.connection = on,
		.mgmt_class = r->mgmt_class,
		.class_version = r->class_version,
		.rmpp_version = r->rmpp_version,
		.oui = { (uint8_t)(r->oui >> 16), (uint8_t)(r->oui >> 8), (uint8_t)r->oui },
	};

	for (unsigned i = 0; i < 4; i++)
		a.methods[i] = (uint32_t)(r->methods[i / 2] >> (32 * (i % 2)));
	return ask_agent(LIVE_REGISTER, &a, &r->id);
}

static int umad_ioctl(int fd, unsigned long request, void *argument)
{
	struct live_agent a = { .connection = connection(fd) };

	switch ((unsigned)request) {
	case UMAD_REGISTER:
		return register_agent(a.connection, argument);
	case UMAD_REGISTER2:
		return register_agent2(a.connection, argument);
	case UMAD_UNREGISTER:
		memcpy(&a.id, argument, sizeof(a.id));
		return ask_agent(LIVE_UNREGISTER, &a, NULL);
	case UMAD_ENABLE_PKEY:
		return 0;
	default:
		errno = ENOTTY;
		return -1;
	}
}

int ioctl(int fd, unsigned long request, ...)
{
	int (*f)(int, unsigned long, ...);
	va_list more;

	va_start(more, request);
	void *argument = va_arg(more, void *);

	va_end(more);
	if (connection(fd))
		return umad_ioctl(fd, request, argument);
	*(void **)&f = NEXT(ioctl);
	return f(fd, request, argument);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
