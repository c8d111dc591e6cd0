/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/command.h"
