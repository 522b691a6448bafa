/* SPDX-License-Identifier: BSD-2-Clause */
/* A file of runs: each is read whole and can be shown, or has a reason. */
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "report/compare.h"
#include "report/database.h"
#include "report/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_RUNS 4

static void refuse_to_be_silent(const struct diag *d)
{
	if (d->status == HD_OK || !d->message[0])
		abort();
}

static void show(const struct results *r)
{
	struct compared both[] = { { 1, r }, { 2, r } };
	struct compare_options how = { .all = true };
	struct results *same = results_new("report");
	struct strbuf out = STRBUF_INIT;

	for (const struct writer *w = writers; w->name; w++) {
		w->write(r, &out);
		strbuf_clear(&out);
	}
	compare_runs(both, 2, &how, same);
	results_free(same);
	strbuf_fini(&out);
}

static void read_runs(const char *path)
{
	struct diag d = { .status = HD_OK };
	struct run_info *infos;
	size_t n;

	if (database_list(path, &d, &infos, &n) != HD_OK) {
		refuse_to_be_silent(&d);
		return;
	}
	for (size_t i = 0; i < n && i < MOST_RUNS; i++) {
		struct results *r;

		d = (struct diag){ .status = HD_OK };
		if (database_read(path, infos[i].id, &d, &r) != HD_OK) {
			refuse_to_be_silent(&d);
			continue;
		}
		show(r);
		results_free(r);
	}
	database_infos_free(infos, n);
}

/* SQLite reads files; in memory if the system has a memory file system. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = "/dev/shm/heddle-fuzz-XXXXXX", other[] = "/tmp/heddle-fuzz-XXXXXX";
	char *place = path;
	int fd = mkstemp(path);

	if (fd < 0) {
		place = other;
		fd = mkstemp(other);
	}
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	read_runs(place);
	unlink(place);
	return 0;
}
