/* SPDX-License-Identifier: BSD-2-Clause */
/* What recording and drawing cost the simulator per packet. */
#include "base/rng.h"
#include "bench.h"
#include "measure/histogram.h"
#include "measure/interval.h"

#define SAMPLES 100000

struct work {
	struct rng rng;
	struct histogram histogram;
	struct batch_means means;
	uint64_t samples[SAMPLES];
	double sum;
};

static void record_all(void *arg)
{
	struct work *w = arg;

	for (unsigned i = 0; i < SAMPLES; i++)
		histogram_record(&w->histogram, w->samples[i]);
}

static void average_all(void *arg)
{
	struct work *w = arg;

	for (unsigned i = 0; i < SAMPLES; i++)
		batch_means_add(&w->means, (double)w->samples[i]);
}

static void draw_words(void *arg)
{
	struct work *w = arg;

	for (unsigned i = 0; i < SAMPLES; i++)
		w->samples[i] = rng_next(&w->rng);
}

static void draw_gaps(void *arg)
{
	struct work *w = arg;

	for (unsigned i = 0; i < SAMPLES; i++)
		w->sum += rng_exponential(&w->rng, 1000);
}

int main(void)
{
	static struct work w;
	struct bench b;

	rng_init(&w.rng, 1, 1);
	histogram_init(&w.histogram);
	batch_means_init(&w.means);
	for (unsigned i = 0; i < SAMPLES; i++)
		w.samples[i] = (uint64_t)rng_exponential(&w.rng, 5e6);
	bench_begin(&b, "measure");
	bench_at_most(&b, "histogram record", "ns", 10, 1e9 / bench_rate(record_all, &w, SAMPLES));
	bench_at_most(&b, "batch mean sample", "ns", 10,
		      1e9 / bench_rate(average_all, &w, SAMPLES));
	bench_at_most(&b, "random word", "ns", 5, 1e9 / bench_rate(draw_words, &w, SAMPLES));
	bench_at_most(&b, "exponential gap", "ns", 50, 1e9 / bench_rate(draw_gaps, &w, SAMPLES));
	histogram_fini(&w.histogram);
	return bench_end(&b);
}
