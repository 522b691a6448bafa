/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_REPORT_PAGE_TEMPLATE_H
#define HD_REPORT_PAGE_TEMPLATE_H

/* What ci/web.sh makes of web/: a C file in build/web, never committed. */

#include <stddef.h>

/* The page, with a place for the results; ends with a NUL. */
extern const unsigned char page_template[];
/* Without that NUL; 0 if there is no page. */
extern const size_t page_template_len;
/* The page that follows a run, of 'heddle serve'; likewise. */
extern const unsigned char page_live_template[];
extern const size_t page_live_template_len;
/* Why the page was not built; "" if it was. */
extern const char page_missing[];

#endif
