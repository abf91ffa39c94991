import { expect, onTestFinished, test } from 'vitest';
import { newId } from '#contract/ids.ts';
import { enroll } from './line.ts';
import { setStage } from './stage.ts';

interface Page {
  items: { type: string; text: string; data?: { logEntry?: object } }[];
  cursor: string;
}

async function started() {
  const stage = await setStage();
  onTestFinished(stage.close);
  const { call } = stage.line;
  const ask = async (more: object): Promise<Page> =>
    (await call<Page>('nodes.events', { tenantId: 'root', nodeId: 'node-1', ...more })).data as Page;
  const tell = (...events: object[]) => {
    const at = new Date().toISOString();
    return stage.site.report({
      events: events.map((event) => ({ eventId: newId('ev'), at, nodeId: 'node-1', ...event })) as never,
    });
  };
  return { ask, tell, line: stage.line };
}

const entry = (id: string) => ({
  type: 'bmc.log',
  text: `entry ${id}`,
  logEntry: { id, severity: 'Critical', message: 'fan 3 failed', created: '1970-01-01T00:00:12Z' },
});

test('what a BMC wrote down stands in its machine’s timeline, the newest first asked for, and goes on from there', async () => {
  const { ask, tell } = await started();
  await tell(entry('1'), entry('2'), entry('3'));
  const last = await ask({ last: 2 });
  expect(last.items).toMatchObject([
    { type: 'bmc.log', text: 'entry 2', data: { logEntry: { id: '2', message: 'fan 3 failed' } } },
    { text: 'entry 3' },
  ]);
  const waiting = ask({ cursor: last.cursor, waitSeconds: 10 });
  await tell(entry('4'));
  expect((await waiting).items.map(({ text }) => text)).toEqual(['entry 4']);
  const all = await ask({});
  expect(all.items.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['bmc.log', 'bmc.log', 'bmc.log', 'bmc.log']),
  );
  expect((await ask({ cursor: all.cursor })).items).toEqual([]);
});

test('an entry that is longer than a timeline takes is not believed', async () => {
  const { ask, tell } = await started();
  const before = await ask({ last: 1 });
  await tell({ ...entry('1'), logEntry: { id: '1', message: 'x'.repeat(513) } }, entry('2'));
  expect((await ask({ cursor: before.cursor })).items.map(({ text }) => text)).toEqual(['entry 2']);
});

test('only events of some types, of a kind, or since a time are asked for', async () => {
  const { ask, tell } = await started();
  const remark = { type: 'bmc.events', text: 'told again' };
  await tell(entry('1'), { ...entry('2'), at: '2020-01-01T00:00:00.000Z' }, remark);
  const read = async (more: object) => (await ask(more)).items.map(({ text }) => text);
  expect(await read({ types: ['bmc.log'] })).toEqual(['entry 1', 'entry 2']);
  expect(await read({ types: ['bmc'] })).toEqual(['entry 1', 'entry 2', 'told again']);
  expect(await read({ types: ['bmc.log'], last: 1 })).toEqual(['entry 2']);
  expect(await read({ types: ['bmc'], since: '2020-01-01T01:00:00.001+01:00' })).toEqual([
    'entry 1',
    'told again',
  ]);
  expect(await read({ types: ['bm', 'b'] })).toEqual([]);
  const { cursor } = await ask({ types: ['bmc'] });
  const waiting = ask({ types: ['bmc.log'], cursor, waitSeconds: 10 });
  await tell(remark, entry('3'));
  expect((await waiting).items.map(({ text }) => text)).toEqual(['entry 3']);
});

test('who asks for a recording that is there already moves its end, which whoever follows it is told', async () => {
  const { ask, line } = await started();
  const nodeId = 'node-2';
  const bmc = { address: 'https://192.0.2.2', credentialRef: 'secret://bmc/2' };
  await enroll(line, nodeId, '02:00:00:00:00:02', { bmc });
  const record = async (time: string) =>
    (await line.call<object>('nodes.recordConsole', { tenantId: 'root', nodeId, for: time })).data;
  const first = await record('10m');
  const { cursor, ...second } = (await record('20m')) as { cursor: string; until: string };
  expect(second).toMatchObject({ recordingId: (first as { recordingId: string }).recordingId });
  const { items } = await ask({ nodeId, types: ['console'], cursor });
  expect(items).toMatchObject([{ type: 'console.requested', data: second }]);
});
