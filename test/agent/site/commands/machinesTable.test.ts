import { expect, test } from 'vitest';
import { machinesTable, type ShownMachine } from '#agent/site/commands/machinesTable.ts';

function machine(mac: string, more: Partial<ShownMachine> = {}): ShownMachine {
  const at = '2026-01-01T10:20:30.456Z';
  return { machineId: mac, macs: [mac], firstSeen: at, lastSeen: at, boots: 1, ...more };
}

const uuid = '00112233-4455-6677-8899-aabbccddeeff';
const node = machine('02:00:00:00:00:0a', { uuid, nodeId: 'node_1' });
const stranger = machine('02:00:00:00:00:0b', { uuid: '33221100-5544-7766-8899-aabbccddeeff' });

test('a machine that tells the UUID of a node is shown as such, in either byte order', () => {
  const [, row] = machinesTable([stranger], [stranger, node]).split('\n');
  expect(row).toContain(`${stranger.uuid} (same as node_1)`);
  expect(row).toContain('2026-01-01 10:20:30');
});

test('what the BMC of a node said last is shown', () => {
  const health = { health: 'Critical' as const, power: 'on' as const, faults: [] };
  const [, row] = machinesTable([machine('02:00:00:00:00:0c', { nodeId: 'node_2', health })], []).split('\n');
  expect(row).toMatch(/node_2 +Critical on +-/);
});

test('a UUID that one machine has is shown alone, and one that many have names a few', () => {
  expect(machinesTable([node], [node])).not.toContain('same as');
  const many = Array.from({ length: 9 }, (_, at) => machine(`02:00:00:00:01:0${at}`, { uuid }));
  expect(machinesTable([node], [node, ...many])).toContain(', 6 more)');
});
