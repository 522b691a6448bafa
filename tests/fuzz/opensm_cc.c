/* SPDX-License-Identifier: BSD-2-Clause */
/* Congestion control in opensm.conf: what is accepted is written and reads
 * back alike, in lines that OpenSM does not cut. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "qos/opensm/opensm_cc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_same(const struct opensm_cc *a, const struct opensm_cc *b)
{
	return a->enabled == b->enabled && a->victims == b->victims &&
	       a->threshold == b->threshold && a->packet_size == b->packet_size &&
	       a->marking_rate == b->marking_rate && a->per_sl == b->per_sl && a->sls == b->sls &&
	       a->ccti_timer == b->ccti_timer && a->ccti_increase == b->ccti_increase &&
	       a->trigger == b->trigger && a->ccti_min == b->ccti_min && a->n_cct == b->n_cct &&
	       memcmp(a->cct, b->cct, a->n_cct * sizeof(*a->cct)) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct opensm_cc conf, again;
	struct diag d = { .status = HD_OK };
	struct strbuf out = STRBUF_INIT;
	char *text = hd_alloc(size + 1, 1);

	memcpy(text, data, size);
	if (opensm_cc_read(text, &d, &conf) == HD_OK) {
		if (conf.n_cct > CCT_MAX_ENTRIES)
			abort();
		opensm_cc_write(&conf, &out);
		/* Entries of six characters and more may be too many. */
		if (opensm_cc_read(out.text, &d, &again) == HD_OK) {
			if (!is_same(&conf, &again))
				abort();
		} else if (!strstr(d.message, "of which OpenSM reads")) {
			abort();
		}
	}
	strbuf_fini(&out);
	free(text);
	return 0;
}
