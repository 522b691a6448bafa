/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* fopencookie, O_TMPFILE, nftw */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/output_files.h"

#define MOST_LINKS 40 /* as the kernel follows */
#define OPEN_FILES "/proc/self/fd"

/* An input that the user misnamed, as against a system that fails. */
static bool is_absence(int error)
{
	return error == ENOENT || error == ENOTDIR || error == EISDIR || error == ELOOP ||
	       error == ENAMETOOLONG || error == ENXIO;
}

static enum hd_status refuse_read(struct diag *d, int error)
{
	enum hd_status status = is_absence(error) ? HD_ERR_NOT_FOUND : HD_ERR_IO;

	return diag_fail(d, status, "cannot be read: %s", strerror(error));
}

static enum hd_status refuse_write(struct diag *d, int error)
{
	return diag_fail(d, HD_ERR_IO, "cannot be written: %s", strerror(error));
}

/* Whether reading can reach an end: a device has none, except a terminal and /dev/null. */
static bool may_end(int fd, const struct stat *st)
{
	bool is_null = st->st_rdev == makedev(1, 3);

	return !S_ISBLK(st->st_mode) && (!S_ISCHR(st->st_mode) || is_null || isatty(fd));
}

enum hd_status file_open(const char *path, struct diag *d, FILE **out)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *in = is_stdin ? stdin : fopen(path, "rb");
	struct stat st;

	d->file = is_stdin ? "standard input" : path;
	if (!in)
		return refuse_read(d, errno);
	bool known = fstat(fileno(in), &st) == 0;

	if (known && S_ISDIR(st.st_mode)) {
		file_close(in);
		return refuse_read(d, EISDIR);
	}
	if (known && !may_end(fileno(in), &st)) {
		file_close(in);
		return diag_fail(d, HD_ERR_INPUT, "is a device; a regular file is required");
	}
	const char *writer = output_files_find_fd(fileno(in));

	if (writer) {
		file_close(in);
		return diag_fail(d, HD_ERR_INPUT, "is an input; --%s would overwrite it", writer);
	}
	*out = in;
	return HD_OK;
}

void file_close(FILE *in)
{
	if (in != stdin)
		fclose(in);
}

enum hd_status file_read_rest(FILE *in, size_t limit, struct diag *d, struct strbuf *out)
{
	char chunk[1 << 16];
	size_t total = 0, n;
	struct stat st;

	/* The size of a regular file is known in advance, that of a pipe is not. */
	bool too_large = fstat(fileno(in), &st) == 0 && S_ISREG(st.st_mode) &&
			 st.st_size > ftello(in) && (uint64_t)(st.st_size - ftello(in)) > limit;

	errno = 0;
	while (!too_large && (n = fread(chunk, 1, sizeof(chunk), in)) > 0) {
		too_large = n > limit - total;
		total += n;
		if (!too_large)
			strbuf_add(out, chunk, n);
	}
	if (too_large)
		return diag_fail(d, HD_ERR_INPUT, "is larger than the limit of %zu bytes", limit);
	return ferror(in) ? refuse_read(d, errno) : HD_OK;
}

enum hd_status file_read(const char *path, size_t limit, struct diag *d, struct strbuf *out)
{
	size_t start = out->len;
	FILE *in = NULL;
	enum hd_status status = file_open(path, d, &in);

	if (status != HD_OK)
		return status;
	status = file_read_rest(in, limit, d, out);
	file_close(in);
	if (status != HD_OK && out->len > start) {
		out->len = start;
		out->text[start] = '\0';
	}
	return status;
}

/* Permissions of a new file, or of the file that it replaces. */
static mode_t mode_of(const char *target)
{
	struct stat st;

	if (stat(target, &st) == 0)
		return st.st_mode & 0777;
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* ---- a stream that remembers why it failed ------------------------------ */

#define BUFFER ((size_t)1 << 16)

struct file_sink {
	int fd;
	int error; /* errno of the first write that failed, or 0 */
	int from;  /* a file whose beginning is copied; -1: none */
	struct file_part kept;
};

static ssize_t sink_write(void *cookie, const char *bytes, size_t len)
{
	struct file_sink *sink = cookie;
	size_t done = 0;

	while (done < len && !sink->error) {
		ssize_t n = write(sink->fd, bytes + done, len - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			sink->error = errno;
	}
	return (ssize_t)done; /* less than len is an error to the stream */
}

static int sink_close(void *cookie)
{
	struct file_sink *sink = cookie;
	int failed = close(sink->fd);

	if (failed && !sink->error)
		sink->error = errno;
	return failed;
}

/* Takes ownership of `fd`; false with errno: no stream, and `fd` is closed. */
static bool open_stream(struct file_writer *w, int fd)
{
	static const cookie_io_functions_t functions = {
		.write = sink_write,
		.close = sink_close,
	};

	w->sink = hd_alloc(1, sizeof(*w->sink));
	w->sink->fd = fd;
	w->sink->from = -1;
	w->sink->kept.content = (struct digest)DIGEST_START;
	w->stream = fopencookie(w->sink, "wb", functions);
	if (!w->stream) {
		int error = errno;

		close(fd);
		errno = error;
		return false;
	}
	setvbuf(w->stream, NULL, _IOFBF, BUFFER);
	return true;
}

/* ---- where it goes ------------------------------------------------------ */

char *file_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = hd_strdup(slash ? path : ".");

	if (slash)
		folder[slash == path ? 1 : slash - path] = '\0';
	return folder;
}

/* The target of the symbolic link `path`, from the current folder; NULL if it is no link. */
static char *follow(const char *path)
{
	char said[PATH_MAX];
	ssize_t len = readlink(path, said, sizeof(said) - 1);

	if (len < 0)
		return NULL;
	said[len] = '\0';
	if (said[0] == '/')
		return hd_strdup(said);
	char *folder = file_folder(path);
	struct strbuf to = STRBUF_INIT;

	strbuf_printf(&to, "%s/%s", folder, said);
	free(folder);
	return strbuf_detach(&to);
}

char *file_target(const char *path)
{
	char *target = hd_strdup(path);

	for (int links = 0; links <= MOST_LINKS; links++) {
		char *next = follow(target);

		if (!next)
			return target;
		free(target);
		target = next;
	}
	free(target);
	errno = ELOOP;
	return NULL;
}

/* ---- writing ------------------------------------------------------------ */

static void remove_beside(struct file_writer *w)
{
	if (!w->partial || w->kept)
		return;
	cleanup_defer_signals();
	unlink(w->partial);
	cleanup_forget_file(w->partial);
	cleanup_resume_signals();
}

/*
 * Opens a file without a name in the folder of w->target, which disappears however the process
 * ends. -1 if the system does not support it.
 */
static int open_nameless(const struct file_writer *w)
{
	char *folder = file_folder(w->target);
	int fd = -1;

	/* linkat() names the file through this folder. */
	if (access(OPEN_FILES, X_OK) == 0)
		fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	free(folder);
	return fd;
}

/* A named file next to w->target, where O_TMPFILE is not supported; -1 with errno. */
static int open_beside(struct file_writer *w)
{
	struct strbuf name = STRBUF_INIT;

	strbuf_printf(&name, "%s.XXXXXX", w->target);
	w->partial = strbuf_detach(&name);
	cleanup_defer_signals();
	cleanup_add_file(w->partial);
	int fd = mkstemp(w->partial);
	int error = errno;

	if (fd < 0)
		cleanup_forget_file(w->partial);
	cleanup_resume_signals();
	errno = error;
	return fd;
}

/* A stream to a new file for w->target; false with errno otherwise. */
static bool open_new(struct file_writer *w)
{
	int fd = open_nameless(w);

	if (fd < 0)
		fd = open_beside(w);
	if (fd < 0)
		return false;
	if (fchmod(fd, mode_of(w->target)) == 0 && open_stream(w, fd))
		return true;
	int error = errno;

	if (!w->sink)
		close(fd);
	remove_beside(w);
	errno = error;
	return false;
}

/* False with errno, which is EEXIST if the name is taken. */
static bool name_it(int fd, const char *name)
{
	char open_file[sizeof(OPEN_FILES) + 16];

	snprintf(open_file, sizeof(open_file), OPEN_FILES "/%d", fd);
	return linkat(AT_FDCWD, open_file, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

/* Gives a nameless file a name next to w->target, under a hold. */
static bool name_partial(struct file_writer *w, int fd)
{
	for (unsigned i = 0;; i++) {
		struct strbuf name = STRBUF_INIT;

		strbuf_printf(&name, "%s.%ld-%u", w->target, (long)getpid(), i);
		w->partial = strbuf_detach(&name);
		cleanup_add_file(w->partial);
		if (name_it(fd, w->partial))
			return true;
		int error = errno;

		cleanup_forget_file(w->partial);
		free(w->partial);
		w->partial = NULL;
		errno = error;
		if (error != EEXIST)
			return false;
	}
}

/*
 * The file in the place of w->target, under a hold; `fd` is one without a name,
 * or -1. False with errno.
 */
static bool put_in_place(struct file_writer *w, int fd)
{
	if (fd >= 0 && name_it(fd, w->target))
		return true; /* there was no file */
	if (fd >= 0 && (errno != EEXIST || !name_partial(w, fd)))
		return false;
	if (rename(w->partial, w->target) != 0)
		return false;
	cleanup_forget_file(w->partial);
	return true;
}

static void release(struct file_writer *w)
{
	if (w->sink && w->sink->from >= 0)
		close(w->sink->from);
	free(w->sink);
	free(w->target);
	free(w->partial);
	*w = (struct file_writer){ 0 };
}

/* `from`: -1, or the descriptor of a file; file_cut copies the part of it that was kept. */
static enum hd_status create(struct file_writer *w, const char *path, int from, struct diag *d)
{
	struct stat st;
	bool opened;

	d->file = path;
	*w = (struct file_writer){ .path = path };
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

		opened = fd >= 0 && open_stream(w, fd);
	} else {
		w->target = file_target(path);
		opened = w->target && open_new(w);
	}
	if (opened) {
		w->sink->from = from;
		return HD_OK;
	}
	int error = errno;

	release(w);
	return refuse_write(d, error);
}

enum hd_status file_create(struct file_writer *w, const char *path, struct diag *d)
{
	return create(w, path, -1, d);
}

/* Flushes everything to the disk; false with the sink's error. */
static bool sync_stream(struct file_writer *w)
{
	if (fflush(w->stream) != 0)
		return false;
	/* A file that is not regular cannot be synchronised. */
	if (fsync(w->sink->fd) == 0 || errno == EINVAL || errno == EROFS)
		return true;
	if (!w->sink->error)
		w->sink->error = errno;
	return false;
}

/* The new name, too; a file system that cannot do that does it anyway. */
static void sync_folder(const char *target)
{
	char *folder = file_folder(target);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		(void)!fsync(fd);
		close(fd);
	}
	free(folder);
}

enum hd_status file_commit(struct file_writer *w, struct diag *d)
{
	bool nameless = w->target && !w->partial;
	bool failed = ferror(w->stream) != 0;

	failed = (w->durable && !sync_stream(w)) || failed;
	int fd = nameless ? dup(w->sink->fd) : -1;

	if (nameless && fd < 0 && !w->sink->error)
		w->sink->error = errno;
	failed = fclose(w->stream) != 0 || (nameless && fd < 0) || failed;
	int error = w->sink && w->sink->error ? w->sink->error : EIO;

	if (!failed && w->target) {
		cleanup_defer_signals();
		failed = !put_in_place(w, fd);
		error = errno;
		cleanup_resume_signals();
	}
	if (fd >= 0)
		close(fd);
	if (!failed && w->durable)
		sync_folder(w->target);
	if (failed)
		remove_beside(w);
	const char *path = w->path;

	release(w);
	if (!failed)
		return HD_OK;
	d->file = path;
	d->line = d->column = 0;
	return refuse_write(d, error);
}

void file_abandon(struct file_writer *w)
{
	fclose(w->stream);
	remove_beside(w);
	release(w);
}

enum hd_status file_check_place(const char *path, struct diag *d)
{
	struct stat st;
	bool exists = stat(path, &st) == 0;

	d->file = path;
	if (exists && S_ISDIR(st.st_mode))
		return refuse_write(d, EISDIR);
	if (exists && !S_ISREG(st.st_mode))
		return HD_OK;
	char *target = file_target(path);
	char *folder = target ? file_folder(target) : NULL;
	int error = folder && access(folder, W_OK | X_OK) == 0 ? 0 : errno;

	free(folder);
	free(target);
	return error ? refuse_write(d, error) : HD_OK;
}

enum hd_status file_write(const char *path, const void *bytes, size_t len, struct diag *d)
{
	struct file_writer w;
	enum hd_status status = file_create(&w, path, d);

	if (status != HD_OK)
		return status;
	fwrite(bytes, 1, len, w.stream); /* commit sees what became of it */
	return file_commit(&w, d);
}

/* ---- continuing a file --------------------------------------------------- */

/*
 * Adds the bytes of `from` up to `len` to the digest, and writes them to `to` unless it is NULL.
 * False with errno, which is 0 if the file is shorter.
 */
static bool add_part(int from, struct file_sink *to, uint64_t len, struct file_part *part)
{
	char chunk[1 << 16];

	while (part->len < len) {
		uint64_t left = len - part->len;
		size_t wanted = left < sizeof(chunk) ? left : sizeof(chunk);
		ssize_t n = pread(from, chunk, wanted, (off_t)part->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = 0;
		if (n <= 0)
			return false;
		if (to && sink_write(to, chunk, (size_t)n) != n) {
			errno = to->error;
			return false;
		}
		digest_add(&part->content, chunk, (size_t)n);
		part->len += (uint64_t)n;
	}
	return true;
}

enum hd_status file_keep(struct file_writer *w, struct diag *d, struct file_part *part)
{
	struct stat st;

	d->file = w->path;
	if (!sync_stream(w) || fstat(w->sink->fd, &st) != 0 ||
	    !add_part(w->sink->fd, NULL, (uint64_t)st.st_size, &w->sink->kept))
		return refuse_write(d, w->sink->error ? w->sink->error : errno);
	cleanup_defer_signals();
	bool named = w->partial || name_partial(w, w->sink->fd);
	int error = errno;

	cleanup_resume_signals();
	if (!named)
		return refuse_write(d, error);
	*part = w->sink->kept;
	return HD_OK;
}

void file_keep_partial(struct file_writer *w)
{
	if (!w->kept)
		cleanup_forget_file(w->partial);
	w->kept = true;
}

/* The file was committed: the new file begins with a copy of `target`. */
static enum hd_status resume_named(struct file_writer *w, const char *path, const char *partial,
				   const char *target, struct diag *d)
{
	int from = open(target, O_RDONLY | O_CLOEXEC);

	if (from < 0)
		return diag_fail(d, HD_ERR_NOT_FOUND,
				 "the first part of this file, '%s', is missing", partial);
	enum hd_status status = create(w, path, from, d);

	if (status != HD_OK)
		close(from);
	return status;
}

enum hd_status file_resume(struct file_writer *w, const char *path, const char *partial,
			   const char *target, struct diag *d)
{
	struct stat st;
	int fd;

	d->file = path;
	*w = (struct file_writer){ .path = path, .kept = true };
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return diag_fail(d, HD_ERR_INPUT,
				 "is not a regular file: the output cannot be continued there");
	fd = open(partial, O_RDWR | O_APPEND | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return resume_named(w, path, partial, target, d);
	w->target = file_target(path);
	w->partial = hd_strdup(partial);
	if (fd >= 0 && w->target && open_stream(w, fd))
		return HD_OK;
	int error = errno;

	if (fd >= 0 && !w->sink)
		close(fd);
	release(w);
	return refuse_write(d, error);
}

enum hd_status file_cut(struct file_writer *w, const struct file_part *part, struct diag *d)
{
	struct file_sink *sink = w->sink;
	bool copies = sink->from >= 0;

	d->file = w->path;
	sink->kept = (struct file_part){ .content = DIGEST_START };
	/* The beginning of a new file has been written already. */
	if (fflush(w->stream) != 0 ||
	    (copies && (ftruncate(sink->fd, 0) != 0 || lseek(sink->fd, 0, SEEK_SET) != 0)))
		return refuse_write(d, sink->error ? sink->error : errno);
	if (!add_part(copies ? sink->from : sink->fd, copies ? sink : NULL, part->len,
		      &sink->kept) &&
	    errno)
		return refuse_write(d, errno);
	if (sink->kept.len != part->len || sink->kept.content.a != part->content.a ||
	    sink->kept.content.b != part->content.b)
		return diag_fail(d, HD_ERR_INPUT, "the first part of this file, '%s', %s",
				 copies ? w->path : w->partial,
				 sink->kept.len < part->len ? "is too short" : "has changed");
	return ftruncate(sink->fd, (off_t)part->len) == 0 ? HD_OK : refuse_write(d, errno);
}

/* ---- folders ------------------------------------------------------------ */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	(void)remove(path); /* a failure does not prevent the removal of the other files */
	return 0;
}

static int remove_inner(const char *path, const struct stat *st, int type, struct FTW *at)
{
	return at->level > 0 ? remove_one(path, st, type, at) : 0;
}

void folder_remove(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void folder_empty(const char *path)
{
	nftw(path, remove_inner, 16, FTW_DEPTH | FTW_PHYS);
}
