/**
 * Text as one word of a GRUB script, in single quotes, inside which GRUB reads every character as it stands.
 * @throws RangeError for what cannot stand there: a quote, a line end or another control character
 */
export function quoted(text: string): string {
  if (!/^[\x20-\x26\x28-\x7e]*$/.test(text))
    throw new RangeError(`not a word of a GRUB script: ${JSON.stringify(text)}`);
  return `'${text}'`;
}

/**
 * A file of the boot listener as GRUB names it: `(http,10.0.0.1:8080)/path`. A comma before the port, as GRUB's manual has it, is part of a host
 * name for Debian's 2.12 (seen). `httpUrl` is `http://<address>:<port>`.
 */
export function overHttp(httpUrl: string, path: string): string {
  return `(http,${new URL(httpUrl).host})${path}`;
}

/** A reference to a variable of a GRUB script, e.g. `${net_default_mac}`. GRUB expands it when the line runs. */
export function variable(name: string): string {
  return `\${${name}}`;
}
