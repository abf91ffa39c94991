/**
 * Text that may stand in an iPXE script as one word. A script is lines of words: what a client or a file name brought in
 * must not be able to end its word, expand a setting or begin a line.
 * @throws RangeError for anything but a letter or digit, followed by such and a few harmless marks
 */
export function scriptWord(text: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._:/=,@%+~?&[\]-]*$/.test(text))
    throw new RangeError(`not a word of an iPXE script: ${JSON.stringify(text)}`);
  return text;
}

/**
 * A path on an EFI file system (`\EFI\BOOT\BOOTX64.EFI`) as one word. iPXE reads a backslash as it stands, except at the
 * end of a line: that one continues it.
 * @throws RangeError for a path that is not absolute, or whose names are not words
 */
export function efiPath(path: string): string {
  const [before, ...names] = path.split('\\');
  if (before !== '' || names.length === 0) throw new RangeError(`not an EFI path: ${JSON.stringify(path)}`);
  return names.map((name) => `\\${scriptWord(name)}`).join('');
}

/** A reference to an iPXE setting, e.g. `${net0/mac}`. iPXE expands it when the line runs. */
export function setting(name: string): string {
  return `\${${name}}`;
}
