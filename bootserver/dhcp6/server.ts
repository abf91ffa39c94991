import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { openInterfaceSocket } from '#base/boundSocket.ts';
import type { Clock } from '#base/clock.ts';
import { withoutZone } from '#base/ipv6Address.ts';
import type { Log } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import type { Boots } from '../boots.ts';
import { type Client6Facts, client6Facts } from './client.ts';
import { decide6 } from './decide.ts';
import type { Lease6Table } from './leases.ts';
import { messageType } from './message.ts';
import type { Dhcp6Network, Dhcp6Site, Reservations6 } from './network.ts';
import { answersAtSource, type Relayed, unwrap, wrap } from './relay.ts';
import type { Decision6 } from './reply.ts';

export interface Dhcp6ServerOptions {
  interfaceName: string;
  /** A socket bound by the service manager to the interface; without it one is opened on `port`. */
  fd?: number;
  port: number;
  /** The first is that of the interface; the others are behind relays. */
  networks: readonly [Dhcp6Network, ...Dhcp6Network[]];
  site: Dhcp6Site;
  reservations: Reservations6;
  leases: Lease6Table;
  boots: Boots;
  log: Log;
  clock: Clock;
}

/** All_DHCP_Relay_Agents_and_Servers (RFC 8415 §7.1): whom clients and relays ask. */
const group = 'ff02::1:2';
/** Where a relay hears answers. */
const serverPort = 547;
/** For so long a pool that had no address is not looked through again. */
const fullMs = 1_000;
/** That somebody got no address is told at most so often: its clients ask again and again. */
const warnEveryMs = 60_000;

/** What the edge keeps while it serves. */
interface Serving extends Dhcp6ServerOptions {
  socket: Socket;
  /** Replies to changes that are not on stable storage yet. */
  waiting: (() => void)[];
  fullUntil: number;
  warnedAt: number;
}

/** Answers DHCPv6 on one interface. @throws Error with a system `code` when the socket cannot be had */
export async function startDhcp6Server(options: Dhcp6ServerOptions): Promise<Closable> {
  const { interfaceName, log } = options;
  const socket = createSocket({ type: 'udp6', ipv6Only: true });
  const serving: Serving = { ...options, socket, waiting: [], fullUntil: 0, warnedAt: -warnEveryMs };
  socket.on('message', (bytes, from) => serve(bytes, from, serving));
  const listening = once(socket, 'listening');
  socket.bind({ fd: options.fd ?? openInterfaceSocket(interfaceName, options.port, 'ipv6') });
  await listening;
  socket.on('error', (error) => log.error({ err: error }, 'DHCPv6 socket failed'));
  socket.addMembership(group, `::%${interfaceName}`);
  return {
    close: async () => {
      flush(serving);
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}

/** One datagram. Nothing that a client sends gets past here as an exception. */
function serve(bytes: Buffer, from: RemoteInfo, serving: Serving): void {
  const { log } = serving;
  try {
    const relayed = unwrap(bytes);
    if ('malformed' in relayed) log.debug({ from: from.address, ...relayed }, 'no DHCPv6 message');
    else respond(relayed, from, serving);
  } catch (error) {
    log.error({ err: error, from: from.address }, 'a DHCPv6 message could not be answered');
  }
}

function respond(relayed: Relayed, from: RemoteInfo, serving: Serving): void {
  const { boots, leases, clock } = serving;
  const client = client6Facts(relayed, withoutZone(from.address));
  if (client.mac !== undefined && relayed.message.type === messageType.solicit)
    boots.discovered(client.mac, client.kind);
  const now = clock.now();
  const decision = decide6(relayed, client, { ...serving, now, poolIsFull: now < serving.fullUntil });
  if (decision.kind === 'reply') {
    for (const change of decision.changes) leases.set(change);
    whenStored(() => send(decision, relayed, from, serving), serving);
    if (decision.noAddress) outOfAddresses(client, now, serving);
  }
  record(relayed, client, decision, serving);
}

/** Nothing is told before it is on stable storage. What comes in while the disk works is written together. */
function whenStored(send: () => void, serving: Serving): void {
  const { leases, waiting } = serving;
  if (waiting.length === 0 && !leases.hasUnwritten) send();
  else if (waiting.push(send) === 1) setImmediate(() => flush(serving));
}

function flush({ leases, waiting, log }: Serving): void {
  const replies = waiting.splice(0);
  try {
    leases.commit();
  } catch (error) {
    // Clients ask again; what could not be written is tried again then.
    log.error({ err: error, replies: replies.length }, 'DHCPv6 leases could not be written, nobody is told');
    return;
  }
  for (const send of replies) send();
}

function send(
  { reply }: Extract<Decision6, { kind: 'reply' }>,
  { relays }: Relayed,
  from: RemoteInfo,
  { socket, log }: Serving,
): void {
  const port = relays.length === 0 || answersAtSource(relays) ? from.port : serverPort;
  socket.send(wrap(reply, relays), port, from.address, (error) => {
    if (error) log.warn({ err: error, to: from.address }, 'DHCPv6 reply not sent');
  });
}

/** One log line for each message, and one timeline line for each step of a boot; renewals are none. */
function record({ message }: Relayed, client: Client6Facts, decision: Decision6, serving: Serving): void {
  const { log, boots } = serving;
  const { mac, kind, duid } = client;
  const who = { mac, duid: duid?.toString('hex'), xid: message.transactionId, client: kind };
  if (decision.kind === 'silent') {
    log.debug({ ...who, reason: decision.reason }, 'DHCPv6: no reply');
    return;
  }
  const { what, addresses, bootFileUrl } = decision;
  const told = [...addresses, ...(bootFileUrl === undefined ? [] : [bootFileUrl])];
  log.info({ ...who, addresses, ...(bootFileUrl && { bootFileUrl }) }, `DHCPv6 ${what}`);
  if (mac === undefined || !stepsOfBoot.includes(message.type) || told.length === 0) return;
  boots.note(mac, 'boot.dhcp', `DHCPv6 ${what} ${told.join(', ')} (${kind})`);
}

const stepsOfBoot: readonly number[] = [
  messageType.solicit,
  messageType.request,
  messageType.informationRequest,
];

function outOfAddresses({ mac, duid, kind }: Client6Facts, now: number, serving: Serving): void {
  serving.fullUntil = now + fullMs;
  if (now - serving.warnedAt < warnEveryMs) return;
  serving.warnedAt = now;
  serving.log.warn(
    { mac, duid: duid?.toString('hex'), client: kind },
    'DHCPv6: the pool has no address left: enlarge it, or free addresses',
  );
}
