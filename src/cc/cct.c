/* SPDX-License-Identifier: BSD-2-Clause */
#include "cc/algorithms.h"

#define TIMER_UNIT (1024 * HD_NS) /* 1.024 us */

/*
 * InfiniBand's congestion control: a BECN moves the index into the table up,
 * a timer moves it down again, and the entry at the index is the delay that
 * follows each packet.
 */
hd_time cct_delay(uint16_t entry, hd_time packet_time)
{
	unsigned shift = entry >> 14;
	unsigned multiplier = entry & 0x3fff;

	return (packet_time >> shift) * multiplier;
}

static void start_timer(const struct cc_config *c, struct cc_state *s, hd_time now)
{
	if (c->ccti_timer && s->ccti > c->ccti_min)
		s->due = now + c->ccti_timer * TIMER_UNIT;
	else
		s->due = HD_TIME_NEVER;
}

/* Sets the rate that remains after the delays of the current entry. */
static void set_rate(const struct cc_config *c, struct cc_state *s)
{
	uint16_t entry = c->cct[s->ccti];
	double delay = (entry & 0x3fff) / (double)(1u << (entry >> 14));

	s->rate = c->rmax / (1 + delay);
}

void cct_on_becn(const struct cc_config *c, struct cc_state *s, hd_time now)
{
	uint32_t index = (uint32_t)s->ccti + c->ccti_increase;

	s->ccti = (uint16_t)(index < c->ccti_limit ? index : c->ccti_limit);
	set_rate(c, s);
	if (c->trigger && s->ccti >= c->trigger)
		s->triggered++;
	/* A mark starts the timer only if it is stopped. */
	if (s->due == HD_TIME_NEVER)
		start_timer(c, s, now);
}

void cct_on_timer(const struct cc_config *c, struct cc_state *s, hd_time now)
{
	if (s->ccti > c->ccti_min)
		s->ccti--;
	set_rate(c, s);
	start_timer(c, s, now);
}

void cct_adapt(const struct cc_config *c, struct cc_state *s, hd_time now)
{
	if (s->ccti > c->ccti_limit)
		s->ccti = c->ccti_limit;
	if (s->ccti < c->ccti_min)
		s->ccti = c->ccti_min;
	set_rate(c, s);
	if (s->due == HD_TIME_NEVER || c->ccti_timer == 0)
		start_timer(c, s, now);
}

static enum hd_status check(const struct cc_config *c, struct diag *d)
{
	if (c->ccti_limit >= CCT_MAX_ENTRIES)
		return diag_fail(d, HD_ERR_RANGE,
				 "CCTI_Limit %u is beyond the table's last entry %u", c->ccti_limit,
				 CCT_MAX_ENTRIES - 1);
	if (c->ccti_min > c->ccti_limit)
		return diag_fail(d, HD_ERR_RANGE, "CCTI_Min %u is above CCTI_Limit %u", c->ccti_min,
				 c->ccti_limit);
	if (c->ccti_increase == 0)
		return diag_fail(d, HD_ERR_RANGE, "CCTI_Increase 0 ignores every mark");
	return HD_OK;
}

static const char *warning(const struct cc_config *c)
{
	if (c->ccti_timer == 0)
		return "CCTI_Timer 0: a flow once slowed never recovers";
	return NULL;
}

const struct cc_algorithm cc_cct = {
	.name = "cct",
	.summary = "InfiniBand's congestion control table",
	.check = check,
	.warning = warning,
};
