/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ruleset_text - see ruleset_text.h. The second reader of the gateway tables.
 */
#include "config.h"

#include "src/helper/ruleset_text.h"

#include <inttypes.h>

#include <linux/if_ether.h>

#include "lib/addr.h"
#include "lib/require.h"

static void
print_fields(FILE *out, const enum field *fields)
{
	for (size_t i = 0; i < GATEWAY_FIELDS_MAX; i++)
		if (fields[i] != FIELD_NONE)
			fprintf(out, "%s%s", i > 0 ? " . " : "",
			    gateway_fields[fields[i]].text);
}

static const char *
ether_name(uint32_t type)
{
	switch (type) {
	case ETH_P_IP:
		return "ip";
	case ETH_P_ARP:
		return "arp";
	default:
		return "ip6";
	}
}

static void
print_value(FILE *out, const struct step *step)
{
	enum field field = step->fields[0];

	if (field == FIELD_ETHER_TYPE || field == FIELD_ARP_PTYPE)
		fputs(ether_name(step->value), out);
	else if (field == FIELD_ICMPV6_TYPE && step->value == 136)
		fputs("nd-neighbor-advert", out);
	else if (field == FIELD_IP6_SADDR)
		fputs("::", out);
	else if (field == FIELD_IP_SADDR)
		fputs("0.0.0.0", out);
	else if (field == FIELD_L4PROTO && step->value == PROTO_TCP)
		fputs("tcp", out);
	else if (field == FIELD_ICMPV6_TYPE && step->value == 135)
		fputs("nd-neighbor-solicit", out);
	else
		fprintf(out, "%" PRIu32, step->value);
}

static const char *
ct_name(uint32_t state)
{
	switch (state) {
	case CT_ESTABLISHED:
		return "established";
	case CT_RELATED:
		return "related";
	case CT_NEW:
		return "new";
	case CT_UNTRACKED:
		return "untracked";
	default:
		return "invalid";
	}
}

static void
print_dynamic(FILE *out, const struct gateway_params *params,
    const struct step *step)
{
	fprintf(out, "%s @%s { ", step->kind == STEP_CEILING ? "add" : "update",
	    step->name);
	print_fields(out, step->fields);
	if (step->kind == STEP_CEILING)
		fprintf(out, " ct count over %" PRIu32, params->flows_max);
	if (step->kind == STEP_RATE)
		fprintf(out,
		    " limit rate %" PRIu32 "/second burst %" PRIu32 " packets",
		    params->log_rate, params->log_rate * 2);
	if (step->kind == STEP_EXCESS)
		fprintf(out,
		    " limit rate over %" PRIu32 "/second burst %" PRIu32
		    " packets",
		    gateway_excess(params, step),
		    gateway_excess(params, step) * 2);
	fputs(" }", out);
}

/* What is said by a verb and a name, or by a word alone. */
static void
print_action(FILE *out, const struct gateway_params *params,
    const struct step *step)
{
	if (step->kind == STEP_COUNT)
		fprintf(out, "counter name %s", step->name);
	if (step->kind == STEP_LOG)
		fprintf(out, "log prefix \"%s\" group %u snaplen 96",
		    step->name, params->log_group);
	if (step->kind == STEP_GOTO)
		fprintf(out, "goto %s", step->name);
	if (step->kind == STEP_ACCEPT)
		fputs("accept", out);
	if (step->kind == STEP_DROP)
		fputs("drop", out);
	if (step->kind == STEP_TCP_RESET)
		fputs("meta l4proto tcp reject with tcp reset", out);
	if (step->kind == STEP_PROHIBIT)
		fputs("reject with icmpx admin-prohibited", out);
	if (step->kind == STEP_MASQUERADE)
		fputs("masquerade", out);
}

static void
print_step(FILE *out, const struct gateway_params *params,
    const struct step *step)
{
	switch (step->kind) {
	case STEP_IN:
	case STEP_NOT_IN:
		print_fields(out, step->fields);
		fprintf(out, "%s @%s",
		    step->kind == STEP_IN ? "" : " !=", step->name);
		return;
	case STEP_QUOTA:
		fputs("quota name ", out);
		print_fields(out, step->fields);
		fprintf(out, " map @%s", step->name);
		return;
	case STEP_IS:
		print_fields(out, step->fields);
		fputc(' ', out);
		print_value(out, step);
		return;
	case STEP_ONE_OF:
		print_fields(out, step->fields);
		fprintf(out, " %s", step->constants->text);
		return;
	case STEP_LINK_LOCAL:
		fputs("ip6 saddr fe80::/10", out);
		return;
	case STEP_TARGET_LINK_LOCAL:
		fputs("@th,64,10 0x3fa", out);
		return;
	case STEP_CT:
	case STEP_CT_NOT:
		fprintf(out, "ct state %s%s",
		    step->kind == STEP_CT ? "" : "!= ", ct_name(step->value));
		return;
	case STEP_TCP_NOT_SYN:
		fputs("tcp flags & (fin | syn | rst | ack) != syn", out);
		return;
	case STEP_OPTION:
		fprintf(out, "ip option %s exists",
		    step->value == 131 ? "lsrr" : "ssrr");
		return;
	case STEP_EXTENSION:
		REQUIRE(step->value == 43);
		fputs("exthdr rt exists", out);
		return;
	case STEP_UPDATE:
	case STEP_RATE:
	case STEP_EXCESS:
	case STEP_CEILING:
		print_dynamic(out, params, step);
		return;
	case STEP_END:
	case STEP_COUNT:
	case STEP_LOG:
	case STEP_GOTO:
	case STEP_ACCEPT:
	case STEP_DROP:
	case STEP_TCP_RESET:
	case STEP_PROHIBIT:
	case STEP_MASQUERADE:
		print_action(out, params, step);
		return;
	}
	UNREACHABLE();
}

static void
print_rule(FILE *out, const struct gateway_params *params,
    const struct rule_form *rule)
{
	fputc('\t', out);
	for (size_t i = 0; i < GATEWAY_STEPS_MAX; i++) {
		if (rule->steps[i].kind == STEP_END)
			break;
		fputc(i == 0 ? '\t' : ' ', out);
		print_step(out, params, &rule->steps[i]);
	}
	fputc('\n', out);
}

static void
print_hook(FILE *out, const struct gateway_params *params,
    const struct chain_form *chain)
{
	static const char *const types[] = {
		[HOOK_PREROUTING] = "filter hook prerouting",
		[HOOK_INPUT] = "filter hook input",
		[HOOK_FORWARD] = "filter hook forward",
		[HOOK_OUTPUT] = "filter hook output",
		[HOOK_POSTROUTING_NAT] = "nat hook postrouting",
	};
	int32_t priority = gateway_priority(params, chain);

	if (chain->hook != HOOK_NONE)
		fprintf(out,
		    "\t\ttype %s priority %" PRId32 "; policy accept;\n",
		    types[chain->hook], priority);
}

static void
print_set(FILE *out, const struct gateway_params *params,
    const struct set_form *set)
{
	uint32_t size = gateway_set_size(params, set->size);

	fprintf(out, "\t%s %s {\n\t\t%s %s%s\n", set->quota ? "map" : "set",
	    set->name, set->raw ? "typeof" : "type", set->type,
	    set->quota ? " : quota" : "");
	if (size != 0)
		fprintf(out, "\t\tsize %" PRIu32 "\n", size);
	if (set->interval)
		fputs("\t\tflags interval\n", out);
	else if (set->dynamic)
		fprintf(out, "\t\tflags dynamic%s\n",
		    set->timeout_ms != 0 ? ",timeout" : "");
	else if (set->timeout_ms != 0)
		fputs("\t\tflags timeout\n", out);
	if (set->counter)
		fputs("\t\tcounter\n", out);
	if (set->timeout_ms != 0)
		fprintf(out, "\t\ttimeout %" PRIu32 "s\n",
		    set->timeout_ms / 1000);
	fputs("\t}\n\n", out);
}

static void
print_table(FILE *out, const struct gateway_params *params,
    const struct table_form *table)
{
	fprintf(out, "table %s %s {\n", table->text, params->table);
	for (size_t i = 0; i < table->counter_count; i++)
		fprintf(out, "\tcounter %s {\n\t}\n\n", table->counters[i]);
	for (size_t i = 0; i < table->set_count; i++)
		print_set(out, params, &table->sets[i]);
	for (size_t i = 0; i < table->chain_count; i++) {
		const struct chain_form *chain = &table->chains[i];

		fprintf(out, "\tchain %s {\n", chain->name);
		print_hook(out, params, chain);
		for (size_t k = 0; k < chain->rule_count; k++)
			print_rule(out, params, &chain->rules[k]);
		fprintf(out, "\t}\n%s", i + 1 < table->chain_count ? "\n" : "");
	}
	fputs("}\n", out);
}

void
ruleset_print(FILE *out, const struct gateway_params *params)
{
	struct table_form tables[GATEWAY_TABLES];

	gateway_tables(params->masquerade, tables);
	for (size_t i = 0; i < GATEWAY_TABLES; i++) {
		if (i > 0)
			fputc('\n', out);
		print_table(out, params, &tables[i]);
	}
}
