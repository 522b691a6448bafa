/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/shares.h"

#include <math.h>
#include <string.h>

uint32_t shares_blocks(uint32_t bytes)
{
	return (bytes + 63) / 64;
}

void shares_achieved(const struct vlarb_entry *table, unsigned n,
		     const uint32_t bytes[N_DATA_VLS], double share[N_DATA_VLS])
{
	double sent[N_DATA_VLS] = { 0 }, all = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned vl = table[i].vl;
		uint32_t blocks = shares_blocks(bytes[vl]);
		uint32_t packets;

		if (table[i].weight == 0 || blocks == 0)
			continue;
		packets = (table[i].weight + blocks - 1) / blocks;
		sent[vl] += (double)packets * bytes[vl];
		all += (double)packets * bytes[vl];
	}
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
		share[vl] = all > 0 ? sent[vl] / all : 0;
}

/* Packets per round of each VL when the round is `scale` bytes long. */
static double packets_for(const double *wanted, const uint32_t *bytes,
			  double scale, uint32_t packets[N_DATA_VLS])
{
	double total = 0, error = 0, sum = 0;

	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		packets[vl] = 0;
		sum += wanted[vl];
	}
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		if (!(wanted[vl] > 0))
			continue;
		double ideal = wanted[vl] / sum * scale / bytes[vl];

		packets[vl] = ideal < 1 ? 1 : (uint32_t)(ideal + 0.5);
		total += (double)packets[vl] * bytes[vl];
	}
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
		error = fmax(error, fabs(packets[vl] * bytes[vl] / total -
					 wanted[vl] / sum));
	return error;
}

static unsigned lay_out(const uint32_t packets[N_DATA_VLS],
			const uint32_t bytes[N_DATA_VLS],
			struct vlarb_entry *out)
{
	unsigned n = 0;

	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		uint32_t blocks = shares_blocks(bytes[vl]);
		uint32_t left = packets[vl];

		while (left) {
			uint32_t most = 255 / blocks;
			uint32_t now = left < most ? left : most;

			if (now == 0 || n == VLARB_MAX)
				return 0;
			out[n++] =
				(struct vlarb_entry){ (uint8_t)vl,
						      (uint8_t)(now * blocks) };
			left -= now;
		}
	}
	return n;
}

/*
 * Rounds of different length give different rounding errors; the shortest
 * round within half a point wins, since short rounds mean short waits.
 */
unsigned shares_weights(const double wanted[N_DATA_VLS],
			const uint32_t bytes[N_DATA_VLS],
			struct vlarb_entry out[VLARB_MAX])
{
	struct vlarb_entry trial[VLARB_MAX];
	unsigned best_n = 0;
	double best = 2;
	const double good_enough = 0.005;

	for (unsigned step = 1; step <= 256 && best > good_enough; step++) {
		uint32_t packets[N_DATA_VLS];
		double error =
			packets_for(wanted, bytes, 1024.0 * step, packets);
		unsigned n = error < best ? lay_out(packets, bytes, trial) : 0;

		if (n == 0)
			continue;
		best = error;
		best_n = n;
		memcpy(out, trial, sizeof(trial));
	}
	return best_n;
}
