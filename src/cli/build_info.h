/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_BUILD_INFO_H
#define HD_CLI_BUILD_INFO_H

/*
 * Build description such as "commit 1234567890ab, Release, GNU 12.2.0", written by
 * cmake/build_info.cmake.
 */
extern const char cli_build_info[];

#endif
