import type { RemoteInfo } from 'node:dgram';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import type { Boots } from '../boots.ts';
import type { HeardAddresses } from '../heardAddresses.ts';
import type { PacketTap } from '../packetTap.ts';
import type { Sighting } from '../sighting.ts';
import { type AddressView, candidates, offerMs } from './allocation.ts';
import { type ClientFacts, clientFacts, peekClientKey } from './client.ts';
import { Conversations } from './conversations.ts';
import { answerDatagram, type Datagram } from './datagram.ts';
import { type Decision, decide } from './decide.ts';
import { replyDestination } from './destination.ts';
import { Intake } from './intake.ts';
import { Journal } from './journal.ts';
import type { Leases } from './leases.ts';
import type { DhcpNetwork, Reservations } from './network.ts';
import { networkOf } from './networkOf.ts';
import { observeMessage, observeOffer } from './observe.ts';
import { readOption } from './options.ts';
import { type DhcpPacket, encodePacket, hardwareAddress } from './packet.ts';
import { answersOn67 } from './ports.ts';
import { type HostView, kernelNeighbours, Probes } from './probes.ts';
import { messageType } from './reply.ts';
import { type DhcpSocketOptions, type DhcpSockets, openDhcpSockets } from './sockets.ts';
import { tapReply } from './tapped.ts';

export interface DhcpServerOptions extends Omit<DhcpSocketOptions, 'address'> {
  /** That of the interface first, then those that relays forward from. */
  networks: readonly [DhcpNetwork, ...DhcpNetwork[]];
  reservations: Reservations;
  leases: Leases;
  boots: Boots;
  heard: HeardAddresses;
  /** Told of each machine that asks for an address. */
  sighted?(sighting: Sighting): void;
  tap?: PacketTap;
  log: Log;
  clock: Clock;
}

/** Addresses that are known to be free before somebody asks, so that no OFFER waits for a probe. */
const probedAhead = 16;
/** Half of the time for which a probe counts. */
const probeAgainMs = 60_000;

/** What the edge keeps while it serves. */
interface Serving extends DhcpServerOptions {
  sockets: DhcpSockets;
  probes: Probes;
  conversations: Conversations;
  startedAt: number;
  journal: Journal;
}

/** Answers DHCP on one interface. @throws Error with a system `code` when the socket cannot be had */
export async function startDhcpServer(options: DhcpServerOptions): Promise<Closable> {
  const { log, networks, interfaceName } = options;
  const neighbours = kernelNeighbours(interfaceName);
  const probes = new Probes({
    ...neighbours,
    clock: options.clock,
    onHost: (address, mac) => foundHost(address, mac, options),
  });
  const intake = new Intake<Datagram>({
    isKnown: (client) => isKnown(client, options),
    serve: (datagram) => answerDatagram(datagram, arrival, (packet) => respond(packet, serving)),
    onDropped: (dropped) =>
      log.warn({ interface: interfaceName, ...dropped }, 'DHCP: messages dropped, there were too many'),
  });
  const arrival = { own: networks[0].address, port: 67, tap: options.tap, log } as const;
  const receive = (bytes: Buffer, from: RemoteInfo) => intake.take(peekClientKey(bytes), { bytes, from });
  const sockets = await openDhcpSockets({ ...options, address: networks[0].address }, receive);
  const [conversations, journal] = [new Conversations(), new Journal(options)];
  const serving: Serving = {
    ...options,
    sockets,
    probes,
    conversations,
    journal,
    startedAt: options.clock.now(),
  };
  probeAhead(serving);
  const timer = setInterval(() => probeAhead(serving), probeAgainMs);
  return {
    close: async () => {
      clearInterval(timer);
      intake.close();
      probes.close();
      neighbours.close();
      await sockets.close();
    },
  };
}

/** A machine that the site has named, or that uses an address of ours. */
function isKnown(client: string, { reservations, leases, networks, clock }: DhcpServerOptions): boolean {
  if (reservations.reservation(client) !== undefined) return true;
  const now = clock.now();
  return networks.some((network) => {
    const lease = leases.of(network).ofClient(client);
    return lease?.state === 'bound' && lease.expiresAt > now;
  });
}

function respond(packet: DhcpPacket, serving: Serving): void {
  const { boots, conversations, leases, log, networks } = serving;
  const network = networkOf(packet, networks);
  if (network === undefined) {
    const relay = { mac: hardwareAddress(packet), relay: packet.giaddr };
    log.debug(relay, 'DHCP: from a network that is not served here');
    return;
  }
  const client = conversations.clientOf(packet, clientFacts(packet));
  observeMessage(packet, client, network, serving);
  const view = addressView(network, serving);
  const decision = decide(packet, client, { ...view, ...boots.stateOf(client.mac) });
  const table = leases.of(network);
  for (const change of decision.changes) table.apply(change);
  reply(decision, serving);
  serving.journal.write(packet, client, decision, view);
  observeAnswer(packet, client, decision, network, serving);
  probeOffered(decision, network, serving);
}

function observeAnswer(
  packet: DhcpPacket,
  client: ClientFacts,
  decision: Decision,
  network: DhcpNetwork,
  serving: Serving,
): void {
  if (readOption(packet.options, 'messageType') !== messageType.discover || !answersOn67(network.mode))
    return;
  observeOffer(client, decision.kind === 'reply' ? decision.reply : undefined, network, serving);
}

/** An ACK waits until its lease is on stable storage; an OFFER promises nothing that must outlive us. */
function reply(decision: Decision, serving: Serving): void {
  if (decision.kind === 'silent') return;
  if (decision.what === 'ACK') serving.leases.whenStored(() => send(decision.reply, serving));
  else send(decision.reply, serving);
}

function send(reply: DhcpPacket, { sockets, log, tap, networks }: Serving): void {
  const { address, port } = replyDestination(reply);
  const bytes = encodePacket(reply);
  tapReply(tap, reply, { bytes, to: { address, port }, own: networks[0].address, port: 67 });
  sockets.send(bytes, port, address, (error) => {
    log.warn({ err: error, to: address, mac: hardwareAddress(reply) }, 'DHCP reply not sent');
  });
}

/** Hosts behind a relay are not our neighbours: nothing is known of them. */
const elsewhere: HostView = { hostAt: () => undefined, unanswered: () => [] };

function addressView(network: DhcpNetwork, serving: Serving): AddressView {
  const { networks, leases, reservations, probes, clock, startedAt } = serving;
  const hosts = network === networks[0] ? probes : elsewhere;
  const now = clock.now();
  const isForgetful = now - startedAt < (leases.wereLost ? network.leaseSeconds * 1000 : offerMs);
  return { network, leases: leases.of(network), reservations, hosts, isForgetful, now };
}

function probeOffered(decision: Decision, network: DhcpNetwork, serving: Serving): void {
  if (decision.kind === 'silent' || decision.what !== 'OFFER' || network !== serving.networks[0]) return;
  if (decision.changes.length === 0) return;
  serving.probes.begin([decision.reply.yiaddr]);
  probeAhead(serving);
}

function probeAhead(serving: Serving): void {
  const { networks, probes } = serving;
  if (networks[0].mode === 'full' && !probes.isBusy())
    probes.begin(candidates(addressView(networks[0], serving), probedAhead));
}

/** The holder of an expired lease may go on using its address: it is not given to others, and that is nobody's fault. */
function foundHost(address: string, mac: string, { leases, log }: DhcpServerOptions): void {
  if (leases.macAt(address) === mac) return;
  log.warn({ address, host: mac }, 'a host that has no lease answers at an address of ours');
}
