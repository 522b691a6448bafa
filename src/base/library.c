/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/library.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"

char *library_find(const char *name)
{
	static const char *const places[] = {
		"",                    /* the build folder */
		"/" HD_LIBRARY_FOLDER, /* where 'make install' puts them */
	};
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return NULL;
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct strbuf path = STRBUF_INIT;

		strbuf_printf(&path, "%s%s/%s", self, places[i], name);
		if (access(path.text, R_OK) == 0)
			return strbuf_detach(&path);
		strbuf_fini(&path);
	}
	return NULL;
}
