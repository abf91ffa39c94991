/** The BMC itself by Get Device ID (IPMI 2.0 §20.1), of the answer's bytes after the completion code; empty for fewer. */
export function parseController(bytes: Buffer): { model?: string; firmwareVersion?: string } {
  if (bytes.length < 11) return {};
  const major = (bytes[2] ?? 0) & 0x7f;
  const minor = (bytes[3] ?? 0).toString(16).padStart(2, '0');
  const manufacturer = bytes.readUIntLE(6, 3) & 0x0fffff;
  return {
    model: `${manufacturers[manufacturer] ?? `IANA ${manufacturer}`} product ${bytes.readUInt16LE(9)}`,
    firmwareVersion: `${major}.${minor}`,
  };
}

/** Private enterprise numbers of those whose BMCs are met. */
const manufacturers: Readonly<Record<number, string>> = {
  11: 'HP',
  343: 'Intel',
  674: 'Dell',
  2623: 'ASUS',
  5703: 'NVIDIA',
  7244: 'Quanta',
  10368: 'Fujitsu',
  10876: 'Supermicro',
  15370: 'Gigabyte',
  19046: 'Lenovo',
  20301: 'IBM',
  47196: 'HPE',
};

/** The product UUID in ipmitool's `mc guid`, which knows the orders of bytes that BMCs use; none for all zeros or ones. */
export function parseGuid(text: string): string | undefined {
  const found = /^System GUID\s*:\s*([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\s*$/im.exec(text)?.[1];
  return found === undefined || /^[0-]+$|^[f-]+$/i.test(found) ? undefined : found.toLowerCase();
}
