/* SPDX-License-Identifier: BSD-2-Clause */
/* The bus between an adapter and its host's memory. */
#include "hca/hca_internal.h"

hd_time hca_bus_use(struct v_device *dev, bool write, hd_time when, const struct dma *dma)
{
	const struct hca_profile *p = dev->lab->profile;
	hd_time *free_at = &dev->bus_free[p->duplex == DUPLEX_FULL && write];

	if (dma->transactions == 0)
		return when;
	hd_time start = later(when, *free_at);

	*free_at = start + dma->transactions * p->bus_overhead + dma->misses * p->miss;
	if (p->bus.num)
		*free_at += hd_rate_duration(p->bus, dma->bytes);
	return *free_at + (write ? 0 : p->bus_latency);
}

void hca_bus_wait(struct v_device *dev)
{
	const struct hca_profile *p = dev->lab->profile;
	hd_time busy = dev->bus_free[p->duplex == DUPLEX_FULL];
	hd_time room = p->bus.num ? hd_rate_duration(p->bus, p->staging) : 0;

	if (busy > room)
		dev->rx_free = later(dev->rx_free, busy - room);
}
