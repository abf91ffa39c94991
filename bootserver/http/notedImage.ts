import type { Writable } from 'node:stream';
import type { BootFact } from '#contract/bootFact.ts';
import type { Boots } from '../boots.ts';
import type { Answer } from './answer.ts';
import type { BootRequest } from './request.ts';

type ImageFact = Extract<BootFact, { step: 'image' }>;

/**
 * An image's answer that tells the machine's timeline how it went: asked for, then all there or cut off. Ranges are the many pieces of
 * one download: of them only a request for the start is a step of the boot, and the first, since a BIOS begins to read an ISO in its middle.
 */
export async function notedImage(
  request: BootRequest,
  { boots, holders }: { boots: Boots; holders: { macAt(address: string): string | undefined } },
  coming: Promise<Answer | undefined>,
): Promise<Answer | undefined> {
  const { path, range, method } = request;
  const mac = holders.macAt(request.from);
  if (mac === undefined || method !== 'GET') return coming;
  const isFirst = range !== undefined && boots.isFirstPiece(mac, path);
  if (!isFirst && !isStart(range)) return coming;
  const note = (outcome: ImageFact['outcome'], words: string) =>
    boots.note(mac, 'boot.http', `${path}${words}`, { step: 'image', part: partOf(path), outcome });
  note('asked', '');
  const answer = await coming;
  if (answer === undefined || answer.status >= 400)
    note('refused', `: refused with ${answer?.status ?? 404}`);
  if (answer === undefined || range !== undefined || typeof answer.body !== 'function') return answer;
  return { ...answer, body: told(answer.body, note, answer.length) };
}

function isStart(range: string | undefined): boolean {
  return range === undefined || range.startsWith('bytes=0-');
}

function partOf(path: string): ImageFact['part'] {
  const section = /\/sections\/(linux|initrd)$/.exec(path)?.[1];
  return section === undefined ? 'whole' : (section as 'linux' | 'initrd');
}

function told(
  body: (target: Writable) => Promise<void>,
  note: (outcome: ImageFact['outcome'], words: string) => void,
  bytes: number,
): (target: Writable) => Promise<void> {
  return async (target) => {
    try {
      await body(target);
    } catch (error) {
      note('cut', ': cut off');
      throw error;
    }
    note('complete', `: ${bytes} bytes sent`);
  };
}
