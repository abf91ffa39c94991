import { bootFile, type Transport } from '#ipxe/bootFiles.ts';
import type { ClientKind } from '../dhcp/client.ts';
import { encodeVendorClass, pxeEnterprise } from './classes.ts';
import type { Client6Facts } from './client.ts';
import type { Dhcp6Site } from './network.ts';
import type { OptionValues } from './options.ts';

const nothing: OptionValues = {};

/** What a reply says of booting to each kind of client (RFC 5970 §3.1): one URL. Option 60 is never needed, and never sent. */
const shapes: Record<ClientKind, (client: Client6Facts, site: Dhcp6Site) => OptionValues> = {
  'bios-pxe': () => nothing,
  'uefi-pxe': (client, { tftpUrl }) => loader(client, 'tftp', tftpUrl),
  'u-boot': (client, { tftpUrl }) => loader(client, 'tftp', tftpUrl),
  'uefi-http': (client, { httpUrl }) => {
    const url = loader(client, 'http', `${httpUrl}/ipxe`);
    // Firmware takes an offer for HTTP boot only with its class in it (UEFI 2.10 §24.7.3.1).
    return url.bootFileUrl === undefined ? nothing : { ...url, vendorClass: httpClass };
  },
  // iPXE says nothing of its features over IPv6. Every one that speaks it has HTTP, unless its builder took that out.
  ipxe: script,
  'own-ipxe': script,
  'raspberry-pi': () => nothing,
  'unknown-pxe': () => nothing,
  ramdisk: (_, { machineUrl }) => ({ bootFileUrl: machineUrl }),
  os: () => nothing,
};

/** Kinds that are given iPXE. */
const loaders: readonly ClientKind[] = ['uefi-pxe', 'uefi-http', 'unknown-pxe'];

const httpClass = encodeVendorClass({ enterprise: pxeEnterprise, items: ['HTTPClient'] });

/** `isLooping`: the machine loads iPXE again and again, and is left to its next boot entry. */
export function bootOptions(
  client: Client6Facts,
  { site, isLooping = false }: { site: Dhcp6Site; isLooping?: boolean },
): OptionValues {
  return isLooping && loaders.includes(client.kind) ? nothing : shapes[client.kind](client, site);
}

function loader({ architecture }: Client6Facts, transport: Transport, folder: string): OptionValues {
  const file = architecture && bootFile({ ...architecture, transport });
  return file === undefined ? nothing : { bootFileUrl: `${folder}/${file}` };
}

function script(_: Client6Facts, { httpUrl }: Dhcp6Site): OptionValues {
  return { bootFileUrl: `${httpUrl}/boot.ipxe` };
}
