/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "live/live.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "live/daemon/daemon_internal.h"
#include "live/passing.h"
#include "topo/pack.h"

/* The user's runtime folder (XDG_RUNTIME_DIR); NULL: not set. */
static const char *runtime_folder(void)
{
	const char *base = getenv("XDG_RUNTIME_DIR");

	return base && base[0] == '/' ? base : NULL;
}

char *live_folder(const char *name)
{
	const char *base = runtime_folder();
	struct strbuf path = STRBUF_INIT;

	if (base)
		strbuf_printf(&path, "%s/heddle-%s", base, name);
	else
		strbuf_printf(&path, "/tmp/heddle-%u-%s", (unsigned)getuid(), name);
	return strbuf_detach(&path);
}

/*
 * True if this user owns the folder: in /tmp another user may have created a folder of that name.
 * Root may use the fabric of a user, with the user's XDG_RUNTIME_DIR.
 */
static bool is_ours(int fd)
{
	struct ucred who;
	socklen_t size = sizeof(who);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
	       (who.uid == geteuid() || (geteuid() == 0 && runtime_folder()));
}

int live_dial(const char *dir, const struct live_greeting *g, struct diag *d)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if ((size_t)snprintf(to.sun_path, sizeof(to.sun_path), "%s/%s", dir, LIVE_SOCKET) <
		    sizeof(to.sun_path) &&
	    fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 && is_ours(fd) &&
	    send(fd, g, sizeof(*g), MSG_NOSIGNAL) == (ssize_t)sizeof(*g))
		return fd;
	int error = errno;

	if (fd >= 0)
		close(fd);
	if (error == EACCES)
		diag_fail(d, HD_ERR_NOT_FOUND,
			  "the fabric in '%s' is another user's; only its user may attach", dir);
	else
		diag_fail(d, HD_ERR_NOT_FOUND,
			  "no fabric runs in '%s'; 'heddle live up FABRIC' starts one", dir);
	return -1;
}

int live_connect(const char *dir, struct diag *d)
{
	const struct live_greeting g = { .magic = LIVE_MAGIC, .kind = LIVE_CALL };

	return live_dial(dir, &g, d);
}

/* Reads the text of a reply from the message, or from the file that came with it. */
static enum hd_status take_reply(int fd, struct diag *d, struct strbuf *out)
{
	struct live_reply r;
	char *text = hd_alloc(LIVE_TEXT, 1);
	struct iovec parts[] = { { &r, sizeof(r) }, { text, LIVE_TEXT } };
	int file;
	ssize_t got = passing_receive(fd, parts, 2, 0, &file);

	if (got < (ssize_t)sizeof(r)) {
		if (file >= 0)
			close(file);
		free(text);
		return diag_fail(d, HD_ERR_ENV, "the fabric does not answer");
	}
	if (got > (ssize_t)sizeof(r))
		strbuf_add(out, text, (size_t)got - sizeof(r));
	if (file >= 0) {
		off_t at = 0;

		while ((got = pread(file, text, LIVE_TEXT, at)) > 0) {
			strbuf_add(out, text, (size_t)got);
			at += got;
		}
		close(file);
	}
	free(text);
	if (r.error)
		return diag_fail(d, HD_ERR_ENV, "the fabric refused: %s", strerror(r.error));
	if (r.number == HD_OK)
		return HD_OK;
	return diag_fail(d, (enum hd_status)r.number, "%s", out->text);
}

enum hd_status live_call(const char *dir, const char *const *words, size_t n, struct diag *d,
			 struct strbuf *out)
{
	return live_call_with(dir, words, n, -1, d, out);
}

enum hd_status live_call_with(const char *dir, const char *const *words, size_t n, int file,
			      struct diag *d, struct strbuf *out)
{
	struct live_call c = { .question = LIVE_COMMAND };
	struct strbuf text = STRBUF_INIT;
	int fd = live_connect(dir, d);

	if (fd < 0)
		return d->status;
	strbuf_add(&text, (const char *)&c, sizeof(c));
	for (size_t i = 0; i < n; i++)
		strbuf_add(&text, words[i], strlen(words[i]) + 1);
	enum hd_status status;

	if (text.len > LIVE_TEXT || !live_post(fd, text.text, text.len, file, 0))
		status = diag_fail(d, HD_ERR_ENV, "the fabric in '%s' is gone", dir);
	else
		status = take_reply(fd, d, out);
	strbuf_fini(&text);
	close(fd);
	return status;
}

static enum hd_status strange(struct diag *d)
{
	return diag_fail(d, HD_ERR_ENV, "the fabric is of another heddle");
}

enum hd_status live_topology(const char *dir, struct diag *d, struct topo *out)
{
	const char *const words[] = { "topology" };
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = live_call(dir, words, 1, d, &text);
	struct pack p;

	if (status == HD_OK) {
		pack_from(&p, text.text, text.len);
		topo_pack(&p, out);
		if (!pack_is_done(&p)) {
			topo_fini(out);
			status = strange(d);
		}
	}
	strbuf_fini(&text);
	return status;
}

enum hd_status live_counters(const char *dir, const char *const *names, size_t n, size_t n_ports,
			     struct diag *d, uint64_t *out)
{
	const char **words = hd_alloc(n + 1, sizeof(*words));
	struct strbuf text = STRBUF_INIT;
	struct pack p;

	words[0] = "counters";
	memcpy(words + 1, names, n * sizeof(*words));
	enum hd_status status = live_call(dir, words, n + 1, d, &text);

	free(words);
	if (status == HD_OK) {
		pack_from(&p, text.text, text.len);
		for (size_t i = 0; i < n * n_ports; i++)
			pack_u64(&p, &out[i]);
		if (!pack_is_done(&p))
			status = strange(d);
	}
	strbuf_fini(&text);
	return status;
}
