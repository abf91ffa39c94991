import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Disk } from '#ramdisk/disks/disk.ts';
import { deployTo } from '#ramdisk/steps/deployImage.ts';
import { follow, workflow } from '../../central/line.ts';
import { loopDisk, type TestDisk } from '../../ramdisk/fakes/loopDisk.ts';
import { httpSource, serving } from '../../ramdisk/fakes/source.ts';
import { attempts } from '../../tampering/attempts.ts';
import { tryAttempt } from '../../tampering/outcome.ts';
import { type Scene, setScene } from '../../tampering/scene.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import type { Report } from '../report.ts';

const mebibyte = 1 << 20;
/** A disk that is named may be a small one. */
const serial = 'LOOP';

export const tamperingSite: EndToEndCase = {
  name: 'tampering-site',
  about:
    'a site changes every field between a real centre and the real ramdisk agent on a loop device: each is caught',
  run: async (report, { signal }) => {
    report.phase('a site that changes nothing');
    const image = randomBytes(4 * mebibyte);
    const disk = await loopDisk({ sizeBytes: 16 * mebibyte });
    const source = await httpSource(serving(image));
    const scene = await sceneOn(disk, image, source.url);
    try {
      await honestDeploy(report, scene, disk, image);
      report.phase('a site that changes one field');
      await tamper(report, scene, disk, image, signal);
    } finally {
      report.phase('clean up');
      await scene.close();
      await source.close();
      await disk.remove();
    }
  },
};

function sceneOn(disk: TestDisk, image: Buffer, imagesUrl: string): Promise<Scene> {
  const listed: Disk = {
    name: path.basename(disk.path),
    path: disk.path,
    sizeBytes: 16 * mebibyte,
    logicalSectorSize: 512,
    serial,
    rotational: false,
    removable: false,
    readOnly: false,
    usedBy: [],
    otherPaths: [],
  };
  const sha256 = createHash('sha256').update(image).digest('hex');
  const siteImage = async (digest: string) => ({ url: `${imagesUrl}/sha256/${digest}` });
  return setScene({
    runStep: ({ action, input }, context) => {
      if (action !== 'deploy.image') throw new Error(`${action} was begun`);
      return deployTo(async () => [listed], input, { ...context, siteImage });
    },
    image: { sha256, sizeBytes: image.length, compression: 'none' },
    disk: { serial },
    withoutUserData: true,
  });
}

async function honestDeploy(report: Report, scene: Scene, disk: TestDisk, image: Buffer): Promise<void> {
  const { call } = scene.line;
  const { workflowId, nodeId, end } = await scene.deploy();
  await follow(call, workflowId);
  const { state, error } = await workflow(call, workflowId);
  report.check('the deploy succeeds', state === 'succeeded', error);
  report.check('the disk has the image', await holds(disk, image));
  const { data } = await call<{ alarms: unknown[] }>('nodes.get', { tenantId: 'root', nodeId });
  report.check('nobody is alarmed', data.alarms.length === 0, data.alarms);
  await end();
}

async function tamper(
  report: Report,
  scene: Scene,
  disk: TestDisk,
  image: Buffer,
  signal: AbortSignal,
): Promise<void> {
  for (const attempt of attempts(() => 'node-1', { withSecrets: false })) {
    signal.throwIfAborted();
    await disk.clear();
    const { caught, found } = await tryAttempt(scene, attempt);
    const { by } = attempt.caught;
    report.check(`${attempt.field}: noticed by the ${by}`, caught, found);
    // A result is changed after the fact: the machine did what the centre said.
    const asOrdered = by === 'results' ? await holds(disk, image) : await disk.isClear();
    report.check(`${attempt.field}: the disk is as the centre ordered`, asOrdered);
  }
}

async function holds(disk: TestDisk, image: Buffer): Promise<boolean> {
  return (await disk.content()).subarray(0, image.length).equals(image);
}
