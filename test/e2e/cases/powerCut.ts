import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EndToEndCase } from '../endToEndCase.ts';
import { imagesOfCycle } from '../powerCut/images.ts';
import { buildGuest, type GuestFiles, powerOn, type RunningGuest } from '../powerCut/machine.ts';
import type { Report } from '../report.ts';

const cuts = 5;

export const powerCut: EndToEndCase = {
  name: 'power-cut',
  about:
    'the cache in a machine whose power is cut while it writes: what was called ready is whole, and nothing else is served',
  run: async (report, { signal, keep }) => {
    const directory = await mkdtemp(path.join(tmpdir(), 'railhead-power-cut-'));
    try {
      report.phase('build the machine');
      await cutRepeatedly(report, await buildGuest(directory), signal);
    } finally {
      if (!keep) await rm(directory, { recursive: true, force: true });
    }
  },
};

/** What the machine has promised, and what became of files that it never flushed. */
interface Kept {
  ready: Set<string>;
  plainWritten: number;
  plainWhole: number;
}

async function cutRepeatedly(report: Report, files: GuestFiles, signal: AbortSignal): Promise<void> {
  const kept: Kept = { ready: new Set(), plainWritten: 0, plainWhole: 0 };
  const found = { missing: 0, wrong: 0, temporaries: 0 };
  for (let cycle = 0; cycle <= cuts; cycle++) {
    signal.throwIfAborted();
    report.phase(`boot ${cycle}`);
    const guest = powerOn(files, cycle, cycle === cuts);
    try {
      await guest.until((line) => line === 'CHECKED', 90_000);
      lookAt(guest, kept, found);
      if (cycle < cuts) await pullUntilCut(guest);
    } finally {
      await guest.cut();
    }
    for (const digest of said(guest, 'READY')) kept.ready.add(digest);
  }
  report.check(`images were called ready before ${cuts} cuts`, kept.ready.size >= cuts, kept.ready.size);
  report.check('the cuts lost what was not flushed', kept.plainWhole < kept.plainWritten, kept);
  report.check('every image that was called ready is held after the cut', found.missing === 0, found);
  report.check('every image that is held is served as its digest says', found.wrong === 0, found);
  report.check('nothing half written is left', found.temporaries === 0, found);
}

/** At a moment of chance between the first image that is ready and the last. */
async function pullUntilCut(guest: RunningGuest): Promise<void> {
  const enough = randomInt(1, Math.floor(imagesOfCycle / 2));
  await guest.until(() => said(guest, 'READY').length >= enough, 60_000);
  await sleep(randomInt(0, 300));
}

function lookAt(
  guest: RunningGuest,
  kept: Kept,
  found: { missing: number; wrong: number; temporaries: number },
): void {
  const served = new Map(said(guest, 'SERVED').map((words) => words.split(' ') as [string, string]));
  for (const digest of kept.ready) if (!served.has(digest)) found.missing++;
  for (const [digest, came] of served) if (digest !== came) found.wrong++;
  const [names = '[]'] = said(guest, 'FILES');
  found.temporaries += (JSON.parse(names) as string[]).filter((name) => name.startsWith('tmp/')).length;
  const [plain = '[]'] = said(guest, 'PLAIN');
  kept.plainWhole = (JSON.parse(plain) as [string, number][]).filter(([, bytes]) => bytes === 100_000).length;
  kept.plainWritten = kept.ready.size;
  console.error(
    `  ${served.size} held, ${kept.ready.size} promised; of ${kept.plainWritten} files never flushed ${kept.plainWhole} are whole`,
  );
}

function said(guest: RunningGuest, word: string): string[] {
  return guest.lines.flatMap((line) =>
    line.startsWith(`${word} `) ? [line.slice(word.length + 1).trim()] : [],
  );
}
