/**
 * The machine's UUID of option 97 (RFC 4578 §2.3: type 0 and 16 bytes) in network order, lower case. The first three
 * fields travel little-endian, as SMBIOS stores them; iPXE's `${uuid}` is already in network order. Undefined when the
 * option has another form or the value is one that firmware without an identity sends.
 */
export function machineUuid(option: Buffer | undefined): string | undefined {
  if (option?.length !== 17 || option[0] !== 0) return undefined;
  const fields = Buffer.from(option.subarray(1));
  fields.subarray(0, 4).reverse();
  fields.subarray(4, 6).reverse();
  fields.subarray(6, 8).reverse();
  return canonicalUuid(fields.toString('hex'));
}

/** A UUID in the one spelling of records; undefined for text that is none, and for fillers such as all zeros. */
export function canonicalUuid(text: string): string | undefined {
  const digits = text.toLowerCase().replaceAll('-', '');
  if (!/^[0-9a-f]{32}$/.test(digits) || isFiller(digits)) return undefined;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/**
 * Sent by boards whose vendor never set one, in either byte order: those of many makers; samples of firmware that counts up;
 * https://github.com/SolidRun/lx2160a_uefi/issues/4.
 */
const shared = [
  ...['00020003000400050006000700080009', '03000200040005000006000700080009'],
  ...['123456781234567890abcddeefaabbcc', '785634123412785690abcddeefaabbcc'],
  ...['8a95d1987f4611e5bf8b08002704d48e', '98d1958a467fe511bf8b08002704d48e'],
];

/** One byte repeated (all zeros, all ones) is what firmware without a UUID sends. */
function isFiller(digits: string): boolean {
  return /^(..)\1{15}$/.test(digits) || shared.includes(digits);
}
