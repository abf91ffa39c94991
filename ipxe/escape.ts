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

/** A reference to an iPXE setting, e.g. `${net0/mac}`. iPXE expands it when the line runs. */
export function setting(name: string): string {
  return `\${${name}}`;
}
