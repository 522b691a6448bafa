/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SCENARIO_MODEL_H
#define HD_SCENARIO_MODEL_H

/*
 * Choices of the model (docs/timing-rules.md) shared by scenarios and the
 * simulator, in the order of their names in words.c.
 */

enum sim_queueing { SIM_INPUT_QUEUED, SIM_CIOQ };
enum sim_order { SIM_VOQ, SIM_FIFO };
enum sim_pick { SIM_ROUND_ROBIN, SIM_OLDEST };
enum sim_arbiter { SIM_VLARB, SIM_STRICT };
enum sim_credits { SIM_CREDITS_DELAY, SIM_CREDITS_EXACT };

/* How marks are echoed (C5). */
enum sim_echo {
	SIM_ECHO_ACK, /* BECN in the acknowledgement */
	SIM_ECHO_CNP, /* in a separate packet */
};

enum sim_flow_kind {
	SIM_CBR,        /* a message every `interval`, without drift */
	SIM_POISSON,    /* exponential gaps of mean `interval` */
	SIM_GE,         /* generalised exponential gaps: `scv` */
	SIM_ON_OFF,     /* exponential on and off times, CBR while on */
	SIM_PARETO,     /* like SIM_ON_OFF with Pareto times: aggregate is self-similar */
	SIM_SATURATING, /* next packet when the last one was granted */
	SIM_BURST,      /* `count` messages at `start`, simultaneously */
	SIM_TRACE,      /* the packets of `trace` */
};

enum sim_fault_kind {
	SIM_LINK_DOWN,
	SIM_LINK_UP,
	SIM_SINK_STUCK,
	SIM_SINK_FREE,
};

#endif
