/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/text/edge_text.h"
