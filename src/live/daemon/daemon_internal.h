/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_DAEMON_DAEMON_INTERNAL_H
#define HD_LIVE_DAEMON_DAEMON_INTERNAL_H

/*
 * The daemon of a live fabric; private to live/. One thread, one loop: it
 * takes a message from a program, lets the agents act on it, and hands what
 * arrives to the programs it is for. It never waits for a program: what does
 * not fit a program's socket is kept until it does.
 */

#include <stdbool.h>

#include "base/map.h"
#include "live/adapter.h"
#include "live/live.h"
#include "live/protocol.h"
#include "mgmt/agents/agents.h"
#include "mgmt/cm/cm.h"

#define NO_CLIENT UINT32_MAX
#define NO_AGENT  UINT32_MAX

/* A message that waits for room in a program's socket. */
struct outgoing {
	struct outgoing *next;
	size_t size;
	int file; /* of a large one, or -1 */
	uint8_t bytes[];
};

struct client {
	int fd;              /* -1: the slot is free */
	enum live_kind kind; /* 0: has not greeted yet */
	uint32_t number;     /* the slot, and above it its count of uses */
	port_id port;
	node_id node;
	struct outgoing *first, **last; /* to be sent */
	size_t waiting;                 /* bytes of them */
	uint32_t agents;                /* its first; NO_AGENT: none */
	uint32_t program;               /* of a LIVE_ADAPTER one; 0: none */
};

/* A registration: some MADs of a port go to some program. */
struct registration {
	bool used;
	uint16_t generation; /* of the slot: TIDs of old ones are not ours */
	uint32_t client;     /* slot */
	uint32_t id;         /* as the program knows it */
	port_id port;
	struct live_agent asked;
	uint32_t next_of_client, next_of_port;
};

/* A request without a response yet. */
struct waiting {
	uint64_t tid;
	uint32_t registration;
	hd_time due;
	uint32_t timeout; /* ms */
	uint32_t retries;
	size_t size;
	uint8_t *frame;
};

struct unheard {
	port_id port;
	struct mad_address from;
	uint8_t mad[MAD_SIZE];
};

struct live {
	const struct topo *topo;
	struct agents *agents;
	const char *dir;
	int epoll, listener;
	int signals; /* eventfd that ends the daemon */
	int spare;   /* closed to refuse a program when there are no more */
	int given;   /* the file that came with a call, or -1 */
	bool ends;
	bool replays; /* a replay of a recording: there are no clients */
	/* MADs take time: waits are short, and many. NULL: they do not. */
	const struct agents_timing *times;
	bool answered;    /* what is being sent now */
	bool changed;     /* what is programmed; programs will hear of it */
	uint64_t version; /* counts that */
	hd_time (*clock)(void);
	hd_time start; /* of the fabric's time, by the clock */
	double pace;   /* seconds of it in one of the clock */
	struct recorder *recorder;
	struct live_capture *capture;
	struct {
		uint32_t state; /* enum data_capture */
		struct live_capture_wanted want;
		int file; /* while it runs */
	} data;

	struct {
		enum { TRAFFIC_NONE, TRAFFIC_RUNS, TRAFFIC_ENDS, TRAFFIC_ENDED } state;
		uint32_t serial;
		int file;           /* standard output of 'live traffic'; -1: closed */
		struct strbuf text; /* its words; after the end its status and messages */
	} traffic;

	struct client *clients;
	size_t n_clients, clients_cap;

	struct registration *registrations;
	size_t n_registrations, registrations_cap;
	uint32_t free_registration; /* linked by next_of_port */
	uint32_t *agents_of_port;   /* per port_id */

	struct waiting *waiting;
	size_t n_waiting, waiting_cap;
	uint64_t answering; /* the TID of what is being sent now; 0: none */

	/* Requests without a registered receiver; answered next. */
	struct unheard *unheard;
	size_t n_unheard, unheard_cap;

	/* Faults of programs: faults.c. */
	struct kept_fault {
		node_id node;
		struct live_fault fault;
		char *text;
	} * faults;
	size_t n_faults, faults_cap;
	uint32_t last_fault;

	struct text_map node_of_name;
	uint64_t mads; /* that programs sent */
	struct adapters *adapters;
	struct cm *cm;
};

/* By the system's clock; and of a fabric, which begins at 0. */
hd_time live_now(void);
hd_time daemon_now(const struct live *l);

/* A daemon without clients, ends at daemon_fini; false if it cannot be. */
bool daemon_init(struct live *l, const struct topo *t, const char *dir,
		 const struct live_options *o);
void daemon_fini(struct live *l);
/* Programs find it in its folder from now on. */
HD_MUST_CHECK enum hd_status daemon_listen(struct live *l, struct diag *d);
/* It ends when this eventfd, which it takes, is written. */
void daemon_end_by(struct live *l, int signals);
/* The program at the other end of a socket is a client from now on. */
void daemon_adopt(struct live *l, int fd);
/* Waits for something to happen, at most `most` ms (-1: any time). */
void daemon_turn(struct live *l, int most);

/* The slot of the connection with that number and purpose, or NO_CLIENT. */
uint32_t client_find(const struct live *l, uint32_t number, enum live_kind kind);

/* A message for a program; `file` is given away, or -1. */
void client_send(struct live *l, uint32_t slot, const void *bytes, size_t size, int file);
/* Sends a message, with a file if there is one; by MSG_DONTWAIT or waiting. */
bool live_post(int fd, const void *bytes, size_t size, int file, int flags);
/* A memory file of these bytes, or -1. */
int live_file(const void *bytes, size_t size);

/* ---- questions.c: what programs say */

/* A message, and a file that came with it (taken) or -1; false: it goes. */
bool client_says(struct live *l, uint32_t slot, const uint8_t *bytes, size_t size, int file);
/* An event for a program with an open rdma_cm: it will ask what it is. */
void client_wake(void *live, uint32_t channel);

/* ---- live.c: the other end. A connection that begins with `g`, or -1. */
int live_dial(const char *dir, const struct live_greeting *g, struct diag *d);

/* ---- frames.c: what comes and goes over an open umad */

/* A whole frame of a program; an invalid frame is dropped. */
void frame_from(struct live *l, uint32_t client, const uint8_t *frame, size_t size);
void frame_arrived(void *live, port_id port, const struct mad_address *from, const uint8_t *mad,
		   size_t size);
/* An errno, or 0 and the number of the agent. */
int frame_register(struct live *l, const struct live_agent *asked, uint32_t *id);
int frame_unregister(struct live *l, const struct live_agent *asked);
void frames_forget(struct live *l, uint32_t slot);
/* Timeouts and retries of requests without a response. */
hd_time frames_next(const struct live *l);
void frames_run(struct live *l, hd_time now);
void frames_fini(struct live *l);

/* ---- adapters.c: programs that use verbs */

struct adapters *adapters_new(enum live_pace pace);
void adapters_free(struct adapters *all);
/* A program that greeted; false if there are too many. */
bool adapters_greet(struct live *l, uint32_t slot);
/* The memory of a program; the file is taken. */
void adapters_memory(struct live *l, uint32_t slot, int file);
void adapters_forget(struct live *l, uint32_t slot);
/* Answers a question of live/adapter.h; false if it is another question. */
bool adapters_answer(struct live *l, uint32_t slot, uint32_t question, const uint8_t *text,
		     size_t size);
/* Pauses or resumes the simulated clock; reads its state. */
void adapters_hold(struct live *l, bool holds);
struct adapters_time {
	bool is_timed, is_held;
	uint32_t programs;
	uint64_t posted; /* requests of those programs, since they began */
	hd_time now;
};
void adapters_time(const struct live *l, struct adapters_time *out);
/* The engine looks what there is. */
void adapters_stir(struct live *l);
bool adapters_has_engine(const struct live *l);
bool adapters_is_engine(const struct live *l, uint32_t slot);
/* Counts at all ports what programs have sent since. */
void adapters_count(struct live *l);
/* Tells programs what has changed. */
void adapters_tell(struct live *l);

/* What a program's question is answered with. */
struct answer {
	uint32_t slot; /* of who asks */
	struct strbuf bytes;
	uint32_t number;
	int file; /* -1: none */
};

/* ---- data_capture.c: what programs send, which the engine captures */

enum data_capture {
	CAPTURE_NONE,
	CAPTURE_RUNS,
	CAPTURE_ENDS, /* the engine has not said yet that it did */
	CAPTURE_WHOLE,
	CAPTURE_BROKEN, /* not all of it could be written */
};

/* The file is taken. */
void daemon_data_capture_begin(struct live *l, port_id only, int file);
/* Ends a capture that runs; releases one that has ended. */
void daemon_data_capture_end(struct live *l);
/* The engine is gone. */
void daemon_data_capture_lost(struct live *l);
/* Questions of the engine's. */
int daemon_data_capture_asked(struct live *l, node_id v, const void *asked, struct answer *out);
int daemon_data_capture_over(struct live *l, node_id v, const void *asked, struct answer *out);

/* ---- attached_traffic.c: rows that the engine carries for 'live traffic' */

/* Commands; each has the type of live_obey. */
/* ---- faults.c */

enum hd_status daemon_fault_command(struct live *l, const char *const *words, size_t n,
				    struct diag *d, struct strbuf *out);
int daemon_faults_asked(struct live *l, node_id v, const void *asked, struct answer *out);
void daemon_faults_fini(struct live *l);
/* Programs load them again. */
void adapters_faults_changed(struct live *l);

enum hd_status daemon_traffic_attach(struct live *l, const char *const *words, size_t n,
				     struct diag *d, struct strbuf *out);
enum hd_status daemon_traffic_detach(struct live *l, const char *const *words, size_t n,
				     struct diag *d, struct strbuf *out);
enum hd_status daemon_traffic_state(struct live *l, const char *const *words, size_t n,
				    struct diag *d, struct strbuf *out);
enum hd_status daemon_traffic_done(struct live *l, const char *const *words, size_t n,
				   struct diag *d, struct strbuf *out);
/* A question of the engine: LIVE_ASK_TRAFFIC. */
int daemon_traffic_asked(struct live *l, node_id v, const void *asked, struct answer *out);
/* The engine has ended. */
void daemon_traffic_lost(struct live *l);
void daemon_traffic_fini(struct live *l);

/* ---- sysfs.c: what a program reads about its adapter */

/* The text of a file below /sys; an errno. */
int sysfs_text(const struct live *l, node_id v, const char *path, struct strbuf *out);
/* Makes the folders and files that a program can look for; an errno. */
int sysfs_make(const struct live *l, node_id v);
/* Files that say a port's P_Keys say those that it has now. */
void sysfs_keys_set(void *live, port_id port);

/* ---- commands.c: what users ask for */

/* Nodes by their names; a port by its own: "leaf3:19". */
void daemon_node_names(const struct topo *t, struct text_map *out);
enum hd_status daemon_port_named(const struct topo *t, const struct text_map *nodes,
				 const char *name, struct diag *d, port_id *out);

/* `n` words; what to print, or why not. */
enum hd_status live_obey(struct live *l, const char *const *words, size_t n, struct diag *d,
			 struct strbuf *out);

#endif
