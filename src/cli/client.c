/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * client - one command to the daemon's status socket.
 */
#include "config.h"

#include "src/cli/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/command.h"

#define PROTOCOL "1"

static int
connect_to(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t len = strlen(path);

	if (len >= sizeof(to.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(to.sun_path, path, len + 1);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0)
		return fd;
	int saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

static const char *
advice(int error)
{
	switch (error) {
	case ENOENT:
	case ECONNREFUSED:
		return "; is namewalld running? --socket says where it listens";
	case EACCES:
		return "; only root and the socket's group may ask";
	default:
		return "";
	}
}

static bool
send_words(FILE *stream, const char *const words[CLIENT_WORDS_MAX])
{
	char line[COMMAND_LINE_MAX];
	size_t len = 0;

	for (size_t i = 0; words[i] != NULL; i++) {
		if (i > 0)
			line[len++] = ' ';
		size_t added = command_put_word(line + len,
		    sizeof(line) - len - 2, words[i]);
		if (added == 0)
			return false;
		len += added;
	}
	line[len++] = '\n';
	return fwrite(line, 1, len, stream) == len && fflush(stream) == 0;
}

/* The greeting; anything else is not our daemon. */
static bool
greeted(struct client *client)
{
	struct json json;
	ssize_t len = getline(&client->line, &client->size, client->stream);

	if (len <= 0 || !json_read(&json, client->line, (size_t)len))
		return false;
	bool ok = strcmp(json_show(&json, "protocol", ""), PROTOCOL) == 0;
	json_free(&json);
	if (ok && client->cli->json)
		fwrite(client->line, 1, (size_t)len, stdout);
	return ok;
}

bool
client_open(struct client *client, const struct cli *cli,
    const char *const words[CLIENT_WORDS_MAX])
{
	*client = (struct client){ .cli = cli, .status = CLI_ENVIRONMENT };
	int fd = connect_to(cli->socket);
	if (fd < 0) {
		complain("%s: %s%s", cli->socket, strerror(errno),
		    advice(errno));
		return false;
	}
	client->stream = fdopen(fd, "r+");
	if (client->stream == NULL) {
		complain("%s: %s", cli->socket, strerror(errno));
		close(fd);
		return false;
	}
	if (!send_words(client->stream, words)) {
		complain("the command is too long or could not be sent");
		client_close(client);
		client->status = CLI_USAGE;
		return false;
	}
	if (greeted(client))
		return true;
	complain("%s: this is not namewall's protocol " PROTOCOL, cli->socket);
	client_close(client);
	return false;
}

static int
status_of(const char *code)
{
	static const struct {
		const char *code;
		int status;
	} table[] = {
		{ "not-yet", CLI_USAGE },
		{ "usage", CLI_USAGE },
		{ "unknown-command", CLI_USAGE },
		{ "unknown-sandbox", CLI_USAGE },
		{ "unknown-policy", CLI_USAGE },
		{ "unknown-rule", CLI_USAGE },
		{ "bad-name", CLI_USAGE },
		{ "bad-type", CLI_USAGE },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(code, table[i].code) == 0)
			return table[i].status;
	return CLI_NO;
}

/* The last line says how it went. */
static bool
is_verdict(struct client *client, const struct json *json)
{
	if (json_has(json, "event"))
		return false;
	if (json_true(json, "ok")) {
		client->status = CLI_OK;
		return true;
	}
	const char *code = json_get(json, "error.code");
	if (code == NULL)
		return false;
	client->status = status_of(code);
	complain("%s", json_show(json, "error.message", code));
	return true;
}

enum client_event
client_next(struct client *client, struct json *ret)
{
	struct json json;
	ssize_t len = getline(&client->line, &client->size, client->stream);

	client->status = CLI_ENVIRONMENT;
	if (len <= 0) {
		complain("%s: the daemon went away", client->cli->socket);
		return CLIENT_END;
	}
	if (!json_read(&json, client->line, (size_t)len)) {
		complain("%s: a line that is not JSON", client->cli->socket);
		return CLIENT_END;
	}
	if (client->cli->json)
		fwrite(client->line, 1, (size_t)len, stdout);
	if (!is_verdict(client, &json)) {
		*ret = json;
		return CLIENT_LINE;
	}
	json_free(&json);
	return CLIENT_END;
}

void
client_close(struct client *client)
{
	if (client->stream != NULL)
		fclose(client->stream);
	free(client->line);
	client->stream = NULL;
	client->line = NULL;
}
