import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Bmcs } from '#agent/site/operations/bmcs.ts';
import { type Executor, startExecutor } from '#agent/site/operations/executor.ts';
import { openState, type SiteState } from '#agent/site/store/state.ts';
import { signDocument } from '#base/jws.ts';
import { silentLog } from '#base/log.ts';
import type { BootEntry } from '#contract/bootEntry.ts';
import { RailheadError } from '#contract/errors.ts';
import { newId } from '#contract/ids.ts';
import type { Operation, OperationAction, OperationInput, OperationResult } from '#contract/operations.ts';
import { operations } from '#contract/operations.ts';
import type { Bmc, Power } from '#redfish/bmc.ts';

export const siteId = 'site_01bench';
export const nodeId = 'node_01bench';
export const mac = '02:00:00:00:00:01';
export const digest = '1'.repeat(64);

/** A machine behind a BMC as far as the executor sees it: a power state, a boot override, and what was asked of it. */
export interface FakeMachine {
  power: Power;
  calls: string[];
  /** Set to hold every call until the promise resolves. */
  gate?: Promise<void>;
  failWith?: RailheadError;
  /** Schemes of URLs that the BMC refuses to mount. */
  refusedSchemes?: readonly string[];
}

export interface ExecutorBench {
  state: SiteState;
  machine: FakeMachine;
  entry(more?: Partial<BootEntry>): Promise<string>;
  /** The same for an ISO, `digest`. */
  isoEntry(more?: Partial<BootEntry>): Promise<string>;
  /** Journals an operation; `started` leaves it as a killed agent does. */
  journal<Action extends OperationAction>(
    action: Action,
    input: OperationInput<Action>,
    more?: Partial<Operation> & { started?: number },
  ): string;
  start(): Executor;
  result(operationId: string): Promise<OperationResult>;
}

export async function setUpExecutor(
  options: {
    node?: false;
    ready?: (digest: string, signal?: AbortSignal) => Promise<void>;
    mediaPlaces?: string[];
  } = {},
): Promise<ExecutorBench> {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-executor-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const state = await openState(directory);
  onTestFinished(() => state.close());
  const bmc = { driver: 'redfish', address: 'https://bmc', credentialRef: 'secret://bmc' } as const;
  const nodes = options.node === false ? [] : [{ nodeId, macs: [mac], bmc }];
  state.spec.replace({ nodeId: siteId, role: 'site', generation: 1, site: { cacheImages: [], nodes } });
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const machine: FakeMachine = { power: 'off', calls: [] };
  const waiting = new Set<() => void>();
  const find = (id: string) => state.journal.results(100).find((result) => result.operationId === id);
  const signEntry = (boots: object, more: object) => {
    const bound = { entryId: newId('be'), siteId, nodeId, macs: [mac] };
    const times = {
      issuedAt: new Date().toISOString(),
      expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
    };
    return signDocument('railhead-boot-entry', { ...bound, ...boots, ...times, ...more }, privateKey);
  };
  return {
    state,
    machine,
    entry: (more = {}) => signEntry({ ramdisk: { ref: 'ramdisk@1', digests: { x86_64: digest } } }, more),
    isoEntry: (more = {}) => signEntry({ iso: { ref: 'installer@1', digest } }, more),
    journal: (action, input, { started, ...more } = {}) => {
      const operationId = newId('op');
      const { target } = operations[action];
      const expiresAt = new Date(Date.now() + 60_000).toISOString();
      state.journal.receive([
        { operationId, nodeId, target, action, input, expiresAt, ...more } as Operation,
      ]);
      if (started !== undefined) state.journal.start(operationId, started);
      return operationId;
    },
    start: () => {
      const executor = startExecutor({
        siteId,
        signingKeys: () => [publicKey],
        state,
        cache: { ready: options.ready ?? (async () => {}) },
        mediaPlaces: async () => options.mediaPlaces ?? ['http://192.0.2.1:8080'],
        bmcs: fakeBmcs(machine),
        secrets: { text: async () => 'admin:another password', settleFormer: (_node, account) => account },
        onResult: () => {
          for (const resume of waiting) resume();
        },
        log: silentLog(),
      });
      onTestFinished(() => executor.close());
      return executor;
    },
    result: async (operationId) => {
      while (find(operationId) === undefined) await new Promise<void>((resolve) => waiting.add(resolve));
      return find(operationId) as OperationResult;
    },
  };
}

function fakeBmcs(machine: FakeMachine): Bmcs {
  const call = async <Result>(what: string, result: () => Result): Promise<Result> => {
    machine.calls.push(what);
    await machine.gate;
    if (machine.failWith !== undefined) throw machine.failWith;
    return result();
  };
  const bmc = {
    getPower: () => call('getPower', () => machine.power),
    setPower: (action) =>
      call(`setPower ${action}`, () => {
        machine.power = action === 'off' || action === 'graceful-off' ? 'off' : 'on';
        return machine.power;
      }),
    setBootDevice: (override) => call(`setBootDevice ${override.device}`, () => override),
    insertMedia: (url) =>
      call(`insertMedia ${url}`, () => {
        if (machine.refusedSchemes?.some((scheme) => url.startsWith(`${scheme}:`)))
          throw new RailheadError('DRIVER_ERROR', 'not by this scheme', { reason: 'refused' });
      }),
    insertedMedia: () => call('insertedMedia', () => undefined),
    ejectMedia: () => call('ejectMedia', () => {}),
  } as Partial<Bmc> as Bmc;
  const use: Bmcs['use'] = (_node, work) => work(bmc);
  return { use, read: use, closeSession: async () => {}, close: async () => {} };
}

/** A cache whose image is still on its way: `asked` resolves once someone waits for it. */
export function pendingImage() {
  let waits = () => {};
  const asked = new Promise<void>((resolve) => {
    waits = resolve;
  });
  const ready = (_digest: string, signal?: AbortSignal) =>
    new Promise<void>((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
      waits();
    });
  return { asked, ready };
}
