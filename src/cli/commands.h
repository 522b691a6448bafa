/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_COMMANDS_H
#define HD_CLI_COMMANDS_H

/* Every top-level command, one per cmd_<name>.c; main.c lists them in order. */

#include "cli/command.h"

extern const struct command command_topo;
extern const struct command command_topo_gen;
extern const struct command command_topo_show;
extern const struct command command_topo_check;
extern const struct command command_topo_convert;
extern const struct command command_route;
extern const struct command command_failures;
extern const struct command command_decode;
extern const struct command command_cc;
extern const struct command command_cc_compare;
extern const struct command command_cc_curve;
extern const struct command command_cc_tune;
extern const struct command command_qos;
extern const struct command command_qos_admit;
extern const struct command command_qos_bound;
extern const struct command command_qos_diffserv;
extern const struct command command_qos_reserve;
extern const struct command command_qos_plan;
extern const struct command command_qos_verify;
extern const struct command command_qos_table;
extern const struct command command_qos_evaluate;
extern const struct command command_qos_classify;
extern const struct command command_qos_explain;
extern const struct command command_qos_lint;
extern const struct command command_bench;
extern const struct command command_model;
extern const struct command command_sim;
extern const struct command command_sweep;
extern const struct command command_job;
extern const struct command command_job_show;
extern const struct command command_job_record;
extern const struct command command_mcast;
extern const struct command command_mcast_compare;
extern const struct command command_live;
extern const struct command command_live_up;
extern const struct command command_live_exec;
extern const struct command command_live_roce;
extern const struct command command_live_capture;
extern const struct command command_live_time;
extern const struct command command_live_replay;
extern const struct command command_live_sm;
extern const struct command command_live_dump;
extern const struct command command_live_show;
extern const struct command command_live_traffic;
extern const struct command command_paper;
extern const struct command command_paper_all;
extern const struct command command_paper_calibrate;
extern const struct command command_paper_list;
extern const struct command command_paper_run;
extern const struct command command_paper_show;
extern const struct command command_report;
extern const struct command command_serve;

#endif
