import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { follow, workflow } from '../central/line.ts';
import type { Attempt } from './attempts.ts';
import type { Deployment, Scene } from './scene.ts';

/** How an attempt came out; `found` is what was seen instead where it was not caught by its name. */
export interface Outcome {
  caught: boolean;
  found: unknown;
}

/** Deploys to a new machine under one attempt of the site, and sees whether whoever has to notice does. */
export async function tryAttempt(scene: Scene, attempt: Attempt): Promise<Outcome> {
  scene.site.tampering = attempt.tampering;
  const deployment = await scene.deploy();
  try {
    return await outcomeOf(scene, deployment, attempt);
  } finally {
    await deployment.end();
    scene.site.tampering = {};
  }
}

async function outcomeOf(scene: Scene, deployment: Deployment, { caught }: Attempt): Promise<Outcome> {
  const { call } = scene.line;
  const { machine, nodeId, workflowId } = deployment;
  const patience = AbortSignal.timeout(15_000);
  const late = new Promise<Outcome>((resolve) =>
    patience.addEventListener('abort', () => resolve({ caught: false, found: { said: machine.said } })),
  );
  const seen = async (): Promise<Outcome> => {
    if (caught.by === 'machine') {
      const line = await machine.says(caught.says);
      return { caught: true, found: line };
    }
    if (caught.by === 'centre') return refusedJoin(scene, nodeId, caught.reason);
    await follow(call, workflowId);
    const { error } = await workflow(call, workflowId);
    const { reason, path } = error?.details ?? {};
    const found = caught.by === 'ramdisk' ? { reason } : { reason, path };
    const expected =
      caught.by === 'ramdisk' ? { reason: caught.reason } : { reason: 'result-signature', path: caught.path };
    return { caught: isDeepStrictEqual(found, expected), found: error };
  };
  return Promise.race([seen(), late]);
}

/** A refused join is an alarm of the site, whichever node it named, and nothing has joined. */
async function refusedJoin(
  { line: { call, siteId } }: Scene,
  nodeId: string,
  reason: string,
): Promise<Outcome> {
  type Sites = { items: { alarms: { reason: string; text: string }[] }[] };
  const alarmsNow = async () => (await call<Sites>('sites.list')).data.items[0]?.alarms ?? [];
  let alarms = await alarmsNow();
  for (; alarms.length === 0; alarms = await alarmsNow()) await delay(20);
  const { data: node } = await call<{ ramdisk?: object }>('nodes.get', { tenantId: 'root', nodeId });
  await call('sites.acknowledge', { siteId });
  const [alarm] = alarms;
  const isNamed = alarm?.reason === 'join-refused' && alarm.text.includes(`(${reason})`);
  return { caught: isNamed && node.ramdisk === undefined, found: { alarms, ramdisk: node.ramdisk } };
}
