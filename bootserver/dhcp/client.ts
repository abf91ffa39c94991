import { siteDiscovery } from '#contract/siteDiscovery.ts';
import { type ArchitectureRow, architectures } from '#ipxe/bootFiles.ts';
import { ownUserClass } from '#ipxe/ownRequest.ts';
import { hardwareKey, identifierKey } from './clientKey.ts';
import { machineUuid } from './machineUuid.ts';
import { dhcpOptions, readOption } from './options.ts';
import { type DhcpPacket, hardwareAddress, hexBytes, peekOption } from './packet.ts';
import { isRaspberryPiRom } from './raspberryPi.ts';
import { userClasses } from './userClass.ts';

/** What kind of client sent a message: it decides the shape of the reply's boot fields. */
export type ClientKind =
  | 'bios-pxe'
  | 'uefi-pxe'
  | 'uefi-http'
  /** iPXE of someone else: in a ROM, or from a distribution. */
  | 'ipxe'
  /** iPXE whose user class says that we configured it. */
  | 'own-ipxe'
  | 'u-boot'
  /** The boot ROM of a Raspberry Pi, not other firmware on one. */
  | 'raspberry-pi'
  /** Network boot of an architecture that we have nothing for, or that is not said. */
  | 'unknown-pxe'
  | 'ramdisk'
  /** Any DHCP client that does not boot from the network. */
  | 'os';

/** What one message says of its sender, found out once. */
export interface ClientFacts {
  kind: ClientKind;
  /** Hardware type and address, or the client identifier where there is no hardware address (InfiniBand, RFC 4390). */
  key: string;
  /** `02:00:00:00:00:01`; undefined when the hardware is no Ethernet. */
  mac?: string;
  uuid?: string;
  architecture?: ArchitectureRow;
  /** All architecture numbers that it names, known or not. */
  saidArchitectures: readonly number[];
  /** Feature numbers that iPXE's option 175 says it has. */
  ipxeFeatures: ReadonlySet<number>;
}

export function clientFacts(packet: DhcpPacket): ClientFacts {
  const mac = packet.htype === 1 && packet.hlen === 6 ? hardwareAddress(packet) : undefined;
  const uuid = machineUuid(readOption(packet.options, 'machineId'));
  const saidArchitectures = architectureNumbers(packet);
  const architecture = firstKnown(saidArchitectures);
  return {
    kind: kindOf(packet, { mac, saidArchitectures, architecture }),
    key: clientKey(packet),
    saidArchitectures,
    ...(mac !== undefined && { mac }),
    ...(uuid !== undefined && { uuid }),
    ...(architecture !== undefined && { architecture }),
    ipxeFeatures: ipxeFeatures(readOption(packet.options, 'ipxe')),
  };
}

interface Hardware extends Pick<ClientFacts, 'saidArchitectures'> {
  mac: string | undefined;
  architecture: ArchitectureRow | undefined;
}

function kindOf(packet: DhcpPacket, { mac, saidArchitectures, architecture }: Hardware): ClientKind {
  const vendorClass = readOption(packet.options, 'vendorClass') ?? '';
  const classes = userClasses(readOption(packet.options, 'userClass'));
  if (vendorClass === siteDiscovery.vendorClass) return 'ramdisk';
  if (classes.includes(ownUserClass)) return 'own-ipxe';
  if (classes.includes('iPXE') || packet.options.has(175)) return 'ipxe';
  if (isRaspberryPiRom(mac, saidArchitectures, readOption(packet.options, 'machineId')))
    return 'raspberry-pi';
  if (!/^(PXE|HTTP)Client/.test(vendorClass) && architecture?.firmware !== 'uboot') return 'os';
  return firmwareKind(vendorClass, architecture);
}

function firmwareKind(vendorClass: string, architecture: ArchitectureRow | undefined): ClientKind {
  if (architecture?.firmware === 'bios')
    return architecture.transport === 'tftp' ? 'bios-pxe' : 'unknown-pxe';
  if (architecture?.firmware === 'uboot') return 'u-boot';
  if (architecture?.firmware !== 'uefi') return 'unknown-pxe';
  return vendorClass.startsWith('HTTPClient') || architecture.transport === 'http' ? 'uefi-http' : 'uefi-pxe';
}

function firstKnown(numbers: readonly number[]): ArchitectureRow | undefined {
  return numbers.map((number) => architectures.get(number)).find((row) => row !== undefined);
}

/**
 * The numbers of option 93, which is a list (RFC 4578 §2.1). Some firmware leaves it out or garbles it and says the number in
 * option 60 only (`PXEClient:Arch:00011:…`), in decimal.
 */
function architectureNumbers(packet: DhcpPacket): number[] {
  const listed = readOption(packet.options, 'architectures');
  const named = /:Arch:(\d{5})/.exec(readOption(packet.options, 'vendorClass') ?? '')?.[1];
  return listed ?? (named === undefined ? [] : [Number(named)]);
}

/**
 * The key of whoever sent a datagram, without decoding it. What is no DHCP message has some key too; a client identifier that comes in
 * parts, or not among the first options, is not found.
 */
export function peekClientKey(bytes: Buffer): string {
  const length = Math.min(bytes[2] ?? 0, 16);
  if (length === 0) return identifierKey(peekOption(bytes, dhcpOptions.clientId.number));
  return `${bytes[1]}/${hexBytes(bytes.subarray(28, 28 + length))}`;
}

function clientKey(packet: DhcpPacket): string {
  return packet.hlen > 0 ? hardwareKey(packet) : identifierKey(readOption(packet.options, 'clientId'));
}

/** Numbers of the one-byte sub-options of option 175 that are not zero: iPXE's feature flags. */
function ipxeFeatures(option: Buffer | undefined): Set<number> {
  const features = new Set<number>();
  for (let at = 0; option !== undefined && at + 2 <= option.length; ) {
    const length = option[at + 1] ?? 0;
    if (length === 1 && (option[at + 2] ?? 0) !== 0) features.add(option[at] ?? 0);
    at += 2 + length;
  }
  return features;
}
