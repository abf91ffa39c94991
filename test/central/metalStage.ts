import { expect, onTestFinished } from 'vitest';
import type { CentralOptions } from '#central/start.ts';
import type { Operation } from '#contract/operations.ts';
import type { Answer } from './centre.ts';
import type { FakeSite } from './fakeSite.ts';
import { type EventView, enroll, follow, signedSuccess, type WorkflowView, workflow } from './line.ts';
import { sampleProfile } from './sampleProfile.ts';
import { type Stage, setStage } from './stage.ts';

/** What the ramdisk of a machine answers, by action; a function sees the operation. */
export type Answers = Record<
  string,
  object | ((operation: Operation, site: FakeSite) => Promise<boolean> | boolean)
>;

/** A clean wipe of one disk, as a ramdisk tells of it. */
export function wiped(mode: unknown, changed = 4) {
  const disk = { device: '/dev/vda', sizeBytes: 1000, method: 'ends-zeroed', seconds: 1 };
  return { mode, disks: mode === 'none' ? [] : [{ ...disk, readBack: { blocks: 4, changed } }] };
}

export const inventory = {
  system: {
    uuid: '564d0a10-1111-2222-3333-444455556666',
    architecture: 'x86_64',
    bootMode: 'uefi',
    cpus: { sockets: 1, cores: 4, threads: 8 },
    memoryBytes: 2 ** 30,
  },
  nics: [{ name: 'eth0', mac: '52:54:00:00:00:01', linkUp: true }],
  disks: [],
  gpus: [],
};

const ramdiskAnswers: Answers = {
  'inventory.refresh': { sections: inventory },
  'diag.dcgm': {
    level: 2,
    gpus: 1,
    tests: [{ category: 'Deployment', name: 'libraries', status: 'passed' }],
  },
};

export const bmc = { address: 'https://10.78.0.11', credentialRef: 'secret://bmc/node-2' };

/** A centre and a site with `node-2` enrolled, BMC and all, whose ramdisk answers as told. */
export async function metalStage(
  answers: Answers = {},
  options: Partial<CentralOptions> = {},
): Promise<Stage> {
  const stage: Stage = await setStage(
    async (operation, site) => {
      const answer =
        answers[operation.action] ??
        ramdiskAnswers[operation.action] ??
        (operation.action === 'disk.wipe' ? wiped(operation.input.mode) : undefined);
      if (typeof answer === 'function') return answer(operation, site);
      if (answer === undefined) return false;
      if (operation.target === 'site') await site.succeed(operation, answer as Record<string, unknown>);
      else await site.report({ results: [await signed(stage, operation, answer)] });
      return true;
    },
    sampleProfile,
    options,
  );
  onTestFinished(() => stage.close());
  await enroll(stage.line, 'node-2', '52:54:00:00:00:02', { bmc });
  await follow(stage.line.call, (await nodeRecord(stage)).workflowId as string);
  return stage;
}

export function signed(stage: Stage, operation: Operation, result: object) {
  const machine = stage.machines.get(operation.nodeId);
  if (machine === undefined) throw new Error(`no machine plays ${operation.nodeId}`);
  return signedSuccess(operation, machine, result as Record<string, unknown>);
}

/** Calls a method of metal on a node and follows the workflow that it starts. */
export async function runMetal(
  { line }: Stage,
  name: string,
  more: object = {},
): Promise<{ ended: WorkflowView; events: EventView[]; node: Record<string, unknown>; workflowId: string }> {
  const input = { tenantId: 'root', nodeId: 'node-2', ...more };
  const { data, error } = await line.call<{ workflowId: string }>(`metal.${name}`, input);
  if (error !== undefined) throw new Error(`${error.code}: ${error.message}`);
  const events = await follow(line.call, data.workflowId);
  const ended = await workflow(line.call, data.workflowId);
  return { ended, events, node: await nodeRecord({ line }, input.nodeId), workflowId: data.workflowId };
}

export async function nodeRecord({ line }: Pick<Stage, 'line'>, nodeId = 'node-2') {
  return (await line.call('nodes.get', { tenantId: 'root', nodeId })).data;
}

/** That a call was refused as the state of the node demands. */
export function expectWrongState(answer: Answer<unknown>, state: string): void {
  expect(answer).toMatchObject({
    status: 409,
    error: { code: 'INVALID_STATE', details: { reason: 'node-state', state } },
  });
}
