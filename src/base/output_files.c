/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/output_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"

/* A file, or the place of one that is not there: the folder's numbers then. */
struct file_identity {
	dev_t device;
	ino_t inode;
	char *name; /* NULL: the file is there */
};

static struct output_file {
	struct file_identity place;
	const char *who;
	bool readable;
} * claims;
static size_t n_claims, claims_cap;

/* False for devices and paths without a folder. */
static bool place_of(const char *path, struct file_identity *out)
{
	struct stat st;

	if (stat(path, &st) == 0) {
		*out = (struct file_identity){ st.st_dev, st.st_ino, NULL };
		return S_ISREG(st.st_mode);
	}
	char *target = file_target(path);
	char *folder = target ? file_folder(target) : NULL;
	bool found = folder && stat(folder, &st) == 0;

	if (found) {
		const char *slash = strrchr(target, '/');

		*out = (struct file_identity){ st.st_dev, st.st_ino,
					       hd_strdup(slash ? slash + 1 : target) };
	}
	free(folder);
	free(target);
	return found;
}

static bool place_same(const struct file_identity *a, const struct file_identity *b)
{
	return a->device == b->device && a->inode == b->inode &&
	       (a->name && b->name ? strcmp(a->name, b->name) == 0 : a->name == b->name);
}

const char *output_files_add(const char *path, const char *who, bool readable)
{
	struct file_identity place = { .name = NULL };

	if (!place_of(path, &place))
		return NULL;
	for (size_t i = 0; i < n_claims; i++) {
		if (place_same(&claims[i].place, &place)) {
			free(place.name);
			return claims[i].who;
		}
	}
	claims = hd_grow(claims, &claims_cap, n_claims + 1, sizeof(*claims));
	claims[n_claims++] = (struct output_file){ place, who, readable };
	return NULL;
}

static const char *find(const struct stat *st)
{
	const struct file_identity place = { st->st_dev, st->st_ino, NULL };

	for (size_t i = 0; i < n_claims; i++) {
		if (!claims[i].readable && place_same(&claims[i].place, &place))
			return claims[i].who;
	}
	return NULL;
}

const char *output_files_find(const char *path)
{
	struct stat st;

	return n_claims && stat(path, &st) == 0 ? find(&st) : NULL;
}

const char *output_files_find_fd(int fd)
{
	struct stat st;

	return n_claims && fstat(fd, &st) == 0 ? find(&st) : NULL;
}

void output_files_clear(void)
{
	for (size_t i = 0; i < n_claims; i++)
		free(claims[i].place.name);
	free(claims);
	claims = NULL;
	n_claims = claims_cap = 0;
}

bool file_is_same(const char *a, const char *b)
{
	struct file_identity x = { .name = NULL }, y = { .name = NULL };
	bool same = place_of(a, &x) && place_of(b, &y) && place_same(&x, &y);

	free(x.name);
	free(y.name);
	return same;
}
