import { userClasses } from '../dhcp/userClass.ts';

/** What option 16 says of a client's kind (RFC 8415 §21.16). */
export interface VendorClass {
  /** The enterprise whose words these are; PXE clients say 343 (UEFI 2.10 §24.3.3.4). */
  enterprise: number;
  items: string[];
}

/** Intel's enterprise number, under which PXE and HTTP boot clients name themselves. */
export const pxeEnterprise = 343;

/**
 * The user classes of option 15. RFC 8415 §21.15 wants each with a 16-bit length before it; some clients write the shape of
 * DHCPv4's option 77, with 8 bits, or one bare string (insomniacslk/dhcp pull request 559). What does not add up as a
 * list is taken as that string.
 */
export function userClasses6(option: Buffer | undefined): string[] {
  if (option === undefined || option.length === 0) return [];
  return lengthPrefixed(option) ?? userClasses(option);
}

/** Undefined when there is not even an enterprise number; a rest that is no list of items is one item. */
export function vendorClass(option: Buffer | undefined): VendorClass | undefined {
  if (option === undefined || option.length < 4) return undefined;
  const rest = option.subarray(4);
  const items = rest.length === 0 ? [] : (lengthPrefixed(rest) ?? [rest.toString('latin1')]);
  return { enterprise: option.readUInt32BE(), items };
}

export function encodeVendorClass({ enterprise, items }: VendorClass): Buffer {
  const number = Buffer.alloc(4);
  number.writeUInt32BE(enterprise);
  return Buffer.concat([number, encodeItems(items)]);
}

/** Texts, each with a 16-bit length before it: the shape of options 15, 16 and 60. */
export function encodeItems(items: readonly string[]): Buffer {
  return Buffer.concat(
    items.flatMap((item) => {
      const text = Buffer.from(item, 'latin1');
      return [Buffer.from([text.length >> 8, text.length & 255]), text];
    }),
  );
}

function lengthPrefixed(option: Buffer): string[] | undefined {
  const items: string[] = [];
  for (let at = 0; at < option.length; ) {
    if (at + 2 > option.length) return undefined;
    const end = at + 2 + option.readUInt16BE(at);
    if (end === at + 2 || end > option.length) return undefined;
    items.push(option.toString('latin1', at + 2, end));
    at = end;
  }
  return items;
}
