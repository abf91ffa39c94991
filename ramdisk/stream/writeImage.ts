import { ignore } from '#base/errors.ts';
import type { DeployImage } from '#contract/operations.ts';
import type { Target } from '../disks/target.ts';
import { moveBackup } from '../gpt.ts';
import type { ReportProgress } from '../operations/progress.ts';
import type { Seed } from '../seed/userData.ts';
import { type Volume, volumesOf } from '../seed/volumes.ts';
import { decompressed } from './decompress.ts';
import { checkDigest, digester } from './digest.ts';
import { checkFits, type ImageFacts, inspectHead } from './inspect.ts';
import type { Artifact } from './source.ts';
import { edgeBytes, type HeldEdges, openWriter } from './writer.ts';

export interface WriteImage {
  image: Pick<DeployImage, 'digest' | 'format' | 'compression' | 'sizeBytes'>;
  artifact: Artifact;
  /** Opens the disk, once it is known what the image needs at least; the disk is closed by the caller. */
  openDisk(neededBytes: number): Promise<Target>;
  /** Put into the image before the disk can boot. */
  seed?: Seed | undefined;
  progress: ReportProgress;
  signal: AbortSignal;
}

export interface Written {
  target: Target;
  artifactBytes: number;
  imageBytes: number;
}

/**
 * Writes an image to a disk so that the disk boots either the whole image or nothing. In this order: everything that can be known from
 * the image's start is checked; the first and last MiB are zeroed and on stable storage; the image follows but for these edges; the digest
 * of the artifact as stored must match; then the edges are written but for sector 0, the seed is put in, and sector 0 is the very last.
 * @throws RailheadError of the source, the decompression, the digest, the seed or the disk; the disk then has zeros at both ends, or was never touched
 */
export async function writeImage({
  image,
  artifact,
  openDisk,
  seed,
  progress,
  signal,
}: WriteImage): Promise<Written> {
  const digest = digester();
  const { state } = artifact;
  const tell = (phase: string) => progress(phase, state.receivedBytes, state.totalBytes);
  const plain = decompressed(image.compression, digest.pass(artifact.bytes()))[Symbol.asyncIterator]();
  try {
    const start = await readStart(plain);
    const facts = inspectHead(start.head, image, state.totalBytes);
    const target = await openDisk(facts.neededBytes);
    checkFits(facts, target);
    const volumes = volumesOf(start.head, facts.gpt, target.sectorSize);
    seed?.check(volumes);
    tell('clearing the disk');
    await makeUnbootable(target);
    const edges = await copy(start, plain, target, () => {
      signal.throwIfAborted();
      tell('writing');
    });
    checkDigest(image.digest, digest.hex(), state.receivedBytes);
    tell('finishing');
    await orUnbootable(target, () => makeBootable(target, edges, facts, seed && { seed, volumes }));
    return { target, artifactBytes: state.receivedBytes, imageBytes: edges.imageBytes };
  } finally {
    await plain.return?.();
  }
}

interface Start {
  /** The image's first bytes, at most one edge. */
  head: Buffer;
  /** What came with the last of them and lies behind. */
  rest: Buffer;
}

async function readStart(plain: AsyncIterator<Buffer>): Promise<Start> {
  const head = Buffer.alloc(edgeBytes);
  let filled = 0;
  for (;;) {
    const next = await plain.next();
    if (next.done) return { head: head.subarray(0, filled), rest: Buffer.alloc(0) };
    const copied = next.value.copy(head, filled);
    filled += copied;
    if (filled === head.length) return { head, rest: Buffer.from(next.value.subarray(copied)) };
  }
}

/** Zeros over both ends: partition tables, boot code and their backups of whatever was there before. */
async function makeUnbootable(target: Target): Promise<void> {
  const { sizeBytes } = target;
  const edge = Math.min(edgeBytes, sizeBytes);
  await target.zero(0, edge);
  await target.zero(sizeBytes - edge, edge);
  await target.sync();
}

async function copy(
  start: Start,
  plain: AsyncIterator<Buffer>,
  target: Target,
  onBytes: () => void,
): Promise<HeldEdges> {
  const writer = openWriter(target);
  try {
    await writer.write(start.head);
    await writer.write(start.rest);
    for (let next = await plain.next(); !next.done; next = await plain.next()) {
      onBytes();
      await writer.write(next.value);
    }
    return await writer.finish();
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}

/** A failure while the edges are written must not leave a disk that boots half of what was meant. */
async function orUnbootable(target: Target, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    // A disk that takes no zeros either has failed for good: why it did first is the news.
    await makeUnbootable(target).catch(ignore);
    throw error;
  }
}

/** The order matters: what lies behind a sector that makes the disk boot is on stable storage before it. */
async function makeBootable(
  target: Target,
  edges: HeldEdges,
  { gpt }: ImageFacts,
  seeding?: { seed: Seed; volumes: Volume[] },
): Promise<void> {
  const { sizeBytes, sectorSize } = target;
  const { head, tail } = withTable(edges, gpt, sizeBytes);
  await target.sync();
  await target.write(tail, sizeBytes - tail.length);
  await target.write(head.subarray(sectorSize), sectorSize);
  await target.sync();
  if (seeding !== undefined) {
    await seeding.seed.install(target.path, seeding.volumes);
    await target.sync();
  }
  await target.write(head.subarray(0, sectorSize), 0);
  await target.sync();
  await target.rereadPartitions();
}

/** The edges with the backup table at this disk's end, in the aligned buffers that they came in. */
function withTable(
  { head, tail }: HeldEdges,
  gpt: ImageFacts['gpt'],
  diskBytes: number,
): Pick<HeldEdges, 'head' | 'tail'> {
  if (gpt === undefined) return { head, tail };
  const moved = moveBackup(head, gpt, diskBytes);
  moved.head.copy(head);
  moved.backup.copy(tail, tail.length - moved.backup.length);
  return { head, tail };
}
