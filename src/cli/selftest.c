/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * selftest - fires known escapes from inside a sandbox's network namespace.
 *
 * The judgement is the sandbox's: whatever comes back from beyond is a
 * failure. The same attempts from this host are the control, since silence
 * proves little where nothing would answer anyway.
 */
#include "config.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/require.h"
#include "src/cli/cli.h"
#include "src/cli/load.h"
#include "src/cli/netns.h"
#include "src/cli/plan.h"

#define LIMIT_MS 1000

/* A resolver and web server that the whole world may ask, in each family. */
static const char *const usual_targets[] = { "9.9.9.9", "2620:fe::fe" };

struct options {
	const char *sandbox, *netns, *pid, *interface;
	struct plan_input input;
};

/* --- options --- */

static bool
add_target(struct plan_input *input, const char *text)
{
	if (input->target_count == PLAN_TARGETS_MAX) {
		complain("at most %d targets", PLAN_TARGETS_MAX);
		return false;
	}
	if (addr_parse(text, strlen(text),
		&input->targets[input->target_count])) {
		input->target_count++;
		return true;
	}
	complain("%s is not an address", text);
	return false;
}

/* A family without a target would be a probe without an attempt. */
static bool
add_usual(struct plan_input *input)
{
	for (size_t i = 0; i < ARRAY_LEN(usual_targets); i++) {
		const char *text = usual_targets[i];
		struct addr addr;
		bool given = false;

		if (!addr_parse(text, strlen(text), &addr))
			UNREACHABLE();
		for (size_t j = 0; j < input->target_count; j++)
			if (input->targets[j].family == addr.family)
				given = true;
		if (!given && !add_target(input, text))
			return false;
	}
	return true;
}

static bool
take_options(struct args *args, struct options *options)
{
	const char *target;

	if (args_take_flag(args, "--print")) {
		complain("--print is not in this version yet");
		return false;
	}
	options->netns = args_take_value(args, "--netns");
	options->pid = args_take_value(args, "--pid");
	options->interface = args_take_value(args, "--interface");
	while ((target = args_take_value(args, "--target")) != NULL)
		if (!add_target(&options->input, target))
			return false;
	options->sandbox = args_take_word(args);
	if (!args_done(args))
		return false;
	if (options->netns != NULL && options->pid != NULL) {
		complain("either --netns or --pid");
		return false;
	}
	return add_usual(&options->input);
}

static const struct edge_sandbox *
find_sandbox(const struct edge_config *edge, const struct options *options)
{
	if (options->sandbox == NULL && options->interface == NULL &&
	    edge->sandbox_count == 1)
		return &edge->sandboxes[0];
	for (size_t i = 0; i < edge->sandbox_count; i++) {
		const struct edge_sandbox *sandbox = &edge->sandboxes[i];

		if (options->sandbox != NULL
			? strcmp(sandbox->name, options->sandbox) == 0
			: options->interface != NULL &&
			    strcmp(sandbox->interface, options->interface) == 0)
			return sandbox;
	}
	return NULL;
}

/* --- inside the sandbox --- */

/* The interface that has one of the sandbox's addresses; else the first that
 * is up and leads anywhere. 0: none. */
static unsigned
sandbox_interface(const struct plan *plan)
{
	struct ifaddrs *list;
	unsigned found = 0;

	if (getifaddrs(&list) < 0)
		return 0;
	for (const struct ifaddrs *at = list; at != NULL; at = at->ifa_next) {
		struct sockaddr_in v4;

		if (!(at->ifa_flags & IFF_UP) || at->ifa_flags & IFF_LOOPBACK)
			continue;
		if (found == 0)
			found = if_nametoindex(at->ifa_name);
		if (at->ifa_addr == NULL || plan->source4.family == 0 ||
		    at->ifa_addr->sa_family != AF_INET)
			continue;
		memcpy(&v4, at->ifa_addr, sizeof(v4));
		if (memcmp(&v4.sin_addr, plan->source4.bytes, 4) != 0)
			continue;
		found = if_nametoindex(at->ifa_name);
		break;
	}
	freeifaddrs(list);
	return found;
}

static void
lend(unsigned ifindex, const struct plan *plan, bool add)
{
	if (plan->spoof4.family != 0)
		netns_address(ifindex, &plan->spoof4, add);
	if (plan->spoof6.family != 0)
		netns_address(ifindex, &plan->spoof6, add);
}

/* A lent address would be a source that the kernel may choose for any attempt:
 * so the spoofed ones go alone, and last. */
static void
fire_all(struct plan *plan, unsigned ifindex)
{
	size_t spoof = plan->count;

	while (spoof > 0 && plan->probe[spoof - 1] == PLAN_SPOOF)
		spoof--;
	for (size_t i = 0; i < spoof; i++)
		if (plan->attempts[i].ifindex != 0)
			plan->attempts[i].ifindex = ifindex;
	probe_fire(plan->attempts, spoof, LIMIT_MS);
	lend(ifindex, plan, true);
	probe_fire(plan->attempts + spoof, plan->count - spoof, LIMIT_MS);
	lend(ifindex, plan, false);
}

_Noreturn static void
fire_inside(struct plan *plan, int ns)
{
	if (setns(ns, CLONE_NEWNET) < 0) {
		complain("cannot enter the network namespace: %s",
		    strerror(errno));
		_exit(CLI_ENVIRONMENT);
	}
	unsigned ifindex = sandbox_interface(plan);
	if (ifindex == 0) {
		complain("the sandbox has no interface that is up");
		_exit(CLI_ENVIRONMENT);
	}
	fire_all(plan, ifindex);
	_exit(CLI_OK);
}

static int
fire(struct plan *plan, int ns)
{
	int status;

	probe_fire(plan->control, plan->count, LIMIT_MS);
	pid_t child = fork();
	if (child < 0) {
		complain("fork: %s", strerror(errno));
		return CLI_ENVIRONMENT;
	}
	if (child == 0)
		fire_inside(plan, ns);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return CLI_ENVIRONMENT;
	return WIFEXITED(status) ? WEXITSTATUS(status) : CLI_ENVIRONMENT;
}

/* --- the report --- */

struct tally {
	size_t attempts, escaped, unable, live;
	bool seen[PROBE_UNABLE + 1];
};

static bool
came_back(const struct attempt *attempt)
{
	return attempt->outcome == PROBE_ANSWERED ||
	    attempt->outcome == PROBE_REACHED;
}

static struct tally
tally_of(const struct plan *plan, enum plan_probe probe)
{
	struct tally tally = { 0 };

	for (size_t i = 0; i < plan->count; i++) {
		if (plan->probe[i] != probe)
			continue;
		tally.attempts++;
		tally.escaped += came_back(&plan->attempts[i]);
		tally.unable += plan->attempts[i].outcome == PROBE_UNABLE;
		tally.live += came_back(&plan->control[i]);
		tally.seen[plan->attempts[i].outcome] = true;
	}
	return tally;
}

static const char *
result_of(const struct tally *tally)
{
	if (tally->escaped > 0)
		return "FAIL";
	return tally->unable == tally->attempts ? "not tried" : "pass";
}

static void
put_attempt(const struct attempt *attempt)
{
	char text[ADDR_TEXT_MAX];

	addr_print(&attempt->to, text);
	printf("           %s/%u at %s: %s after %u ms\n",
	    attempt->service.protocol == PROTO_TCP ? "tcp" : "udp",
	    (unsigned)attempt->service.port, text,
	    probe_outcome_text(attempt->outcome),
	    (unsigned)attempt->elapsed_ms);
}

static void
put_probe(const struct plan *plan, enum plan_probe probe,
    const struct tally *tally)
{
	const char *comma = "";

	printf("%-9s  %-30s ", result_of(tally), plan_probe_text(probe));
	for (size_t i = PROBE_ANSWERED; i <= PROBE_UNABLE; i++) {
		if (!tally->seen[i])
			continue;
		printf("%s%s", comma,
		    probe_outcome_text((enum probe_outcome)i));
		comma = ", ";
	}
	printf(" (%zu tried, %zu answer this host)\n", tally->attempts,
	    tally->live);
	for (size_t i = 0; i < plan->count; i++)
		if (plan->probe[i] == probe && came_back(&plan->attempts[i]))
			put_attempt(&plan->attempts[i]);
}

static void
put_probe_json(const struct plan *plan, enum plan_probe probe,
    const struct tally *tally)
{
	const char *comma = "";
	char text[ADDR_TEXT_MAX];

	printf("{\"probe\":\"%s\",\"result\":\"%s\",\"live\":%zu,"
	       "\"attempts\":[",
	    plan_probe_name(probe), result_of(tally), tally->live);
	for (size_t i = 0; i < plan->count; i++) {
		const struct attempt *attempt = &plan->attempts[i];

		if (plan->probe[i] != probe)
			continue;
		addr_print(&attempt->to, text);
		printf("%s{\"transport\":\"%s\",\"address\":\"%s\","
		       "\"port\":%u,\"outcome\":\"%s\",\"ms\":%u}",
		    comma,
		    attempt->service.protocol == PROTO_TCP ? "tcp" : "udp",
		    text, (unsigned)attempt->service.port,
		    probe_outcome_text(attempt->outcome),
		    (unsigned)attempt->elapsed_ms);
		comma = ",";
	}
	printf("]}\n");
}

static int
report(const struct cli *cli, const struct plan *plan)
{
	size_t passed = 0, probes = 0;

	for (int i = 0; i <= PLAN_LAST; i++) {
		enum plan_probe probe = (enum plan_probe)i;
		struct tally tally = tally_of(plan, probe);

		probes++;
		passed += strcmp(result_of(&tally), "pass") == 0;
		if (cli->json)
			put_probe_json(plan, probe, &tally);
		else
			put_probe(plan, probe, &tally);
	}
	if (!cli->json)
		printf("%zu of %zu probes were stopped\n", passed, probes);
	return passed == probes ? CLI_OK : CLI_NO;
}

/* --- the command --- */

static void
complain_sandbox(const struct options *options, int error)
{
	if (options->netns != NULL)
		complain("network namespace %s: %s; \"ip netns\" lists those "
			 "that have a name",
		    options->netns, strerror(-error));
	else if (options->pid != NULL)
		complain("process %s: %s", options->pid,
		    error == -ENOENT ? "there is none" : strerror(-error));
	else if (error == -ENODEV)
		complain("there is no interface %s here; run this where the "
			 "sandbox's interface is",
		    options->input.interface);
	else if (error == -ENOTUNIQ || error == -ENOENT || error == -EINVAL)
		complain("the sandbox's network namespace cannot be found: it "
			 "has neither a name nor a process here; name it with "
			 "--netns NAME or --pid PID");
	else
		complain("the sandbox's network namespace: %s",
		    strerror(-error));
}

static int
open_sandbox(const struct options *options)
{
	const char *interface = options->input.interface;
	int ns = -EINVAL;

	if (options->netns != NULL)
		ns = netns_open_name(options->netns);
	else if (options->pid != NULL)
		ns = netns_open_pid(options->pid);
	else if (interface[0] != '\0')
		ns = netns_open_peer(interface);
	if (ns >= 0)
		return ns;
	complain_sandbox(options, ns);
	return -1;
}

static int
run(const struct cli *cli, struct options *options)
{
	struct plan_input *input = &options->input;

	input->sandbox = find_sandbox(input->edge, options);
	if (input->sandbox == NULL) {
		if (options->sandbox != NULL)
			complain("no sandbox %s in %s", options->sandbox,
			    cli_config(cli));
		else
			complain("which of the %zu sandboxes in %s? Give its "
				 "name",
			    input->edge->sandbox_count, cli_config(cli));
		return CLI_USAGE;
	}
	input->interface = options->interface;
	if (input->interface == NULL)
		input->interface = input->sandbox->interface;
	int ns = open_sandbox(options);
	if (ns < 0)
		return CLI_ENVIRONMENT;
	struct plan *plan = mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = CLI_ENVIRONMENT;
	if (plan != MAP_FAILED) {
		plan_make(plan, input);
		fflush(stdout);
		status = fire(plan, ns);
		if (status == CLI_OK)
			status = report(cli, plan);
		munmap(plan, sizeof(*plan));
	}
	close(ns);
	return status;
}

int
cmd_selftest(const struct cli *cli, struct args *args)
{
	struct options options = { 0 };
	struct text_error error;
	struct edge_config *edge;

	if (!take_options(args, &options))
		return CLI_USAGE;
	if (geteuid() != 0) {
		complain("selftest enters a network namespace: only root may");
		return CLI_ENVIRONMENT;
	}
	int result = load_edge(cli_config(cli), &edge, &error);
	if (result == -EINVAL)
		complain("%s:%u:%u: %s", error.file, (unsigned)error.line,
		    (unsigned)error.column, error.reason);
	if (result < 0)
		return CLI_ENVIRONMENT;
	options.input.edge = edge;
	int status = run(cli, &options);
	edge_config_free(edge);
	return status;
}
