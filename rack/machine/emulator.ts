import path from 'node:path';
import { openToolbox } from '#base/debian/toolbox.ts';
import { type FirmwareName, firmware } from './firmware.ts';

/** QEMU and the firmware of a machine of another architecture than this host's: Debian 13's, unpacked and not installed. */
export interface Emulator {
  /** How its QEMU is started, without the arguments of a machine. */
  command: readonly [program: string, ...args: string[]];
  /** Where its packages are unpacked: the firmware's files are named from there. */
  root: string;
}

const cacheDirectory = path.resolve(import.meta.dirname, '../../.cache/debian');

/** Fetches what runs a machine of this firmware, once; undefined where the host's own QEMU does. */
export async function emulatorFor(name: FirmwareName): Promise<Emulator | undefined> {
  const { emulator } = firmware(name);
  if (emulator === undefined) return undefined;
  const { command, root } = await openToolbox(emulator.packages, { cacheDirectory });
  const [program, args] = command(emulator.program, ['-L', path.join(root, 'usr/share/qemu')]);
  return { command: [program, ...args], root };
}

/** A firmware's file: of the host, or of the emulator's packages. */
export function firmwareFile(file: string, emulator: Emulator | undefined): string {
  return emulator === undefined ? file : path.join(emulator.root, file);
}
