/** Sub-options of option 43 in PXE replies and requests (PXE 2.1, table 2-1). */
export const pxeOption = {
  /** Bits: 1 no broadcast, 2 no multicast, 4 only named servers, 8 load the named file and ask nobody. */
  discoveryControl: 6,
  bootMenu: 9,
  menuPrompt: 10,
  /** Type of boot server and layer, two bytes each. */
  bootItem: 71,
} as const;

const pad = 0;
const end = 255;

/** Option 43 in the order given, ended by 255 inside its length: some ROMs read on without that. */
export function encodeVendorOptions(options: readonly (readonly [number, Buffer])[]): Buffer {
  const parts = options.flatMap(([number, value]) => [Buffer.from([number, value.length]), value]);
  return Buffer.concat([...parts, Buffer.from([end])]);
}

/**
 * The sub-options of option 43, with or without the end byte. Undefined when a length runs past the end: then it is another
 * vendor's text, and no PXE option. Total: never throws.
 */
export function decodeVendorOptions(bytes: Buffer | undefined): Map<number, Buffer> | undefined {
  const options = new Map<number, Buffer>();
  for (let at = 0; bytes !== undefined && at < bytes.length; ) {
    const number = bytes[at] ?? end;
    if (number === end) break;
    if (number === pad) {
      at += 1;
      continue;
    }
    const length = bytes[at + 1];
    if (length === undefined || at + 2 + length > bytes.length) return undefined;
    options.set(number, bytes.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  return options;
}

/** What a client asks a boot server on port 4011 for. */
export interface BootItem {
  bytes: Buffer;
  /** Bit 15 of the layer: the client wants credentials of the Boot Integrity Services, which nobody here has. */
  wantsCredentials: boolean;
}

/** The boot item of a request's option 43 (PXE 2.1 §2.3, tag 71); undefined when there is none or it is malformed. */
export function bootItem(option: Buffer | undefined): BootItem | undefined {
  const bytes = decodeVendorOptions(option)?.get(pxeOption.bootItem);
  if (bytes?.length !== 4) return undefined;
  return { bytes, wantsCredentials: (bytes.readUInt16BE(2) & 0x8000) !== 0 };
}
