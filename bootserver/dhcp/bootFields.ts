import { bootFile } from '#ipxe/bootFiles.ts';
import type { ClientFacts, ClientKind } from './client.ts';
import type { DhcpNetwork } from './network.ts';
import type { OptionValues } from './options.ts';

/** What a reply says of booting; the same in OFFER and ACK. `file` is at most 127 bytes, so option 67 never differs. */
export interface BootFields {
  file?: string;
  options: OptionValues;
}

interface BootContext {
  network: DhcpNetwork;
  /** Whether this machine was handed our iPXE in this boot: then iPXE without the features we look for is that very one. */
  loaderGiven: boolean;
}

const nothing: BootFields = { options: {} };

/** One shape for each kind of client. */
const shapes: Record<ClientKind, (client: ClientFacts, context: BootContext) => BootFields> = {
  'bios-pxe': loader,
  // No option 60: in a full offer it would send the firmware to port 4011 (edk2 issue 8149, docs/hardware.md).
  'uefi-pxe': loader,
  'uefi-http': httpLoader,
  ipxe: (client, context) =>
    context.loaderGiven || runsOurScripts(client) ? script(context) : loader(client, context),
  'own-ipxe': ownScript,
  'raspberry-pi': () => nothing,
  'unknown-pxe': () => nothing,
  ramdisk: (_, { network }) => ({ options: { site: network.machineUrl } }),
  os: () => nothing,
};

export function bootFields(client: ClientFacts, context: BootContext): BootFields {
  return shapes[client.kind](client, context);
}

function loader(client: ClientFacts, _: BootContext): BootFields {
  const file = client.architecture && bootFile({ ...client.architecture, transport: 'tftp' });
  return file === undefined ? nothing : withFile(file);
}

/** UEFI firmware takes an HTTP offer only with the class echoed and a URL (UEFI 2.10 §24.7.3.1). */
function httpLoader(client: ClientFacts, { network }: BootContext): BootFields {
  const file = client.architecture && bootFile({ ...client.architecture, transport: 'http' });
  if (file === undefined) return nothing;
  const { options, ...fields } = withFile(`${network.httpUrl}/ipxe/${file}`);
  return { ...fields, options: { ...options, vendorClass: 'HTTPClient' } };
}

function script({ network }: BootContext): BootFields {
  return withFile(`${network.httpUrl}/boot.ipxe`);
}

/** Our own script asked: beside the next one it is told that it is we who answer (`ipxe/vlanScript.ts`). */
function ownScript(_: ClientFacts, context: BootContext): BootFields {
  const { options, ...fields } = script(context);
  return { ...fields, options: { ...options, site: context.network.machineUrl } };
}

/** U-Boot and shim read the header field alone, others option 67: both say the same. */
function withFile(file: string): BootFields {
  return { file, options: { bootFile: file } };
}

const feature = { http: 19, bzImage: 24, efi: 36 } as const;

/** iPXE that can fetch our script and start what it names; a ROM built without HTTP gets our binary first. */
function runsOurScripts({ ipxeFeatures }: ClientFacts): boolean {
  return (
    ipxeFeatures.has(feature.http) && (ipxeFeatures.has(feature.bzImage) || ipxeFeatures.has(feature.efi))
  );
}
