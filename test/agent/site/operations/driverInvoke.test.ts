import { expect, test } from 'vitest';
import { drivenBy } from '#agent/site/drivers/boundNode.ts';
import type { ActionContext } from '#agent/site/operations/action.ts';
import { driverInvoke } from '#agent/site/operations/driverInvoke.ts';
import type { OperationInput } from '#contract/operations.ts';

const address = 'https://10.78.0.11';

/** A site's node with a BMC that notes what it is told. */
function nodeWithBmc(): { context: ActionContext; told: unknown[] } {
  const told: unknown[] = [];
  const bmc = {
    getPower: async () => 'on',
    setPower: async (action: string) => {
      told.push(action);
      return 'off';
    },
    setBootDevice: async (override: object) => {
      told.push(override);
      return override;
    },
    insertMedia: async (url: string) => void told.push(url),
    ejectMedia: async () => void told.push('eject'),
    insertedMedia: async () => (told.at(-1) === 'eject' ? undefined : told.at(-1)),
    health: async () => ({ health: 'OK', power: 'on', faults: [] }),
  };
  const node = {
    nodeId: 'node-1',
    macs: [],
    bmc: { driver: 'redfish', address, credentialRef: 'secret://bmc' },
  };
  const state = { entries: { byNode: () => undefined }, mediaUrls: { end: () => {} } };
  const context = { nodeId: 'node-1', node, state, withBmc: (work: (bmc: object) => unknown) => work(bmc) };
  return { context: context as unknown as ActionContext, told };
}

function invocation(change: Partial<OperationInput<'driver.invoke'>>): OperationInput<'driver.invoke'> {
  return { concern: 'power', driver: 'redfish', config: {}, operation: 'getPower', input: {}, ...change };
}

test('the redfish driver does what the site’s own actions of that name do', async () => {
  const { context, told } = nodeWithBmc();
  expect(await driverInvoke.run(invocation({ config: { address } }), context)).toEqual({ power: 'on' });
  await driverInvoke.run(invocation({ operation: 'setPower', input: { action: 'off' } }), context);
  const boot = { concern: 'management', operation: 'setBootDevice', input: { device: 'pxe' } };
  await driverInvoke.run(invocation(boot), context);
  expect(told).toEqual(['off', { device: 'pxe', persistent: false }]);
});

test('the redfish driver puts a medium in, tells what is in, and takes it out', async () => {
  const { context, told } = nodeWithBmc();
  const invoke = (operation: string, input: Record<string, unknown> = {}) =>
    driverInvoke.run(invocation({ concern: 'virtual-media', operation, input }), context);
  const url = 'https://images.example.com/rescue.iso';
  expect(await invoke('insertMedia', { url })).toEqual({ by: 'virtual-media', url });
  expect(await invoke('insertedMedia')).toEqual({ inserted: true, url });
  expect(await invoke('ejectMedia')).toEqual({});
  expect(await invoke('insertedMedia')).toEqual({ inserted: false });
  expect(told).toEqual([url, 'eject']);
});

test('health is told in the shape that the node’s record has', async () => {
  const { context } = nodeWithBmc();
  const health = invocation({ concern: 'management', operation: 'getHealth' });
  expect(await driverInvoke.run(health, context)).toEqual({ health: 'OK', power: 'on', faults: [] });
});

test('another driver reaches the BMC at the same host with the same credentials', () => {
  const bmc = {
    driver: 'redfish',
    address,
    credentialRef: 'secret://bmc',
    bootOrder: 'network-first',
  } as const;
  const node = { nodeId: 'node-1', macs: [], bmc };
  expect(drivenBy(node, 'ipmi', undefined).bmc).toEqual({
    ...bmc,
    driver: 'ipmi',
    address: 'ipmi://10.78.0.11',
  });
  expect(drivenBy(node, 'manual', undefined).bmc).toEqual({ driver: 'manual', bootOrder: 'network-first' });
  expect(drivenBy(node, 'redfish', address)).toBe(node);
});

test('an interrupted invocation is settled as that action is', async () => {
  const { context } = nodeWithBmc();
  expect(await driverInvoke.settle(invocation({}), context, 0)).toEqual({ kind: 'repeat' });
});

test.each([
  ['UNSUPPORTED', { driver: 'snmp' }],
  ['UNSUPPORTED', { driver: 'wake-on-lan' }],
  ['UNSUPPORTED', { driver: 'ipmi', config: { address: 'ipmi://10.78.0.12' } }],
  ['UNSUPPORTED', { driver: 'constructor' }],
  ['UNSUPPORTED', { operation: 'toString' }],
  ['UNSUPPORTED', { config: { address: 'https://10.78.0.12' } }],
  ['INVALID_INPUT', { operation: 'setPower', input: { action: 'fly' } }],
  ['INVALID_INPUT', { input: { more: 1 } }],
  ['INVALID_INPUT', { concern: 'virtual-media', operation: 'insertMedia', input: { url: 'nfs://x/y.iso' } }],
  ['INVALID_INPUT', { concern: 'virtual-media', operation: 'insertMedia', input: {} }],
  ['UNSUPPORTED', { concern: 'virtual-media', driver: 'ipmi', operation: 'insertMedia' }],
  ['UNSUPPORTED', { concern: 'virtual-media', driver: 'manual', operation: 'ejectMedia' }],
])('%s answers %j, and the BMC is told nothing', async (code, change) => {
  const { context, told } = nodeWithBmc();
  await expect(driverInvoke.run(invocation(change), context)).rejects.toMatchObject({ code });
  expect(told).toEqual([]);
});
