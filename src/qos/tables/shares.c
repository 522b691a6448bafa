/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/tables/shares.h"

#include <math.h>
#include <string.h>

#include "subnet/tables/packet.h"

#define WEIGHT_MAX 255

struct shares_vl shares_vl_of(uint32_t bytes)
{
	return (struct shares_vl){ .n = 1, .size = { { bytes, 1 } } };
}

/* Bytes that a turn of each weight sends: a packet, and what the remaining weight allows. */
static void turns(const struct shares_vl *vl, struct shares_sent turn[WEIGHT_MAX + 1])
{
	memset(turn, 0, (WEIGHT_MAX + 1) * sizeof(*turn));
	for (unsigned weight = 1; weight <= WEIGHT_MAX; weight++) {
		struct shares_sent *t = &turn[weight];

		for (unsigned k = 0; k < vl->n; k++) {
			uint32_t blocks = blocks_of(vl->size[k].bytes);
			unsigned left = blocks < weight ? weight - blocks : 0;
			const struct shares_sent *rest = &turn[left];
			double part = vl->size[k].part;

			t->packets += part * (1 + rest->packets);
			t->blocks += part * (blocks + rest->blocks);
			t->bytes += part * (vl->size[k].bytes + rest->bytes);
		}
	}
}

void shares_round(const struct vlarb_entry *table, unsigned n,
		  const struct shares_vl vls[N_DATA_VLS], struct shares_sent sent[N_DATA_VLS])
{
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		struct shares_sent turn[WEIGHT_MAX + 1];

		sent[vl] = (struct shares_sent){ 0 };
		if (vls[vl].n == 0)
			continue;
		turns(&vls[vl], turn);
		for (unsigned i = 0; i < n; i++) {
			if (table[i].vl != vl)
				continue;
			sent[vl].packets += turn[table[i].weight].packets;
			sent[vl].blocks += turn[table[i].weight].blocks;
			sent[vl].bytes += turn[table[i].weight].bytes;
		}
	}
}

void shares_achieved(const struct vlarb_entry *table, unsigned n,
		     const struct shares_vl vls[N_DATA_VLS], double share[N_DATA_VLS])
{
	struct shares_sent sent[N_DATA_VLS];
	double all = 0;

	shares_round(table, n, vls, sent);
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
		all += sent[vl].bytes;
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
		share[vl] = all > 0 ? sent[vl].bytes / all : 0;
}

struct search {
	const double *wanted;
	double sum, portion;
	unsigned room;
	unsigned least;                           /* weight of an entry */
	double bytes[N_DATA_VLS][WEIGHT_MAX + 1]; /* that a turn sends */
};

/* The weight whose turn is nearest to `bytes`; among equals, the last. */
static unsigned nearest(const double turn[WEIGHT_MAX + 1], double bytes)
{
	unsigned low = 1, high = WEIGHT_MAX;

	while (low < high) {
		unsigned mid = (low + high) / 2;

		if (turn[mid] < bytes)
			low = mid + 1;
		else
			high = mid;
	}
	if (low > 1 && bytes - turn[low - 1] < turn[low] - bytes)
		low--;
	while (low < WEIGHT_MAX && turn[low + 1] <= turn[low])
		low++;
	return low;
}

/* Lays out a round of `scale` bytes; returns the number of entries, 0: no room. */
static unsigned lay_out(const struct search *s, double scale, double sent[N_DATA_VLS],
			struct vlarb_entry *out)
{
	unsigned n = 0;

	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		const double *turn = s->bytes[vl];
		double left = s->wanted[vl] / s->sum * scale;

		sent[vl] = 0;
		if (!(s->wanted[vl] > 0))
			continue;
		double entries = fmax(1, ceil(left / turn[WEIGHT_MAX] - 1e-9));

		if (n + entries > s->room)
			return 0;
		for (unsigned e = (unsigned)entries; e > 0; e--) {
			unsigned weight = nearest(turn, left / e);

			out[n++] = (struct vlarb_entry){ (uint8_t)vl, (uint8_t)weight };
			sent[vl] += turn[weight];
			left -= turn[weight];
		}
	}
	return n;
}

/*
 * Returns how far one round of the arbitration table is from the wanted shares; sets the VL with
 * the largest deficit, and the deficit.
 */
static double judge(const struct search *s, const double sent[N_DATA_VLS], struct shares_fit *fit)
{
	double all = 0, error = 0;

	fit->short_by = -1;
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
		all += sent[vl];
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		double part = s->portion * sent[vl] / all;
		double ideal = s->portion * s->wanted[vl] / s->sum;

		error = fmax(error, fabs(part - ideal));
		if (s->wanted[vl] > 0 && s->wanted[vl] - part > fit->short_by) {
			fit->short_by = s->wanted[vl] - part;
			fit->worst = vl;
		}
	}
	return error;
}

/* The least weight of a table. */
static unsigned lightest(const struct vlarb_entry *entry, unsigned n)
{
	unsigned least = WEIGHT_MAX;

	for (unsigned i = 0; i < n; i++)
		least = entry[i].weight < least ? entry[i].weight : least;
	return least;
}

static struct shares_fit search(const struct search *s, struct vlarb_entry out[VLARB_MAX])
{
	struct shares_fit best = { .n = 0 };
	const unsigned step = 512, longest = 64 * WEIGHT_MAX * VLARB_MAX;

	for (unsigned scale = step; scale <= longest; scale += step) {
		struct vlarb_entry trial[VLARB_MAX];
		double sent[N_DATA_VLS];
		struct shares_fit fit = { 0 };

		fit.n = lay_out(s, scale, sent, trial);
		if (fit.n == 0)
			break;
		if (lightest(trial, fit.n) < s->least)
			continue;
		double error = judge(s, sent, &fit);

		if (best.n == 0 || error <= SHARES_NEAR || fit.short_by < best.short_by) {
			best = fit;
			memcpy(out, trial, sizeof(trial));
		}
		if (error <= SHARES_NEAR)
			break;
	}
	return best;
}

struct shares_fit shares_weights(const double wanted[N_DATA_VLS], double portion,
				 const struct shares_vl vls[N_DATA_VLS], unsigned room,
				 struct vlarb_entry out[VLARB_MAX])
{
	struct search s = { .wanted = wanted,
			    .portion = portion,
			    .room = room < VLARB_MAX ? room : VLARB_MAX };
	unsigned n = 0;

	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		struct shares_sent turn[WEIGHT_MAX + 1];

		n += wanted[vl] > 0;
		s.sum += wanted[vl];
		turns(&vls[vl], turn);
		for (unsigned w = 0; w <= WEIGHT_MAX; w++)
			s.bytes[vl][w] = turn[w].bytes;
	}
	/*
	 * With several VLs, weights of at least one packet of the largest MTU preserve the shares
	 * when packets grow.
	 */
	s.least = n > 1 ? SHARES_LARGEST : 1;
	struct shares_fit fit = search(&s, out);

	if (fit.n && fit.short_by <= SHARES_NEAR)
		return fit;
	s.least = 1;
	return search(&s, out);
}
