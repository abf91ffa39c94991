/**
 * The user classes of option 77. RFC 3004 §4 wants each with a length before it; iPXE and Microsoft's clients send one
 * bare string. What does not add up as a list is taken as that string.
 */
export function userClasses(option: Buffer | undefined): string[] {
  if (option === undefined || option.length === 0) return [];
  return lengthPrefixed(option) ?? [option.toString('latin1')];
}

function lengthPrefixed(option: Buffer): string[] | undefined {
  const classes: string[] = [];
  for (let at = 0; at < option.length; ) {
    const length = option[at] ?? 0;
    if (length === 0 || at + 1 + length > option.length) return undefined;
    classes.push(option.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return classes;
}
