import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { openInterfaceSocket } from '#base/boundSocket.ts';
import { withoutZone } from '#base/ipv6Address.ts';
import { known } from '#base/known.ts';
import type { Closable } from '#base/shutdown.ts';
import { Intake } from '../dhcp/intake.ts';
import type { PacketTap } from '../packetTap.ts';
import { macOfAddress } from './address.ts';
import { client6Facts } from './client.ts';
import { decide6 } from './decide.ts';
import { isDuid } from './duid.ts';
import { Journal6, type Journal6Parts } from './journal.ts';
import type { Lease6Table } from './leases.ts';
import { allServers } from './message.ts';
import type { Dhcp6Network, Dhcp6Site, Reservations6 } from './network.ts';
import { readOption } from './options.ts';
import { answersAtSource, type Relayed, unwrap, wrap } from './relay.ts';
import type { Decision6 } from './reply.ts';
import { tapReply, tapRequest } from './tapped.ts';

export interface Dhcp6ServerOptions extends Journal6Parts {
  interfaceName: string;
  /** A socket bound by the service manager to the interface; without it one is opened on `port`. */
  fd?: number;
  port: number;
  /** The first is that of the interface; the others are behind relays. */
  networks: readonly [Dhcp6Network, ...Dhcp6Network[]];
  site: Dhcp6Site;
  reservations: Reservations6;
  leases: Lease6Table;
  tap?: PacketTap;
}

/** Where a relay hears answers. */
const serverPort = 547;
/** For so long a pool that had no address is not looked through again. */
const fullMs = 1_000;

/** What the edge keeps while it serves. */
interface Serving extends Dhcp6ServerOptions {
  socket: Socket;
  journal: Journal6;
  /** Replies to changes that are not on stable storage yet. */
  waiting: (() => void)[];
  fullUntil: number;
}

interface Datagram {
  bytes: Buffer;
  relayed: Relayed;
  from: RemoteInfo;
}

/** Answers DHCPv6 on one interface. @throws Error with a system `code` when the socket cannot be had */
export async function startDhcp6Server(options: Dhcp6ServerOptions): Promise<Closable> {
  const { interfaceName, log } = options;
  const socket = createSocket({ type: 'udp6', ipv6Only: true });
  const serving: Serving = { ...options, socket, journal: new Journal6(options), waiting: [], fullUntil: 0 };
  const intake = new Intake<Datagram>({
    isKnown: (client) => !client.startsWith(stranger),
    serve: (datagram) => serve(datagram, serving),
    onDropped: (dropped) =>
      log.warn({ interface: interfaceName, ...dropped }, 'DHCPv6: messages dropped, there were too many'),
  });
  socket.on('message', (bytes, from) => receive(bytes, from, intake, options));
  const listening = once(socket, 'listening');
  socket.bind({ fd: options.fd ?? openInterfaceSocket(interfaceName, options.port, 'ipv6') });
  await listening;
  socket.on('error', (error) => log.error({ err: error }, 'DHCPv6 socket failed'));
  socket.addMembership(allServers, `::%${interfaceName}`);
  return {
    close: async () => {
      intake.close();
      flush(serving);
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}

/** How the key of a client begins that is told apart by its DUID alone: many can be made up at one address. */
const stranger = 'duid/';

/** A known client is told apart by the address that it sent from, which its relay passes on. */
function receive(
  bytes: Buffer,
  from: RemoteInfo,
  intake: Intake<Datagram>,
  options: Dhcp6ServerOptions,
): void {
  const relayed = unwrap(bytes);
  if ('malformed' in relayed) {
    options.log.debug({ from: from.address, ...relayed }, 'no DHCPv6 message');
    return;
  }
  const address = relayed.relays.at(-1)?.peerAddress ?? withoutZone(from.address);
  const duid = readOption(relayed.message.options, 'clientId');
  const said = isDuid(duid) ? duid.toString('latin1') : '';
  intake.take(isKnown(address, options) ? address : `${stranger}${said}`, { bytes, relayed, from });
}

/** A machine that the site has named, or that uses an address of ours. */
function isKnown(address: string, { reservations, leases, clock }: Dhcp6ServerOptions): boolean {
  const mac = macOfAddress(address);
  if (mac === undefined) return false;
  if (reservations.addressOf(mac) !== undefined) return true;
  const lease = leases.ofClient(`mac/${mac}`);
  return lease?.state === 'bound' && lease.expiresAt > clock.now();
}

/** One message. Nothing that a client sends gets past here as an exception. */
function serve(datagram: Datagram, serving: Serving): void {
  try {
    respond(datagram, serving);
  } catch (error) {
    const from = datagram.from.address;
    serving.log.error({ err: error, from }, 'a DHCPv6 message could not be answered');
  }
}

function respond({ bytes, relayed, from }: Datagram, serving: Serving): void {
  const { boots, leases, clock, journal, reservations } = serving;
  const client = client6Facts(relayed, withoutZone(from.address));
  tapRequest(serving, client.mac, { bytes, from, isRelayed: relayed.relays.length > 0 });
  journal.observe(relayed, client);
  const now = clock.now();
  const { isLooping } = boots.stateOf(client.mac);
  const decision = decide6(relayed, client, {
    ...serving,
    now,
    isLooping,
    ...known({ loader: reservations.loader?.(client.mac) }),
    poolIsFull: now < serving.fullUntil,
  });
  if (decision.kind === 'reply') {
    for (const change of decision.changes) leases.set(change);
    whenStored(() => send({ decision, relayed, from, mac: client.mac }, serving), serving);
    if (decision.noAddress) serving.fullUntil = now + fullMs;
  }
  journal.write(relayed, client, decision);
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

interface Answer {
  decision: Extract<Decision6, { kind: 'reply' }>;
  relayed: Relayed;
  from: RemoteInfo;
  mac: string | undefined;
}

function send({ decision, relayed: { relays }, from, mac }: Answer, serving: Serving): void {
  const port = relays.length === 0 || answersAtSource(relays) ? from.port : serverPort;
  const bytes = wrap(decision.reply, relays);
  tapReply(serving, mac, { bytes, to: { address: from.address, port } });
  serving.socket.send(bytes, port, from.address, (error) => {
    if (error) serving.log.warn({ err: error, to: from.address }, 'DHCPv6 reply not sent');
  });
}
