/**
 * Whether two spellings name the same product UUID: letters of either case, and firmware writes the first three fields in either
 * byte order (SMBIOS 3.7, 7.2.1).
 */
export function isSameUuid(one: string, other: string): boolean {
  const [known, told] = [one.toLowerCase(), other.toLowerCase()];
  return known === told || known === swapped(told);
}

/** One spelling for both byte orders, to look a UUID up by. */
export function canonicalUuid(uuid: string): string {
  const told = uuid.toLowerCase();
  const [first = told] = [told, swapped(told)].toSorted();
  return first;
}

/** The spelling in the other byte order. */
function swapped(uuid: string): string {
  const [first = '', second = '', third = '', ...rest] = uuid.split('-');
  return [first, second, third].map(reversedBytes).concat(rest).join('-');
}

function reversedBytes(hex: string): string {
  return (hex.match(/../g) ?? []).reverse().join('');
}
