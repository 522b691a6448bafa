/* SPDX-License-Identifier: BSD-2-Clause */
#include "cc/response.h"

#include <math.h>
#include <string.h>

#include "cc/algorithms.h"

const struct cc_algorithm *const cc_algorithms[] = {
	&cc_fimd, &cc_lipd, &cc_pipd, &cc_aimd, &cc_cct, NULL,
};

const struct cc_algorithm *cc_find(const char *name)
{
	for (size_t i = 0; cc_algorithms[i]; i++) {
		if (strcmp(cc_algorithms[i]->name, name) == 0)
			return cc_algorithms[i];
	}
	return NULL;
}

struct cc_config cc_config_default(double rmin, double rmax)
{
	return (struct cc_config){
		.rmin = rmin,
		.rmax = rmax,
		.m = 4,
		.add = rmin,
		.cap_first_increase = true,
		.ccti_increase = 1,
		.ccti_timer = 150,
	};
}

enum hd_status cc_check(const struct cc_algorithm *algorithm, const struct cc_config *config,
			struct diag *d)
{
	if (!(config->rmin > 0) || !isfinite(config->rmax))
		return diag_fail(d, HD_ERR_RANGE, "rates must be finite and above 0");
	if (!(config->rmin < config->rmax))
		return diag_fail(d, HD_ERR_RANGE,
				 "the minimum rate %g must be below the maximum %g", config->rmin,
				 config->rmax);
	return algorithm->check ? algorithm->check(config, d) : HD_OK;
}

const char *cc_warning(const struct cc_algorithm *algorithm, const struct cc_config *config)
{
	return algorithm->warning ? algorithm->warning(config) : NULL;
}

static bool is_rate_based(const struct cc_algorithm *algorithm)
{
	return algorithm->increase != NULL;
}

void cc_init(const struct cc_algorithm *algorithm, const struct cc_config *config,
	     struct cc_state *state)
{
	*state = (struct cc_state){ .due = HD_TIME_NEVER };
	if (is_rate_based(algorithm)) {
		state->rate = config->rmin;
	} else {
		state->rate = config->rmax;
		state->ccti = config->ccti_min;
	}
}

static void rate_on_ack(const struct cc_algorithm *algorithm, const struct cc_config *config,
			struct cc_state *state, bool marked)
{
	if (marked) {
		double held = state->rate;

		state->rate = algorithm->decrease(config, held);
		state->ceiling = config->cap_first_increase ? held : 0;
		return;
	}
	double rate = algorithm->increase(config, state->rate);

	if (state->ceiling > 0 && rate > state->ceiling)
		rate = state->ceiling;
	state->ceiling = 0;
	state->rate = rate;
}

void cc_on_ack(const struct cc_algorithm *algorithm, const struct cc_config *config,
	       struct cc_state *state, bool marked, hd_time now)
{
	if (is_rate_based(algorithm))
		rate_on_ack(algorithm, config, state, marked);
	else if (marked)
		cct_on_becn(config, state, now);
}

void cc_on_timer(const struct cc_algorithm *algorithm, const struct cc_config *config,
		 struct cc_state *state, hd_time now)
{
	if (!is_rate_based(algorithm))
		cct_on_timer(config, state, now);
}

void cc_adapt(const struct cc_algorithm *algorithm, const struct cc_config *config,
	      struct cc_state *state, hd_time now)
{
	if (!is_rate_based(algorithm))
		cct_adapt(config, state, now);
	else if (state->rate < config->rmin)
		state->rate = config->rmin;
	else if (state->rate > config->rmax)
		state->rate = config->rmax;
}

hd_time cc_gap(const struct cc_algorithm *algorithm, const struct cc_config *config,
	       const struct cc_state *state, hd_time packet_time)
{
	if (!is_rate_based(algorithm))
		return packet_time + cct_delay(config->cct[state->ccti], packet_time);
	double gap = ceil((double)HD_S / state->rate);

	return gap > (double)packet_time ? (hd_time)gap : packet_time;
}

hd_time cc_gap_of_share(const struct cc_algorithm *algorithm, const struct cc_config *config,
			const struct cc_state *state, hd_time packet_time)
{
	if (!is_rate_based(algorithm))
		return cc_gap(algorithm, config, state, packet_time);
	return (hd_time)ceil((double)packet_time * (config->rmax / state->rate));
}

struct cc_recovery cc_recover(const struct cc_algorithm *algorithm, const struct cc_config *config,
			      double from, double to, uint64_t limit)
{
	struct cc_recovery way = { 0, 0 };
	double rate = from;

	if (!is_rate_based(algorithm))
		return way;
	while (rate < to && way.acks < limit) {
		/* The ACK of a packet sent at this rate arrives 1/rate later. */
		way.seconds += 1 / rate;
		rate = algorithm->increase(config, rate);
		way.acks++;
	}
	return rate < to ? (struct cc_recovery){ 0, 0 } : way;
}
