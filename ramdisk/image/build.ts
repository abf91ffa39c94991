import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { writeDurably } from '#base/durableFile.ts';
import { isENOENT } from '#base/errors.ts';
import { keepNewest } from '#base/keepNewest.ts';
import { assembleUki, type UkiSection } from '#base/uki.ts';
import { type BaseOptions, buildBase, keyOf, type RamdiskBase } from './base.ts';
import { kept } from './cached.ts';
import type { RamdiskInput } from './parts.ts';
import { type Personality, personalArchive, personalInput } from './personality.ts';

export interface Ramdisk {
  file: string;
  /** sha256 in hex. */
  digest: string;
  sizeBytes: number;
  /** All that decided the bytes: the same inputs give the same digest. */
  inputs: RamdiskInput[];
}

/**
 * Builds the ramdisk of one centre as a unified kernel image. What does not depend on the centre is cached by the digest of its
 * inputs; making that a centre's own takes less than two seconds.
 */
export async function buildRamdisk(options: BaseOptions & Personality): Promise<Ramdisk> {
  return personalise(await buildBase(options), options);
}

/** Adds what one centre's machines need to a base, which stays as it is. */
export async function personalise(base: RamdiskBase, personality: Personality): Promise<Ramdisk> {
  const inputs = [...base.inputs, personalInput(personality)];
  const file = path.join(base.directory, `${keyOf(inputs)}.efi`);
  const image = (await readWhole(file)) ?? (await assembleInto(file, base, personality));
  await keepNewest(base.directory, path.basename(file), kept);
  const digest = createHash('sha256').update(image).digest('hex');
  return { file, digest, sizeBytes: image.length, inputs };
}

async function assembleInto(file: string, base: RamdiskBase, personality: Personality): Promise<Buffer> {
  const image = assembleUki({ stub: base.stub, sections: sections(base, personality) });
  await mkdir(path.dirname(file), { recursive: true });
  await writeDurably(file, image);
  return image;
}

async function readWhole(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if (isENOENT(error)) return undefined;
    throw error;
  }
}

function sections(base: RamdiskBase, personality: Personality): UkiSection[] {
  const { commandLine } = personality;
  const about = ['ID=railhead-ramdisk', 'NAME="Railhead ramdisk"', 'PRETTY_NAME="Railhead ramdisk"', ''];
  return [
    { name: '.osrel', data: Buffer.from(about.join('\n')) },
    { name: '.uname', data: Buffer.from(base.uname) },
    ...(commandLine === undefined ? [] : [{ name: '.cmdline', data: Buffer.from(commandLine) }]),
    { name: '.linux', data: base.linux },
    // The kernel unpacks the archives one over the other.
    { name: '.initrd', data: Buffer.concat([base.initrd, personalArchive(personality)]) },
  ];
}
