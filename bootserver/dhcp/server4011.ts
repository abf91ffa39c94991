import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { Log } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import type { Boots } from '../boots.ts';
import type { HeardAddresses } from '../heardAddresses.ts';
import type { PacketTap } from '../packetTap.ts';
import { type ClientFacts, clientFacts, peekClientKey } from './client.ts';
import { answerDatagram, type Datagram } from './datagram.ts';
import { Intake } from './intake.ts';
import type { DhcpNetwork, Reservations } from './network.ts';
import { networkOf } from './networkOf.ts';
import { observeOn4011 } from './observe.ts';
import { type DhcpPacket, encodePacket, hardwareAddress } from './packet.ts';
import { decideOn4011, destinationOn4011 } from './pxe4011.ts';
import { replyFact } from './replyFact.ts';
import { tapReply } from './tapped.ts';
import { WrittenMessages } from './writtenMessages.ts';

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

interface Serving extends Server4011Options {
  socket: Socket;
  written: WrittenMessages;
}

/** Answers what PXE firmware asks a boot server on port 4011. @throws Error with a system `code` when the socket cannot be had */
export async function startServer4011(options: Server4011Options): Promise<Server4011> {
  const socket = createSocket('udp4');
  const serving = { ...options, socket, written: new WrittenMessages(options.log) };
  const arrival = { own: options.address, port: 4011, tap: options.tap, log: options.log } as const;
  const intake = new Intake<Datagram>({
    isKnown: (client) => options.reservations.reservation(client) !== undefined,
    serve: (datagram) =>
      answerDatagram(datagram, arrival, (packet) => answer(packet, datagram.from, serving)),
    onDropped: (dropped) =>
      options.log.warn(
        { address: options.address, ...dropped },
        'port 4011: messages dropped, there were too many',
      ),
  });
  socket.on('message', (bytes, from) => intake.take(peekClientKey(bytes), { bytes, from }));
  const listening = once(socket, 'listening');
  if (options.fd === undefined) socket.bind(options.port, options.address);
  else socket.bind({ fd: options.fd });
  await listening;
  socket.on('error', (error) => options.log.error({ err: error }, 'port 4011 failed'));
  socket.setBroadcast(true);
  return {
    port: socket.address().port,
    async close() {
      intake.close();
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}

function answer(packet: DhcpPacket, from: RemoteInfo, serving: Serving): void {
  const { boots, log, networks, reservations } = serving;
  const network = networkOf(packet, networks) ?? networks[0];
  const client = clientFacts(packet);
  const decision = decideOn4011(packet, client, { network, reservations, ...boots.stateOf(client.mac) });
  if ('silent' in decision) {
    if (decision.trouble !== undefined) boots.count(decision.trouble);
    log.debug({ ...whoOf(packet, client), reason: decision.silent }, 'port 4011: no reply');
    return;
  }
  observeOn4011(packet, client, network, from.address, serving);
  const { reply } = decision;
  const to = destinationOn4011(packet, from);
  send(reply, to, serving);
  if (serving.written.take(client.key, reservations.reservation(client.key) !== undefined))
    write(packet, client, reply, to.address, serving);
}

function send(
  reply: DhcpPacket,
  { address, port }: { address: string; port: number },
  { tap, address: own, socket, log }: Serving,
): void {
  const bytes = encodePacket(reply);
  tapReply(tap, reply, { bytes, to: { address, port }, own, port: 4011 });
  socket.send(bytes, port, address, (error) => {
    if (error)
      log.warn({ err: error, to: address, mac: hardwareAddress(reply) }, 'answer from port 4011 not sent');
  });
}

function write(
  packet: DhcpPacket,
  client: ClientFacts,
  reply: DhcpPacket,
  to: string,
  { log, boots }: Serving,
): void {
  log.info({ ...whoOf(packet, client), to, file: reply.file }, 'port 4011: ACK');
  if (client.mac !== undefined)
    boots.note(
      client.mac,
      'boot.dhcp',
      `ACK from port 4011, ${reply.file} (${client.kind})`,
      replyFact('ACK', client.kind, reply.file),
    );
}

function whoOf(packet: DhcpPacket, client: ClientFacts) {
  return { mac: hardwareAddress(packet), xid: packet.xid, client: client.kind };
}
