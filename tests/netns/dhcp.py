#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""DHCPv6 as far as packets go: a question and an answer of one word.

  dhcp.py server INTERFACE               answers who asks there
  dhcp.py ask INTERFACE ADDRESS [SPORT [SOURCE]]   asks once from that port

The server prints who asked; ask prints "answered" or "silence".
"""
import socket
import struct
import sys

SERVERS = "ff02::1:2"


def server(interface):
    index = socket.if_nametoindex(interface)
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
    s.bind(("::", 547))
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP,
                 socket.inet_pton(socket.AF_INET6, SERVERS) +
                 struct.pack("I", index))
    print("listening", flush=True)
    while True:
        _, who = s.recvfrom(2048)
        print("asked by", who[0], flush=True)
        s.sendto(b"answer", who)


def ask(interface, address, sport="546", source="::"):
    index = socket.if_nametoindex(interface)
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    s.settimeout(0.5)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((source, int(sport)))
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
    try:
        s.sendto(b"question", (address, 547, 0, index))
        print("answered" if s.recv(100) == b"answer" else "strange")
    except OSError:
        print("silence")


if __name__ == "__main__":
    {"server": server, "ask": ask}[sys.argv[1]](*sys.argv[2:])
