import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { Log } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import type { Boots } from '../boots.ts';
import type { HeardAddresses } from '../heardAddresses.ts';
import type { PacketTap } from '../packetTap.ts';
import { clientFacts } from './client.ts';
import type { DhcpNetwork, Reservations } from './network.ts';
import { networkOf } from './networkOf.ts';
import { observeOn4011 } from './observe.ts';
import { type DhcpPacket, decodePacket, encodePacket, hardwareAddress } from './packet.ts';
import { decideOn4011, destinationOn4011 } from './pxe4011.ts';
import { replyFact } from './replyFact.ts';
import { tapReply, tapRequest } from './tapped.ts';

export interface Server4011Options {
  tap?: PacketTap;
  /** Our own on the network; an answer leaves from the address that was asked. */
  address: string;
  /** A socket bound by the service manager to `address`; without it one is opened on `port`. */
  fd?: number;
  /** 4011 but in tests. */
  port: number;
  /** That of the interface first, then those that relays forward from. */
  networks: readonly [DhcpNetwork, ...DhcpNetwork[]];
  reservations: Reservations;
  boots: Boots;
  heard: HeardAddresses;
  log: Log;
}

export interface Server4011 extends Closable {
  readonly port: number;
}

/** Answers what PXE firmware asks a boot server on port 4011. @throws Error with a system `code` when the socket cannot be had */
export async function startServer4011(options: Server4011Options): Promise<Server4011> {
  const socket = createSocket('udp4');
  socket.on('message', (bytes, from) => serve(bytes, from, socket, options));
  const listening = once(socket, 'listening');
  if (options.fd === undefined) socket.bind(options.port, options.address);
  else socket.bind({ fd: options.fd });
  await listening;
  socket.on('error', (error) => options.log.error({ err: error }, 'port 4011 failed'));
  socket.setBroadcast(true);
  return {
    port: socket.address().port,
    async close() {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}

/** One datagram. Nothing that a client sends gets past here as an exception. */
function serve(bytes: Buffer, from: RemoteInfo, socket: Socket, options: Server4011Options): void {
  const { log } = options;
  try {
    const packet = decodePacket(bytes);
    if ('malformed' in packet) log.debug({ from: from.address, ...packet }, 'no DHCP message');
    else {
      tapRequest(options.tap, packet, { bytes, from, own: options.address, port: 4011 });
      answer(packet, from, socket, options);
    }
  } catch (error) {
    log.error({ err: error, from: from.address }, 'a message on port 4011 could not be answered');
  }
}

function answer(packet: DhcpPacket, from: RemoteInfo, socket: Socket, options: Server4011Options): void {
  const { boots, log, networks, reservations } = options;
  const network = networkOf(packet, networks) ?? networks[0];
  const client = clientFacts(packet);
  const who = { mac: hardwareAddress(packet), xid: packet.xid, client: client.kind };
  const decision = decideOn4011(packet, client, { network, reservations, ...boots.stateOf(client.mac) });
  if ('silent' in decision) {
    if (decision.trouble !== undefined) boots.count(decision.trouble);
    log.debug({ ...who, reason: decision.silent }, 'port 4011: no reply');
    return;
  }
  observeOn4011(packet, client, network, options);
  const { reply } = decision;
  const { address, port } = destinationOn4011(packet, from);
  const bytes = encodePacket(reply);
  tapReply(options.tap, reply, { bytes, to: { address, port }, own: options.address, port: 4011 });
  socket.send(bytes, port, address, (error) => {
    if (error) log.warn({ err: error, to: address, ...who }, 'answer from port 4011 not sent');
  });
  log.info({ ...who, to: address, file: reply.file }, 'port 4011: ACK');
  if (client.mac !== undefined)
    boots.note(
      client.mac,
      'boot.dhcp',
      `ACK from port 4011, ${reply.file} (${client.kind})`,
      replyFact('ACK', client.kind, reply.file),
    );
}
