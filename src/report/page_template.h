/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_REPORT_PAGE_TEMPLATE_H
#define HD_REPORT_PAGE_TEMPLATE_H

/* Output of ci/web.sh from web/: a C file in build/web, never committed. */

#include <stddef.h>

/* The page, with a placeholder for the results; ends with a NUL. */
extern const unsigned char page_template[];
/* Length without that NUL; 0 if there is no page. */
extern const size_t page_template_len;
/* The page of 'heddle serve' that follows a run; same format. */
extern const unsigned char page_live_template[];
extern const size_t page_live_template_len;
/* Reason why the page was not built; "" if it was. */
extern const char page_missing[];

#endif
