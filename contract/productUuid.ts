/**
 * Whether two spellings name the same product UUID: letters of either case, and firmware writes the first three fields in either
 * byte order (SMBIOS 3.7, 7.2.1).
 */
export function isSameUuid(one: string, other: string): boolean {
  const [known, told] = [one.toLowerCase(), other.toLowerCase()];
  return known === told || known === swapped(told);
}

/** The spelling in the other byte order. */
export function swapped(uuid: string): string {
  const [first = '', second = '', third = '', ...rest] = uuid.split('-');
  return [first, second, third].map(reversedBytes).concat(rest).join('-');
}

function reversedBytes(hex: string): string {
  return (hex.match(/../g) ?? []).reverse().join('');
}
