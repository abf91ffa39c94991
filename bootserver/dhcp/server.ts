import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { openInterfaceSocket } from '#base/boundSocket.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import type { Boots } from '../boots.ts';
import { type ClientFacts, clientFacts } from './client.ts';
import { type Decision, decide } from './decide.ts';
import { replyDestination } from './destination.ts';
import type { LeaseTable } from './leases.ts';
import type { DhcpNetwork, Reservations } from './network.ts';
import { type DhcpPacket, decodePacket, encodePacket, hardwareAddress } from './packet.ts';

export interface DhcpServerOptions {
  interfaceName: string;
  /** A socket bound by the service manager to the interface; without it one is opened on `port`. */
  fd?: number;
  port: number;
  network: DhcpNetwork;
  reservations: Reservations;
  leases: LeaseTable;
  boots: Boots;
  log: Log;
  clock: Clock;
}

/** Answers DHCP on one interface. @throws Error with a system `code` when the socket cannot be had */
export async function startDhcpServer(options: DhcpServerOptions): Promise<Closable> {
  const socket = createSocket('udp4');
  socket.on('message', (bytes, from) => serve(bytes, from, socket, options));
  const listening = once(socket, 'listening');
  socket.bind({ fd: options.fd ?? openInterfaceSocket(options.interfaceName, options.port) });
  await listening;
  socket.on('error', (error) => options.log.error({ err: error }, 'DHCP socket failed'));
  socket.setBroadcast(true);
  return { close: () => closed(socket) };
}

/** One datagram. Nothing that a client sends gets past here as an exception. */
function serve(bytes: Buffer, from: RemoteInfo, socket: Socket, options: DhcpServerOptions): void {
  const { log } = options;
  try {
    const packet = decodePacket(bytes);
    if ('malformed' in packet) log.debug({ from: from.address, ...packet }, 'no DHCP message');
    else respond(packet, socket, options);
  } catch (error) {
    log.error({ err: error, from: from.address }, 'a DHCP message could not be answered');
  }
}

function respond(packet: DhcpPacket, socket: Socket, options: DhcpServerOptions): void {
  const { boots, leases, network, reservations, clock } = options;
  const client = clientFacts(packet);
  if (client.mac !== undefined && packet.options.get(53)?.[0] === 1)
    boots.discovered(client.mac, client.kind);
  const loaderGiven = client.mac !== undefined && boots.hasLoader(client.mac);
  const decision = decide(packet, client, { network, leases, reservations, now: clock.now(), loaderGiven });
  for (const change of decision.changes) leases.apply(change);
  if (decision.kind === 'reply') send(decision.reply, socket, options);
  record(packet, client, decision, options);
}

function send(reply: DhcpPacket, socket: Socket, { log }: DhcpServerOptions): void {
  const { address, port } = replyDestination(reply);
  socket.send(encodePacket(reply), port, address, (error) => {
    if (error) log.warn({ err: error, to: address, mac: hardwareAddress(reply) }, 'DHCP reply not sent');
  });
}

/** One log line for each message, and one timeline line for each step of a boot; renewals are none. */
function record(
  packet: DhcpPacket,
  client: ClientFacts,
  decision: Decision,
  { log, boots }: DhcpServerOptions,
): void {
  const who = { mac: hardwareAddress(packet), xid: packet.xid, client: client.kind };
  if (decision.kind === 'silent') {
    log.debug({ ...who, reason: decision.reason }, 'DHCP: no reply');
    return;
  }
  const { what, reply } = decision;
  const { yiaddr: address, file } = reply;
  log[what === 'NAK' ? 'warn' : 'info']({ ...who, address, ...(file && { file }) }, `DHCP ${what}`);
  if (client.mac === undefined || packet.ciaddr !== '0.0.0.0') return;
  const boot = file === '' ? '' : `, ${file}`;
  const text = what === 'NAK' ? 'address refused' : `${what} ${address}${boot}`;
  boots.note(client.mac, 'boot.dhcp', `${text} (${client.kind})`);
}

async function closed(socket: Socket): Promise<void> {
  const done = once(socket, 'close');
  socket.close();
  await done;
}
