#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Frames that a machine on a bridge may and may not send.

  frames.py make FILE               writes them all: "FROM VERDICT NAME HEX" a line
  frames.py send FILE FROM [NAME]   sends those of one machine by eth0
  frames.py listen INTERFACE        prints the name in each that arrives

VERDICT is "host" for what must reach the bridge itself, "judged" for what the
gateway refuses, with bridge-nf-call-* before it is there, "dropped" for what
must reach nobody. No frame may reach another machine that is or meets a
sandbox. Each bears its name; scapy is only needed to make them.
"""
import re
import socket
import sys
import time

MARK = re.compile(rb"<([0-9a-z-]+)>")
MAC = {n: f"02:00:00:00:00:0{i}" for n, i in
       (("box1", 1), ("box2", 2), ("third", 3))}
IP4 = {"box1": "192.0.2.11", "box2": "192.0.2.12", "third": "192.0.2.13"}
IP6 = {"box1": "2001:db8:1::11", "box2": "2001:db8:1::12",
       "third": "2001:db8:1::13"}
HOST_MAC, HOST4, HOST6 = "02:00:00:00:00:fe", "192.0.2.1", "2001:db8:1::1"
LOCAL, AWAY = "fe80::99", "2001:db8:100::10"
ALL = "ff:ff:ff:ff:ff:ff"


def make(path):
    from scapy.all import (ARP, DHCP, BOOTP, Dot1Q, Ether, IP, IPv6, LLC, Dot3,
                           ICMPv6MLReport, ICMPv6ND_NA, ICMPv6ND_NS,
                           ICMPv6ND_RA, ICMPv6ND_Redirect, Raw, UDP)
    lines = []

    def add(sender, verdict, name, *layers):
        frame = layers[0]
        for layer in layers[1:]:
            frame = frame / layer
        octets = bytes(frame / Raw(f"<{sender}-{name}>".encode()))
        # Hosts take ARP of IEEE 802 for that of Ethernet.
        if name.startswith("arp-ieee"):
            octets = octets[:14] + b"\0\x06" + octets[16:]
        lines.append(f"{sender} {verdict} {name} {octets.hex()}\n")

    def ether(sender, to=HOST_MAC, **more):
        return Ether(src=MAC[sender], dst=to, **more)

    def ip4(src, dst=HOST4):
        return IP(src=src, dst=dst) / UDP(sport=9, dport=9)

    def ip6(src, dst=HOST6):
        return IPv6(src=src, dst=dst, hlim=255)

    def arp(sender, address, **more):
        return ARP(hwsrc=MAC[sender], psrc=address, pdst=HOST4, **more)

    for me, other in (("box1", "box2"), ("box2", "box1")):
        e = ether(me)
        ok = lambda name, *layers: add(me, "host", name, *layers)
        bad = lambda name, *layers: add(me, "dropped", name, *layers)
        ok("own-arp", ether(me, ALL), arp(me, IP4[me]))
        add(me, "judged", "own-ip4", e, ip4(IP4[me]))
        add(me, "judged", "own-ip6", e, ip6(IP6[me]), UDP(sport=9, dport=9))
        ok("own-ns", e, ip6(IP6[me]), ICMPv6ND_NS(tgt=HOST6))
        ok("local-ns", e, ip6(LOCAL), ICMPv6ND_NS(tgt=HOST6))
        ok("dad", e, ip6("::"), ICMPv6ND_NS(tgt=IP6[me]))
        ok("own-na", e, ip6(IP6[me]), ICMPv6ND_NA(tgt=IP6[me]))
        ok("local-na", e, ip6(LOCAL), ICMPv6ND_NA(tgt=LOCAL))
        bad("other-ip4", e, ip4(IP4[other]))
        bad("second-ip4", e, ip4("192.0.2.77"))
        bad("third-ip4", e, ip4(IP4["third"]))
        bad("other-ip6", e, ip6(IP6[other]), UDP())
        bad("second-ip6", e, ip6("2001:db8:1::77"), UDP())
        bad("local-ip6", e, ip6(LOCAL), UDP())
        bad("other-arp", ether(me, ALL), arp(me, IP4[other]))
        bad("second-arp", ether(me, ALL), arp(me, "192.0.2.77"))
        bad("arp-reply", e, arp(me, IP4[other], op=2))
        bad("arp-ieee", e, arp(me, IP4[me]))
        bad("other-na", e, ip6(LOCAL), ICMPv6ND_NA(tgt=IP6[other]))
        bad("host-na", e, ip6(IP6[me]), ICMPv6ND_NA(tgt=HOST6))
        bad("carrier-na", e, ip6(IP6["third"], AWAY),
            ICMPv6ND_NA(tgt=IP6[me]))
        bad("ra", e, ip6(LOCAL), ICMPv6ND_RA())
        bad("own-ra", e, ip6(IP6[me]), ICMPv6ND_RA())
        bad("redirect", e, ip6(LOCAL), ICMPv6ND_Redirect(tgt=LOCAL, dst=AWAY))
        bad("mld", e, IPv6(src=LOCAL, dst="ff02::1", hlim=1),
            ICMPv6MLReport(mladdr="ff02::99"))
        bad("dhcp", ether(me, ALL), IP(src="0.0.0.0", dst="255.255.255.255"),
            UDP(sport=68, dport=67), BOOTP(op=1),
            DHCP(options=[("message-type", 1), "end"]))
        bad("odd", ether(me, ALL, type=0x88b5))
        bad("vlan", e, Dot1Q(vlan=1), ip4(IP4[me]))
        bad("llc", Dot3(src=MAC[me], dst=HOST_MAC), LLC(dsap=1, ssap=1))
        bad("other-mac", Ether(src=MAC[other], dst=HOST_MAC), ip4(IP4[me])) \
            if me == "box2" else \
            bad("any-mac", Ether(src="02:00:00:00:00:77", dst=HOST_MAC),
                ip4(IP4[me]))
        # The bridge learns from frames to its own group addresses as well.
        for last in ("00", "03", "0e"):
            bad(f"group-{last}", Ether(src=MAC[other],
                dst=f"01:80:c2:00:00:{last}", type=0x88cc))
        bad("to-other", ether(me, MAC[other]), ip4(IP4[me], IP4[other]))
        bad("to-third", ether(me, MAC["third"]), ip4(IP4[me], IP4["third"]))
        bad("to-third6", ether(me, MAC["third"]), ip6(IP6[me], IP6["third"]),
            UDP(sport=9, dport=9))
    me = "third"
    e = ether(me)
    add(me, "host", "own-ip4", e, ip4(IP4[me]))
    add(me, "host", "own-arp", ether(me, ALL), arp(me, IP4[me]))
    add(me, "host", "odd", ether(me, ALL, type=0x88b5))
    add(me, "host", "second-ip4", e, ip4("192.0.2.77"))
    add(me, "host", "na", e, ip6(LOCAL), ICMPv6ND_NA(tgt=IP6[me]))
    for other in ("box1", "box2"):
        bad = lambda name, *layers: add(me, "dropped", f"{name}-{other}",
                                        *layers)
        bad("ip4", e, ip4(IP4[other]))
        bad("ip6", e, ip6(IP6[other]), UDP())
        bad("arp", ether(me, ALL), arp(me, IP4[other]))
        bad("arp-ieee", ether(me, ALL), arp(me, IP4[other]))
        bad("na", e, ip6(LOCAL), ICMPv6ND_NA(tgt=IP6[other]))
        bad("to", ether(me, MAC[other]), ip4(IP4[me], IP4[other]))
    add(me, "dropped", "mac", Ether(src=MAC["box1"], dst=HOST_MAC),
        ip4(IP4[me]))
    with open(path, "w") as f:
        f.writelines(lines)


def send(path, sender, only=None):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    s.bind(("eth0", 0))
    with open(path) as f:
        for line in f:
            who, _, name, frame = line.split()
            if who == sender and only in (None, name):
                s.send(bytes.fromhex(frame))
                time.sleep(0.002)


def listen(interface):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    s.bind((interface, 0))
    print("listening", flush=True)
    while True:
        frame, where = s.recvfrom(65536)
        found = MARK.search(frame)
        if found and where[2] != socket.PACKET_OUTGOING:
            print(found.group(1).decode(), flush=True)


{"make": make, "send": send, "listen": listen}[sys.argv[1]](*sys.argv[2:])
