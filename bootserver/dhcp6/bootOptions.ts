import type { ClientKind } from '../dhcp/client.ts';
import { httpLoader, tftpLoader } from '../loaderFile.ts';
import type { LoaderChoice } from '../machine.ts';
import { encodeVendorClass, pxeEnterprise } from './classes.ts';
import type { Client6Facts } from './client.ts';
import type { Dhcp6Site } from './network.ts';
import type { OptionValues } from './options.ts';

const nothing: OptionValues = {};

export interface Boot6Context {
  site: Dhcp6Site;
  /** The machine loads iPXE again and again, and is left to its next boot entry. */
  isLooping?: boolean;
  /** What UEFI firmware is handed; iPXE unless something else was chosen. */
  loader?: LoaderChoice;
}

/** What a reply says of booting to each kind of client (RFC 5970 §3.1): one URL. Option 60 is never needed, and never sent. */
const shapes: Record<ClientKind, (client: Client6Facts, context: Boot6Context) => OptionValues> = {
  'bios-pxe': () => nothing,
  'uefi-pxe': byTftp,
  'u-boot': (client, { site }) => byTftp(client, { site }),
  'uefi-http': byHttp,
  // iPXE says nothing of its features over IPv6. Every one that speaks it has HTTP, unless its builder took that out.
  ipxe: script,
  'own-ipxe': script,
  'raspberry-pi': () => nothing,
  'unknown-pxe': () => nothing,
  ramdisk: (_, { site }) => ({ bootFileUrl: site.machineUrl }),
  os: () => nothing,
};

/** Kinds that are given iPXE. */
const loaders: readonly ClientKind[] = ['uefi-pxe', 'uefi-http', 'unknown-pxe'];

const httpClass = encodeVendorClass({ enterprise: pxeEnterprise, items: ['HTTPClient'] });

export function bootOptions(client: Client6Facts, context: Boot6Context): OptionValues {
  return context.isLooping && loaders.includes(client.kind) ? nothing : shapes[client.kind](client, context);
}

function byTftp({ architecture }: Client6Facts, { site, loader }: Boot6Context): OptionValues {
  const file = architecture && tftpLoader(architecture, loader);
  return file === undefined ? nothing : { bootFileUrl: `${site.tftpUrl}/${file}` };
}

/** Firmware takes an offer for HTTP boot only with its class in it (UEFI 2.10 §24.7.3.1). */
function byHttp({ architecture }: Client6Facts, { site, loader }: Boot6Context): OptionValues {
  const path = architecture && httpLoader(architecture, loader);
  return path === undefined ? nothing : { bootFileUrl: `${site.httpUrl}${path}`, vendorClass: httpClass };
}

function script(_: Client6Facts, { site }: Boot6Context): OptionValues {
  return { bootFileUrl: `${site.httpUrl}/boot.ipxe` };
}
