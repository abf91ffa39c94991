import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { noteMachine } from '#agent/site/machines/note.ts';
import { openState } from '#agent/site/store/state.ts';
import { silentLog } from '#base/log.ts';

const mac = '02:00:00:00:00:01';

test('a ramdisk that has its address from another server is in the timeline of its machine', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-note-'));
  const state = await openState(directory);
  onTestFinished(async () => {
    state.close();
    await rm(directory, { recursive: true });
  });
  const leasedTo = (address: string) => (address === '10.0.0.50' ? mac : undefined);
  const parts = { state, leasedTo, log: silentLog() };
  for (const peer of ['10.0.0.50', '10.0.0.50', '10.0.0.66'])
    noteMachine(peer, 'the ramdisk asks for its boot token', { step: 'token' }, parts);
  expect(state.events.timeline(mac, 10)).toMatchObject([{ type: 'boot.other', fact: { step: 'token' } }]);
});
