import type { BootQuirk } from '#contract/bootQuirks.ts';
import { shimFile } from '#grub/debianPackages.ts';
import { type ArchitectureRow, bootFile as loaderFile } from '#ipxe/bootFiles.ts';
import { wholeImagePath } from '../http/wholeImage.ts';
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
  'bios-pxe': loader,
  'uefi-pxe': (client, context) => shim(client, context) ?? loader(client, context),
  'uefi-http': httpLoader,
  'u-boot': (client, context) =>
    client.architecture?.transport === 'http' ? httpLoader(client, context) : loader(client, context),
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

function loader(client: ClientFacts, { isLooping }: BootFileContext): string | undefined {
  return isLooping || client.architecture === undefined
    ? undefined
    : loaderFile({ ...client.architecture, transport: 'tftp' });
}

function httpLoader({ architecture }: ClientFacts, context: BootFileContext): string | undefined {
  const path = architecture && httpPath(architecture, context.loader);
  const { httpUrl, loaderUrl = httpUrl } = context.network;
  return path === undefined || context.isLooping ? undefined : `${loaderUrl}${path}`;
}

function httpPath(architecture: ArchitectureRow, choice: LoaderChoice | undefined): string | undefined {
  const { machine } = architecture;
  if (choice?.kind === 'uki') {
    const digest = machine === 'x86_64' || machine === 'aarch64' ? choice.digests[machine] : undefined;
    return digest && wholeImagePath(digest);
  }
  const shimName = choice?.kind === 'shim' ? shimFile(machine) : undefined;
  if (shimName !== undefined) return `/shim/${shimName}`;
  const file = loaderFile({ ...architecture, transport: 'http' });
  return file && `/ipxe/${file}`;
}

/** By TFTP. */
function shim(
  { architecture }: ClientFacts,
  { loader: choice, isLooping }: BootFileContext,
): string | undefined {
  return choice?.kind === 'shim' && !isLooping ? shimFile(architecture?.machine ?? '') : undefined;
}

/**
 * For iPXE beside another server's offer the whole URL: old ones take the server from that other offer (danderson/netboot's proxy sends
 * it for this reason). iPXE that we have nothing newer for tries the script.
 */
function chained(client: ClientFacts, context: BootFileContext): string {
  const file = loader(client, context);
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
