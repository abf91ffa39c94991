import { siteDiscovery } from '#contract/siteDiscovery.ts';
import { type ArchitectureRow, architectures } from '#ipxe/bootFiles.ts';
import { ownUserClass } from '#ipxe/ownRequest.ts';
import type { ClientKind } from '../dhcp/client.ts';
import { canonicalUuid } from '../dhcp/machineUuid.ts';
import { macOfAddress } from './address.ts';
import { userClasses6, vendorClass } from './classes.ts';
import { duidMac, duidUuid, isDuid } from './duid.ts';
import type { RawOption } from './message.ts';
import { readOption } from './options.ts';
import { type Relayed, relayedMac } from './relay.ts';

/** What one message says of its sender, found out once. */
export interface Client6Facts {
  kind: ClientKind;
  /** Absent in an INFORMATION-REQUEST of a client that does not tell. */
  duid?: Buffer;
  /** Of the interface that asks; undefined when neither its address nor its DUID has it. */
  mac?: string;
  uuid?: string;
  architecture?: ArchitectureRow;
}

/** What firmware that names no architecture we know most likely is: there is no BIOS that boots over IPv6. */
const likely = { machine: 'x86_64', firmware: 'uefi' } as const;

/** `from`: the address that the message came from. */
export function client6Facts({ message, relays }: Relayed, from: string): Client6Facts {
  const { options } = message;
  const id = readOption(options, 'clientId');
  const duid = isDuid(id) ? id : undefined;
  const mac = interfaceMac(relays, from) ?? (duid && duidMac(duid));
  const uuid = duid && canonicalUuid(duidUuid(duid) ?? '');
  const { kind, architecture } = whatItIs(options);
  return {
    kind,
    ...(duid !== undefined && { duid }),
    ...(mac !== undefined && { mac }),
    ...(uuid !== undefined && { uuid }),
    ...(architecture !== undefined && { architecture }),
  };
}

/** The interface's own MAC goes before the one in the DUID, which may be another interface's. */
function interfaceMac(relays: Relayed['relays'], from: string): string | undefined {
  return relays.length > 0 ? relayedMac(relays) : macOfAddress(from);
}

function whatItIs(options: readonly RawOption[]): Pick<Client6Facts, 'kind' | 'architecture'> {
  const classes = userClasses6(readOption(options, 'userClass'));
  const vendor = vendorClass(readOption(options, 'vendorClass'))?.items ?? [];
  const named = vendor.find((item) => /^(PXE|HTTP)Client/.test(item));
  const boots = named !== undefined || readOption(options, 'architectures') !== undefined;
  const architecture = boots ? architectureOf(options, named) : undefined;
  return { kind: kindOf(classes, named, architecture), ...(architecture && { architecture }) };
}

function kindOf(
  classes: readonly string[],
  vendor: string | undefined,
  architecture: ArchitectureRow | undefined,
): ClientKind {
  if (classes.includes(siteDiscovery.vendorClass)) return 'ramdisk';
  if (classes.includes(ownUserClass)) return 'own-ipxe';
  if (classes.includes('iPXE')) return 'ipxe';
  if (architecture === undefined) return 'os';
  if (architecture.firmware !== 'uefi') return 'unknown-pxe';
  return isHttp(vendor) || architecture.transport === 'http' ? 'uefi-http' : 'uefi-pxe';
}

/** The first known architecture of option 61, else the number in the class, else the likely one. */
function architectureOf(options: readonly RawOption[], vendor: string | undefined): ArchitectureRow {
  const listed = readOption(options, 'architectures') ?? [];
  const named = /:Arch:(\d{5})/.exec(vendor ?? '')?.[1];
  const numbers = named === undefined ? listed : [...listed, Number(named)];
  const known = numbers
    .map((number) => architectures.get(number))
    .find((row) => row !== undefined && row.firmware !== 'bios');
  return known ?? { ...likely, transport: isHttp(vendor) ? 'http' : 'tftp' };
}

function isHttp(vendor: string | undefined): boolean {
  return vendor?.startsWith('HTTPClient') === true;
}
