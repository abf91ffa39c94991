import type { BootQuirk } from '#contract/bootQuirks.ts';
import { httpLoader, tftpLoader } from '../loaderFile.ts';
import type { LoaderChoice } from '../machine.ts';
import type { ClientFacts, ClientKind } from './client.ts';
import type { ReplyRole } from './replyShape.ts';

export interface BootFileContext {
  network: { address: string; httpUrl: string; loaderUrl?: string };
  role: ReplyRole;
  quirks: ReadonlySet<BootQuirk>;
  /** Whether this machine was handed our iPXE in this boot: then iPXE without the features we look for is that very one. */
  loaderGiven: boolean;
  /** The machine got the loader again and again and never came further: its firmware shall go on to the disk. */
  isLooping?: boolean;
  /** What UEFI firmware is handed; iPXE unless something else was chosen. */
  loader?: LoaderChoice;
}

type Choice = (client: ClientFacts, context: BootFileContext) => string | undefined;

const nothing: Choice = () => undefined;

/** What each kind of client boots: a file name for TFTP, or a URL. */
const files: Record<ClientKind, Choice> = {
  'bios-pxe': ipxe,
  'uefi-pxe': byTftp,
  'uefi-http': byHttp,
  'u-boot': (client, context) =>
    client.architecture?.transport === 'http' ? byHttp(client, context) : ipxe(client, context),
  ipxe: (client, context) => (isToChain(client, context) ? chained(client, context) : script(context)),
  'own-ipxe': (_, context) => script(context),
  // Its ROM asks for files by names of its own, and reads none from a reply.
  'raspberry-pi': nothing,
  'unknown-pxe': nothing,
  ramdisk: nothing,
  os: nothing,
};

/** The file that a client is to boot; undefined when there is none for it. */
export function bootFileFor(client: ClientFacts, context: BootFileContext): string | undefined {
  return files[client.kind](client, context);
}

function byTftp({ architecture }: ClientFacts, { loader, isLooping }: BootFileContext): string | undefined {
  return isLooping || architecture === undefined ? undefined : tftpLoader(architecture, loader);
}

function byHttp({ architecture }: ClientFacts, context: BootFileContext): string | undefined {
  const path = architecture && httpLoader(architecture, context.loader);
  const { httpUrl, loaderUrl = httpUrl } = context.network;
  return path === undefined || context.isLooping ? undefined : `${loaderUrl}${path}`;
}

/** What is no UEFI PXE gets iPXE, whatever was chosen. */
function ipxe(client: ClientFacts, { isLooping }: BootFileContext): string | undefined {
  return isLooping || client.architecture === undefined ? undefined : tftpLoader(client.architecture);
}

/**
 * For iPXE beside another server's offer the whole URL: old ones take the server from that other offer (danderson/netboot's proxy sends
 * it for this reason). iPXE that we have nothing newer for tries the script.
 */
function chained(client: ClientFacts, context: BootFileContext): string {
  const file = ipxe(client, context);
  if (file === undefined) return script(context);
  return context.role === 'proxy' ? `tftp://${context.network.address}/${file}` : file;
}

function script({ network }: BootFileContext): string {
  return `${network.httpUrl}/boot.ipxe`;
}

function isToChain(client: ClientFacts, { loaderGiven, quirks }: BootFileContext): boolean {
  if (loaderGiven || quirks.has('no-chain-ipxe')) return false;
  return quirks.has('chain-ipxe') || !runsOurScripts(client);
}

const feature = { http: 19, bzImage: 24, efi: 36 } as const;

/** iPXE that can fetch our script and start what it names; a ROM built without HTTP gets our binary first. */
function runsOurScripts({ ipxeFeatures }: ClientFacts): boolean {
  return (
    ipxeFeatures.has(feature.http) && (ipxeFeatures.has(feature.bzImage) || ipxeFeatures.has(feature.efi))
  );
}
