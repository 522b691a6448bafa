/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_DAEMON_DAEMON_INTERNAL_H
#define HD_LIVE_DAEMON_DAEMON_INTERNAL_H

/*
 * State of the daemon of a live fabric; private to live/. The daemon is one thread with one event
 * loop: it receives a message from a program, applies it to the agents, and sends the MADs that
 * arrive to the programs registered for them. The daemon never blocks on a program: messages that
 * do not fit in a program's socket are queued in its client.
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

/* A message queued until the program's socket has room. */
struct outgoing {
	struct outgoing *next;
	size_t size;
	int file; /* memory file of a large message, or -1 */
	uint8_t bytes[];
};

struct client {
	int fd;              /* -1: the slot is free */
	enum live_kind kind; /* 0: no greeting received yet */
	uint32_t number;     /* slot in the low bits, use count of the slot above */
	port_id port;
	node_id node;
	struct outgoing *first, **last; /* queue of messages to send */
	size_t waiting;                 /* bytes in the queue */
	uint32_t agents;                /* index of the first registration; NO_AGENT: none */
	uint32_t program;               /* program number of a LIVE_ADAPTER client; 0: none */
};

/* A registration: MADs of a class at a port go to a program. */
struct registration {
	bool used;
	uint16_t generation; /* use count of the slot; TIDs of older uses are ignored */
	uint32_t client;     /* slot */
	uint32_t id;         /* agent ID in the program */
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
	int signals; /* eventfd; the daemon ends when it is written */
	int spare;   /* spare descriptor, closed to accept and refuse a connection when descriptors
			run out */
	int given;   /* file that came with the current call, or -1 */
	bool ends;
	bool replays; /* a replay of a recording: there are no clients */
	/* MADs take time: the event loop waits often and briefly. NULL: MADs arrive at once. */
	const struct agents_timing *times;
	bool answered;    /* the request that is being sent has a response */
	bool changed;     /* programmed state has changed; programs are to be notified */
	uint64_t version; /* number of such changes */
	hd_time (*clock)(void);
	hd_time start; /* value of `clock` at fabric time 0 */
	double pace;   /* seconds of fabric time per second of `clock` */
	struct recorder *recorder;
	struct live_capture *capture;
	struct {
		uint32_t state; /* enum data_capture */
		struct live_capture_wanted want;
		int file; /* of the capture that runs */
	} data;

	struct {
		enum { TRAFFIC_NONE, TRAFFIC_RUNS, TRAFFIC_ENDS, TRAFFIC_ENDED } state;
		uint32_t serial;
		int file;           /* standard output of 'live traffic'; -1: closed */
		struct strbuf text; /* its words; after its end, exit status and messages */
	} traffic;

	struct client *clients;
	size_t n_clients, clients_cap;

	struct registration *registrations;
	size_t n_registrations, registrations_cap;
	uint32_t free_registration; /* linked by next_of_port */
	uint32_t *agents_of_port;   /* per port_id */

	struct waiting *waiting;
	size_t n_waiting, waiting_cap;
	uint64_t answering; /* TID of the request that is being sent; 0: none */

	/* Requests that no program is registered for; answered next. */
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
	uint64_t mads; /* number of MADs sent by programs */
	struct adapters *adapters;
	struct cm *cm;
};

/* Time of the system's clock; and of the fabric, which starts at 0. */
hd_time live_now(void);
hd_time daemon_now(const struct live *l);

/* Creates a daemon without clients; false on failure. The caller calls daemon_fini. */
bool daemon_init(struct live *l, const struct topo *t, const char *dir,
		 const struct live_options *o);
void daemon_fini(struct live *l);
/* Opens the socket in the folder; programs can attach from now on. */
HD_MUST_CHECK enum hd_status daemon_listen(struct live *l, struct diag *d);
/* The daemon ends when the eventfd `signals`, which it takes, is written. */
void daemon_end_by(struct live *l, int signals);
/* Adds the program at the other end of a socket as a client. */
void daemon_adopt(struct live *l, int fd);
/* Processes events; waits at most `most` ms for the first one (-1: no limit). */
void daemon_turn(struct live *l, int most);

/* The slot of the connection with this number and kind, or NO_CLIENT. */
uint32_t client_find(const struct live *l, uint32_t number, enum live_kind kind);

/* Sends or queues a message to a program; takes `file`, or -1. */
void client_send(struct live *l, uint32_t slot, const void *bytes, size_t size, int file);
/* Sends a message, with a file unless it is -1; `flags`: MSG_DONTWAIT or 0. */
bool live_post(int fd, const void *bytes, size_t size, int file, int flags);
/* Creates a memory file with these bytes; -1 on failure. */
int live_file(const void *bytes, size_t size);

/* ---- questions.c: messages of programs */

/* Processes a message; takes `file`, or -1. False: the connection must be closed. */
bool client_says(struct live *l, uint32_t slot, const uint8_t *bytes, size_t size, int file);
/* Notifies a program with an open rdma_cm of an event, which the program then queries. */
void client_wake(void *live, uint32_t channel);

/* ---- live.c: the client's end. Opens a connection and sends `g`; -1 on failure. */
int live_dial(const char *dir, const struct live_greeting *g, struct diag *d);

/* ---- frames.c: frames of open umad devices */

/* Processes a whole frame of a program; an invalid frame is dropped. */
void frame_from(struct live *l, uint32_t client, const uint8_t *frame, size_t size);
void frame_arrived(void *live, port_id port, const struct mad_address *from, const uint8_t *mad,
		   size_t size);
/* Returns an errno, or 0 and the ID of the agent. */
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
/* Registers a program that sent a greeting; false if all program numbers are used. */
bool adapters_greet(struct live *l, uint32_t slot);
/* Maps the memory of a program; takes the file. */
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
/* Wakes the engine to check for work. */
void adapters_stir(struct live *l);
bool adapters_has_engine(const struct live *l);
bool adapters_is_engine(const struct live *l, uint32_t slot);
/* Adds the packets that programs have sent since the last call to the counters of all ports. */
void adapters_count(struct live *l);
/* Notifies programs of changes. */
void adapters_tell(struct live *l);

/* Answer to a program's question. */
struct answer {
	uint32_t slot; /* client that asked */
	struct strbuf bytes;
	uint32_t number;
	int file; /* -1: none */
};

/* ---- data_capture.c: captures of programs' data, which the engine writes */

enum data_capture {
	CAPTURE_NONE,
	CAPTURE_RUNS,
	CAPTURE_ENDS, /* the engine has been requested to end it and has not confirmed */
	CAPTURE_WHOLE,
	CAPTURE_BROKEN, /* not all packets could be written */
};

/* Takes the file. */
void daemon_data_capture_begin(struct live *l, port_id only, int file);
/* Ends a running capture; releases one that has ended. */
void daemon_data_capture_end(struct live *l);
/* Called when the engine has ended. */
void daemon_data_capture_lost(struct live *l);
/* Answers to LIVE_ASK_CAPTURE and LIVE_CAPTURED of the engine. */
int daemon_data_capture_asked(struct live *l, node_id v, const void *asked, struct answer *out);
int daemon_data_capture_over(struct live *l, node_id v, const void *asked, struct answer *out);

/* ---- attached_traffic.c: traffic rows of 'live traffic', which the engine simulates */

/* Commands; each has the type of live_obey. */
/* ---- faults.c */

enum hd_status daemon_fault_command(struct live *l, const char *const *words, size_t n,
				    struct diag *d, struct strbuf *out);
int daemon_faults_asked(struct live *l, node_id v, const void *asked, struct answer *out);
void daemon_faults_fini(struct live *l);
/* Notifies programs to load their faults again. */
void adapters_faults_changed(struct live *l);

enum hd_status daemon_traffic_attach(struct live *l, const char *const *words, size_t n,
				     struct diag *d, struct strbuf *out);
enum hd_status daemon_traffic_detach(struct live *l, const char *const *words, size_t n,
				     struct diag *d, struct strbuf *out);
enum hd_status daemon_traffic_state(struct live *l, const char *const *words, size_t n,
				    struct diag *d, struct strbuf *out);
enum hd_status daemon_traffic_done(struct live *l, const char *const *words, size_t n,
				   struct diag *d, struct strbuf *out);
/* Answers LIVE_ASK_TRAFFIC of the engine. */
int daemon_traffic_asked(struct live *l, node_id v, const void *asked, struct answer *out);
/* Called when the engine has ended. */
void daemon_traffic_lost(struct live *l);
void daemon_traffic_fini(struct live *l);

/* ---- sysfs.c: sysfs attributes of the adapter */

/* Content of a file below /sys; returns an errno. */
int sysfs_text(const struct live *l, node_id v, const char *path, struct strbuf *out);
/* Creates the folders and files of the node's adapter; returns an errno. */
int sysfs_make(const struct live *l, node_id v);
/* Updates the P_Key files of a port. */
void sysfs_keys_set(void *live, port_id port);

/* ---- commands.c: commands of users */

/* Map from node names to nodes; and a port by its name, for example "leaf3:19". */
void daemon_node_names(const struct topo *t, struct text_map *out);
enum hd_status daemon_port_named(const struct topo *t, const struct text_map *nodes,
				 const char *name, struct diag *d, port_id *out);

/* Executes the command of `n` words; appends its output to `out`. */
enum hd_status live_obey(struct live *l, const char *const *words, size_t n, struct diag *d,
			 struct strbuf *out);

#endif
