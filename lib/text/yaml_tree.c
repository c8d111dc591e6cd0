/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/text/yaml_tree.h"
