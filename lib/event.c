/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/event.h"
