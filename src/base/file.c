/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

/* An input that the user misnamed, as against a system that fails. */
static bool is_absence(int error)
{
	return error == ENOENT || error == ENOTDIR || error == EISDIR ||
	       error == ELOOP || error == ENAMETOOLONG;
}

static enum hd_status refuse_read(struct diag *d, int error)
{
	enum hd_status status =
		is_absence(error) ? HD_ERR_NOT_FOUND : HD_ERR_IO;

	return diag_fail(d, status, "cannot be read: %s", strerror(error));
}

static enum hd_status refuse_write(struct diag *d, int error)
{
	return diag_fail(d, HD_ERR_IO, "cannot be written: %s",
			 strerror(error));
}

static enum hd_status read_stream(FILE *in, size_t limit, struct diag *d,
				  struct strbuf *out)
{
	char chunk[1 << 16];
	size_t total = 0, n;

	errno = 0;
	while ((n = fread(chunk, 1, sizeof(chunk), in)) > 0) {
		if (n > limit - total)
			return diag_fail(d, HD_ERR_INPUT,
					 "is larger than %zu bytes", limit);
		total += n;
		strbuf_add(out, chunk, n);
	}
	return ferror(in) ? refuse_read(d, errno) : HD_OK;
}

enum hd_status file_open(const char *path, struct diag *d, FILE **out)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *in = is_stdin ? stdin : fopen(path, "rb");
	struct stat st;

	d->file = is_stdin ? "standard input" : path;
	if (!in)
		return refuse_read(d, errno);
	if (fstat(fileno(in), &st) == 0 && S_ISDIR(st.st_mode)) {
		file_close(in);
		return refuse_read(d, EISDIR);
	}
	*out = in;
	return HD_OK;
}

void file_close(FILE *in)
{
	if (in != stdin)
		fclose(in);
}

enum hd_status file_read(const char *path, size_t limit, struct diag *d,
			 struct strbuf *out)
{
	size_t start = out->len;
	FILE *in = NULL;
	enum hd_status status = file_open(path, d, &in);

	if (status != HD_OK)
		return status;
	status = read_stream(in, limit, d, out);
	file_close(in);
	if (status != HD_OK && out->len > start) {
		out->len = start;
		out->text[start] = '\0';
	}
	return status;
}

/* The permissions a new file gets, or those of the one it replaces. */
static mode_t mode_of(const char *target)
{
	struct stat st;

	if (stat(target, &st) == 0)
		return st.st_mode & 07777;
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* A stream to a new file beside w->target; NULL with errno otherwise. */
static FILE *open_beside(struct file_writer *w)
{
	struct strbuf name = STRBUF_INIT;

	strbuf_printf(&name, "%s.XXXXXX", w->target);
	w->beside = strbuf_detach(&name);
	int fd = mkstemp(w->beside);

	if (fd < 0)
		return NULL;
	FILE *stream =
		fchmod(fd, mode_of(w->target)) == 0 ? fdopen(fd, "wb") : NULL;

	if (!stream) {
		int error = errno;

		close(fd);
		unlink(w->beside);
		errno = error;
	}
	return stream;
}

static void release(struct file_writer *w)
{
	free(w->target);
	free(w->beside);
	*w = (struct file_writer){ 0 };
}

enum hd_status file_create(struct file_writer *w, const char *path,
			   struct diag *d)
{
	struct stat st;
	bool exists = stat(path, &st) == 0;

	d->file = path;
	*w = (struct file_writer){ 0 };
	if (exists && !S_ISREG(st.st_mode)) {
		w->stream = fopen(path, "wb");
	} else {
		/* A link stays a link: what it points to is replaced. */
		w->target = exists ? realpath(path, NULL) : hd_strdup(path);
		w->stream = w->target ? open_beside(w) : NULL;
	}
	if (w->stream)
		return HD_OK;
	int error = errno;

	release(w);
	return refuse_write(d, error);
}

enum hd_status file_commit(struct file_writer *w, struct diag *d)
{
	errno = 0;
	bool failed = ferror(w->stream) != 0;
	int error = errno;

	if (fclose(w->stream) != 0 && !failed) {
		failed = true;
		error = errno;
	}
	if (!failed && w->beside && rename(w->beside, w->target) != 0) {
		failed = true;
		error = errno;
	}
	if (failed && w->beside)
		unlink(w->beside);
	release(w);
	return failed ? refuse_write(d, error ? error : EIO) : HD_OK;
}

void file_abandon(struct file_writer *w)
{
	fclose(w->stream);
	if (w->beside)
		unlink(w->beside);
	release(w);
}

/* The folder of `path`, to be freed. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = hd_strdup(slash ? path : ".");

	if (slash)
		folder[slash == path ? 1 : slash - path] = '\0';
	return folder;
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
	char *real = exists ? realpath(path, NULL) : NULL;
	char *folder = folder_of(real ? real : path);
	int error = access(folder, W_OK | X_OK) == 0 ? 0 : errno;

	free(folder);
	free(real);
	return error ? refuse_write(d, error) : HD_OK;
}

enum hd_status file_write(const char *path, const void *bytes, size_t len,
			  struct diag *d)
{
	struct file_writer w;
	enum hd_status status = file_create(&w, path, d);

	if (status != HD_OK)
		return status;
	if (fwrite(bytes, 1, len, w.stream) != len) {
		int error = errno;

		file_abandon(&w);
		return refuse_write(d, error);
	}
	return file_commit(&w, d);
}
