/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "src/helper/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/helper/log.h"

void
notify_ready(void)
{
	static const char message[] = "READY=1\nSTATUS=serving";
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t len = path != NULL ? strlen(path) : 0;
	int fd;

	if (len == 0 || len >= sizeof(to.sun_path))
		return;
	memcpy(to.sun_path, path, len);
	if (path[0] == '@')
		to.sun_path[0] = '\0'; /* an abstract name */
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 ||
	    sendto(fd, message, sizeof(message) - 1, MSG_NOSIGNAL,
		(const struct sockaddr *)&to,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) < 0)
		log_warn("service manager: could not be told: %s",
		    strerror(errno));
	if (fd >= 0)
		close(fd);
}
