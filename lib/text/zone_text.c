/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/text/zone_text.h"
