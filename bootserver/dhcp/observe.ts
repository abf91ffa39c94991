import type { Boots } from '../boots.ts';
import type { HeardAddresses } from '../heardAddresses.ts';
import { type Sighting, sightingOf } from '../sighting.ts';
import { noAddress } from './address.ts';
import { isBootClass } from './bootFields.ts';
import type { ClientFacts } from './client.ts';
import type { DhcpNetwork } from './network.ts';
import { readOption } from './options.ts';
import type { DhcpPacket } from './packet.ts';
import { messageType } from './reply.ts';

export interface ObserveParts {
  boots: Boots;
  heard: HeardAddresses;
  /** Told of each machine that asks for an address. */
  sighted?(sighting: Sighting): void;
}

/** A message before it is answered: which boot it belongs to, and who takes which address of another server. */
export function observeMessage(
  packet: DhcpPacket,
  client: ClientFacts,
  network: DhcpNetwork,
  { boots, heard, sighted }: ObserveParts,
): void {
  const { mac } = client;
  if (mac === undefined) return;
  const type = readOption(packet.options, 'messageType');
  countBadMachineId(packet, boots);
  if (type === messageType.discover) {
    const isNewBoot = boots.discovered(mac, client.kind);
    sighted?.(sightingOf(mac, packet, client, isNewBoot));
  }
  if (type !== messageType.request) return;
  const address = readOption(packet.options, 'requestedAddress') ?? packet.ciaddr;
  const isBooting = isBootClass(client.kind) || client.kind === 'ramdisk';
  if (network.mode !== 'full' && isBooting && address !== noAddress) heard.heard(mac, address, 67);
  const server = readOption(packet.options, 'serverId');
  if (server !== undefined && isBootClass(client.kind))
    boots.requested(mac, server, network.address, network.mode);
}

/** A DISCOVER of a client that boots from the network, after it was answered with or without a boot file. */
export function observeOffer(
  client: ClientFacts,
  offer: DhcpPacket | undefined,
  network: DhcpNetwork,
  { boots }: ObserveParts,
): void {
  const { mac, kind } = client;
  if (mac === undefined || !isBootClass(kind) || kind === 'raspberry-pi') return;
  if (offer?.file || offer?.options.has(67)) boots.offered(mac, network.mode);
  else if (!boots.isLooping(mac)) boots.withoutFile(mac, noFile(client));
}

/**
 * A message on port 4011: the machine took our offer, or that of a server on this host which names port 4011. In the latter case this is
 * the first that is heard of it. Its address counts only where the message came from it, not what somebody writes there.
 */
export function observeOn4011(
  packet: DhcpPacket,
  client: ClientFacts,
  network: DhcpNetwork,
  from: string,
  { boots, heard, sighted }: ObserveParts,
): void {
  const { mac } = client;
  if (mac === undefined) return;
  countBadMachineId(packet, boots);
  const isNewBoot = network.mode === '4011-only' && boots.discovered(mac, client.kind);
  sighted?.(sightingOf(mac, packet, client, isNewBoot));
  boots.came(mac);
  if (packet.ciaddr === from && packet.giaddr === noAddress) heard.heard(mac, from, 4011);
}

/** The option itself is ignored: the machine can do nothing about it. */
function countBadMachineId({ options }: DhcpPacket, boots: Boots): void {
  const length = readOption(options, 'machineId')?.length ?? 0;
  if (length !== 0 && length !== 17) boots.count('bad-machine-id');
}

function noFile({ saidArchitectures, architecture }: ClientFacts): string {
  const said = saidArchitectures.length === 0 ? 'none' : saidArchitectures.join(', ');
  const known = architecture === undefined ? '' : ` (${architecture.firmware}, ${architecture.machine})`;
  return (
    `asks to boot from the network, and there is no boot file for its architecture ${said}${known}: it gets none. ` +
    'Served are x86-64 by BIOS and UEFI, and arm64 by UEFI'
  );
}
