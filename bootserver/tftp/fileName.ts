/**
 * The name under which a file is looked up: no leading slash, forward slashes only, none doubled. Undefined for a name
 * that climbs or holds control characters; such a file does not exist.
 */
export function canonicalFileName(name: string): string | undefined {
  const parts = name.split(/[/\\]+/).filter((part) => part !== '' && part !== '.');
  if (parts.length === 0 || parts.includes('..') || hasControlCharacter(name)) return undefined;
  return parts.join('/');
}

function hasControlCharacter(text: string): boolean {
  return Array.from(text).some((character) => character < ' ' || character === '\x7f');
}
