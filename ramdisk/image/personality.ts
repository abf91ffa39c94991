import { createHash } from 'node:crypto';
import { type CpioEntry, cpioArchive } from './cpio.ts';
import type { RamdiskInput } from './parts.ts';

/** What makes a ramdisk a centre's own. Nothing of it is secret: the image is public. */
export interface Personality {
  /** Content of /etc/railhead/trust.json: the centre's CA and the key that signs its operations. */
  trust?: object;
  /** A fixed kernel command line (for an image that the firmware verifies). Without it the boot loader's counts. */
  commandLine?: string;
  /** A root shell on the console, for whoever works on the ramdisk itself. */
  consoleShell?: boolean;
}

export function personalInput(personality: Personality): RamdiskInput {
  const { commandLine = null } = personality;
  const text = JSON.stringify([commandLine, personalFiles(personality)]);
  return { name: 'personality', digest: createHash('sha256').update(text).digest('hex') };
}

/** An initramfs archive with these files, to be put after the others; empty when there is none. */
export function personalArchive(personality: Personality): Buffer {
  const files = Object.entries(personalFiles(personality));
  if (files.length === 0) return Buffer.alloc(0);
  return cpioArchive([
    ...['etc', 'etc/railhead'].map(folder),
    ...files.map(([name, text]) => file(name, text)),
  ]);
}

function personalFiles({ trust, commandLine, consoleShell }: Personality): Record<string, string> {
  return {
    ...(trust !== undefined && { 'etc/railhead/trust.json': `${JSON.stringify(trust)}\n` }),
    // So that the ramdisk can tell whether it runs with this very one.
    ...(commandLine !== undefined && { 'etc/railhead/command-line': `${commandLine}\n` }),
    ...(consoleShell && { 'etc/railhead/console-shell': '' }),
  };
}

function folder(path: string): CpioEntry {
  return { path, kind: 'directory', mode: 0o755, data: Buffer.alloc(0) };
}

function file(path: string, text: string): CpioEntry {
  return { path, kind: 'file', mode: 0o644, data: Buffer.from(text) };
}
