/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/helper_msg.h"
