/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/text/policy_text.h"
