/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_BUILD_INFO_H
#define HD_CLI_BUILD_INFO_H

/* "commit 1234567890ab, Release, GNU 12.2.0"; cmake/build_info.cmake writes it. */
extern const char cli_build_info[];

#endif
