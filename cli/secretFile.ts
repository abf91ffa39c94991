import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';

/** A secret from a file, or from standard input for `-`: on the command line every user of the host would see it. */
export async function readSecret(file: string): Promise<string> {
  const content = file === '-' ? await text(process.stdin) : await readFile(file, 'utf8');
  return content.replace(/\r?\n$/, '');
}
