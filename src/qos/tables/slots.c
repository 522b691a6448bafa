/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/tables/slots.h"

#include <assert.h>

__extension__ typedef unsigned __int128 u128;

uint64_t slots_for(struct hd_rate need, struct hd_rate link)
{
	assert(link.num > 0);
	u128 num = (u128)need.num * link.den * FRAME_SLOTS;
	u128 den = (u128)need.den * link.num;

	return (uint64_t)((num + den - 1) / den);
}

uint32_t slots_of_share(struct hd_ratio share)
{
	u128 num = (u128)share.num * FRAME_SLOTS;

	assert(share.num <= share.den);
	return (uint32_t)((num + share.den - 1) / share.den);
}

hd_time slots_frame_time(struct hd_rate link)
{
	return hd_rate_duration(link, (uint64_t)FRAME_SLOTS * SLOT_BYTES);
}

struct hd_rate slots_rate(uint32_t slots, struct hd_rate link)
{
	/* Reduced first: link.num * slots may not fit 64 bits otherwise. */
	struct hd_rate share = hd_rate_make(slots, FRAME_SLOTS);
	struct hd_rate part = hd_rate_make(link.num, share.den);

	return hd_rate_make(part.num * share.num, part.den * link.den);
}

static u128 common_divisor(u128 a, u128 b)
{
	while (b) {
		u128 rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static struct hd_rate charge(uint64_t blocks, u128 num, u128 den, struct hd_ratio margin)
{
	u128 common = common_divisor(num, den);

	num /= common;
	den /= common;
	/* Products below stay within 128 bits. */
	while (num >> 60 || den >> 40) {
		num >>= 1;
		den >>= 1;
	}
	u128 bits = (u128)8 * HD_S * SLOT_BYTES * blocks * (margin.den + margin.num);
	u128 per = (num ? num : 1) * margin.den;
	u128 rest = (bits % per) * den;
	u128 rate = (bits / per) * den + rest / per + (rest % per > 0);

	return hd_rate_make(rate >> 63 ? INT64_MAX : (uint64_t)rate, 1);
}

struct hd_rate slots_charged_rate(uint64_t blocks, uint64_t num, uint64_t den,
				  struct hd_ratio margin)
{
	return charge(blocks, num, den, margin);
}

struct hd_rate slots_charged_burst(struct hd_rate rate, uint64_t payload, uint64_t blocks,
				   struct hd_ratio margin)
{
	assert(payload > 0 && rate.num > 0);
	return charge(blocks, (u128)8 * HD_S * payload * rate.den, rate.num, margin);
}

struct hd_rate slots_charged_payload(struct hd_rate rate, uint32_t payload, uint32_t overhead,
				     struct hd_ratio margin)
{
	uint64_t blocks = ((uint64_t)payload + overhead + SLOT_BYTES - 1) / SLOT_BYTES;

	return slots_charged_burst(rate, payload, blocks, margin);
}

struct hd_rate slots_with_overhead(struct hd_rate rate, uint32_t payload, uint32_t overhead)
{
	assert(payload > 0);
	struct hd_rate factor = hd_rate_make((uint64_t)payload + overhead, payload);
	struct hd_rate part = hd_rate_make(rate.num, factor.den);

	return hd_rate_make(part.num * factor.num, part.den * rate.den);
}
