import { type BootClass, bootClasses } from '#contract/bootQuirks.ts';
import { type BootFileContext, bootFileFor } from './bootFile.ts';
import type { ClientFacts, ClientKind } from './client.ts';
import type { OptionValues } from './options.ts';
import { withQuirks } from './quirks.ts';
import { type ReplyShape, replyShapes } from './replyShape.ts';
import { encodeVendorOptions, pxeOption } from './vendorOptions.ts';

/** What a reply says of booting; the same in OFFER and ACK. */
export interface BootFields {
  /** The header's file field, at most 127 bytes. */
  file?: string;
  /** The header's siaddr. */
  server?: string;
  options: OptionValues;
}

export interface BootContext extends BootFileContext {
  network: BootFileContext['network'] & { machineUrl: string };
  /** The boot item (43.71) that the client asks for, repeated in the answer. */
  bootItem?: Buffer;
}

/** The header's field has 128 bytes and ends with a NUL (RFC 2131 §2). */
const longestHeaderFile = 127;
const none: BootFields = { options: {} };

export function isBootClass(kind: ClientKind): kind is BootClass {
  return (bootClasses as readonly string[]).includes(kind);
}

/** The boot part of a reply: a table of class, role and quirks (`replyShape.ts`, `quirks.ts`), and the file (`bootFile.ts`). */
export function bootFields(client: ClientFacts, context: BootContext): BootFields {
  if (client.kind === 'ramdisk') return { options: { site: context.network.machineUrl } };
  if (!isBootClass(client.kind)) return none;
  const shape = withQuirks(replyShapes[client.kind][context.role], context.role, context.quirks);
  const file = bootFileFor(client, context);
  // A Raspberry Pi's ROM needs a server alone: it knows the names of its files.
  if (file === undefined && client.kind !== 'raspberry-pi') return none;
  const fields = inShape(shape, file, context);
  return client.kind === 'own-ipxe' ? withSite(fields, context) : fields;
}

/** Our own script asked: beside the next one it is told that it is we who answer (`ipxe/vlanScript.ts`). */
function withSite({ options, ...fields }: BootFields, { network }: BootContext): BootFields {
  return { ...fields, options: { ...options, site: network.machineUrl } };
}

/** U-Boot and shim read the header's field alone, others option 67: both say the same, without overload (option 52). */
function inShape(shape: ReplyShape, file: string | undefined, context: BootContext): BootFields {
  const { address } = context.network;
  const isLong = file !== undefined && Buffer.byteLength(file) > longestHeaderFile;
  const ended = (text: string) => (shape.nulTerminated ? `${text}\0` : text);
  const inOption = file !== undefined && (isLong || !shape.headerOnly);
  return {
    // iPXE believes a boot file only with a server beside it (ipxe issue 954).
    server: address,
    ...(file !== undefined && !isLong && { file }),
    options: {
      vendorClass: shape.vendorClass,
      vendorSpecific: vendorOptions(shape, context),
      ...(shape.serverName && { serverName: ended(address) }),
      ...(inOption && { bootFile: ended(file) }),
    },
  };
}

/** 43.6: bit 3 alone; bits 0 and 1 are for clients that discover servers by broadcast and multicast. */
const loadAtOnce = Buffer.from([8]);

/** `00 00`: the item's type, then the length of its text (PXE 2.1, tag 9); the ROM looks for this very text. */
const raspberryPiMenu = Buffer.from('\0\0\x11Raspberry Pi Boot', 'latin1');
const raspberryPiPrompt = Buffer.from('\0PXE', 'latin1');

function vendorOptions(shape: ReplyShape, { bootItem }: BootContext): Buffer | undefined {
  const options: [number, Buffer][] = [];
  if (shape.discoveryControl) options.push([pxeOption.discoveryControl, loadAtOnce]);
  if (shape.raspberryPiMenu)
    options.push([pxeOption.bootMenu, raspberryPiMenu], [pxeOption.menuPrompt, raspberryPiPrompt]);
  if (bootItem !== undefined && !shape.noBootItem) options.push([pxeOption.bootItem, bootItem]);
  return options.length === 0 ? undefined : encodeVendorOptions(options);
}
