import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { openInterfaceSocket } from '#base/boundSocket.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import type { Boots } from '../boots.ts';
import type { HeardAddresses } from '../heardAddresses.ts';
import { type AddressView, candidates, poolUse, reservedAddress } from './allocation.ts';
import { type ClientFacts, clientFacts } from './client.ts';
import { Conversations } from './conversations.ts';
import { type Decision, decide } from './decide.ts';
import { replyDestination } from './destination.ts';
import type { LeaseTable } from './leases.ts';
import type { DhcpNetwork, Reservations } from './network.ts';
import { networkOf } from './networkOf.ts';
import { observeMessage, observeOffer } from './observe.ts';
import { readOption } from './options.ts';
import { type DhcpPacket, decodePacket, encodePacket, hardwareAddress } from './packet.ts';
import { type HostView, kernelNeighbours, Probes } from './probes.ts';
import { messageType } from './reply.ts';

export interface DhcpServerOptions {
  interfaceName: string;
  /** A socket bound by the service manager to the interface; without it one is opened on `port`. */
  fd?: number;
  port: number;
  /** That of the interface first, then those that relays forward from. */
  networks: readonly [DhcpNetwork, ...DhcpNetwork[]];
  reservations: Reservations;
  leases: LeaseTable;
  boots: Boots;
  heard: HeardAddresses;
  log: Log;
  clock: Clock;
}

/** Addresses that are known to be free before somebody asks, so that no OFFER waits for a probe. */
const probedAhead = 16;
/** Half of the time for which a probe counts. */
const probeAgainMs = 60_000;
/** That somebody got no address is told at most so often: its clients ask again and again. */
const warnEveryMs = 60_000;

/** What the edge keeps while it serves. */
interface Serving extends DhcpServerOptions {
  socket: Socket;
  probes: Probes;
  conversations: Conversations;
  warnedAt?: number;
}

/** Answers DHCP on one interface. @throws Error with a system `code` when the socket cannot be had */
export async function startDhcpServer(options: DhcpServerOptions): Promise<Closable> {
  const socket = createSocket('udp4');
  const neighbours = kernelNeighbours(options.interfaceName);
  const probes = new Probes({
    ...neighbours,
    clock: options.clock,
    onHost: (address, mac) => foundHost(address, mac, options),
  });
  const serving: Serving = { ...options, socket, probes, conversations: new Conversations() };
  socket.on('message', (bytes, from) => serve(bytes, from, serving));
  const listening = once(socket, 'listening');
  socket.bind({ fd: options.fd ?? openInterfaceSocket(options.interfaceName, options.port) });
  await listening;
  socket.on('error', (error) => options.log.error({ err: error }, 'DHCP socket failed'));
  socket.setBroadcast(true);
  probeAhead(serving);
  const timer = setInterval(() => probeAhead(serving), probeAgainMs);
  return {
    close: async () => {
      clearInterval(timer);
      probes.close();
      neighbours.close();
      await closed(socket);
    },
  };
}

/** One datagram. Nothing that a client sends gets past here as an exception. */
function serve(bytes: Buffer, from: RemoteInfo, serving: Serving): void {
  const { log } = serving;
  try {
    const packet = decodePacket(bytes);
    if ('malformed' in packet) log.debug({ from: from.address, ...packet }, 'no DHCP message');
    else respond(packet, serving);
  } catch (error) {
    log.error({ err: error, from: from.address }, 'a DHCP message could not be answered');
  }
}

function respond(packet: DhcpPacket, serving: Serving): void {
  const { boots, leases, log, networks } = serving;
  const network = networkOf(packet, networks);
  if (network === undefined) {
    log.debug(
      { mac: hardwareAddress(packet), relay: packet.giaddr },
      'DHCP: from a network that is not served here',
    );
    return;
  }
  const client = serving.conversations.clientOf(packet, clientFacts(packet));
  observeMessage(packet, client, network, serving);
  const decision = decide(packet, client, { ...addressView(network, serving), ...boots.stateOf(client.mac) });
  for (const change of decision.changes) leases.apply(change);
  if (decision.kind === 'reply') send(decision.reply, serving);
  record(packet, client, decision, network, serving);
  if (readOption(packet.options, 'messageType') === messageType.discover && network.mode !== '4011-only')
    observeOffer(client, decision.kind === 'reply' ? decision.reply : undefined, network, serving);
  if (decision.kind === 'reply' && decision.what === 'OFFER' && decision.changes.length > 0) {
    if (network === networks[0]) serving.probes.begin([decision.reply.yiaddr]);
    probeAhead(serving);
  }
}

/** Hosts behind a relay are not our neighbours: nothing is known of them. */
const strangers: HostView = { hostAt: () => undefined, unanswered: () => [] };

function addressView(network: DhcpNetwork, serving: Serving): AddressView {
  const { networks, leases, reservations, probes, clock } = serving;
  const hosts = network === networks[0] ? probes : strangers;
  return { network, leases, reservations, hosts, now: clock.now() };
}

function probeAhead(serving: Serving): void {
  if (serving.networks[0].mode !== 'full') return;
  serving.probes.begin(candidates(addressView(serving.networks[0], serving), probedAhead));
}

/** The holder of an expired lease may go on using its address: it is not given to others, and that is nobody's fault. */
function foundHost(address: string, mac: string, { leases, log }: DhcpServerOptions): void {
  if (leases.macAt(address) === mac) return;
  log.warn({ address, host: mac }, 'a host that has no lease answers at an address of ours');
}

function send(reply: DhcpPacket, { socket, log }: Serving): void {
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
  network: DhcpNetwork,
  serving: Serving,
): void {
  const { log, boots } = serving;
  const who = { mac: hardwareAddress(packet), xid: packet.xid, client: client.kind };
  if (decision.kind === 'silent') {
    log.debug({ ...who, reason: decision.reason }, 'DHCP: no reply');
    if (decision.noAddress) warnOfNoAddress(who, client, network, serving);
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

function warnOfNoAddress(
  who: { mac: string; client: string },
  client: ClientFacts,
  network: DhcpNetwork,
  serving: Serving,
): void {
  const now = serving.clock.now();
  if (serving.warnedAt !== undefined && now - serving.warnedAt < warnEveryMs) return;
  serving.warnedAt = now;
  const view = addressView(network, serving);
  const address = reservedAddress(client, view);
  if (address === undefined)
    serving.log.warn(
      { ...who, pool: poolUse(view) },
      'DHCP: the pool has no address left: enlarge it, or free addresses',
    );
  else
    serving.log.warn(
      { ...who, address, host: view.hosts.hostAt(address) },
      'DHCP: another host has the address that is reserved for this machine',
    );
}

async function closed(socket: Socket): Promise<void> {
  const done = once(socket, 'close');
  socket.close();
  await done;
}
