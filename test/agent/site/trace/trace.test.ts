import path from 'node:path';
import { expect, test } from 'vitest';
import { localAgent } from '#agent/site/commands/cache/localAgent.ts';
import { follow } from '#agent/site/trace/follow.ts';
import type { TraceLine } from '#agent/site/trace/lines.ts';
import { mac, prepared, setUpBench } from '../bench/bench.ts';
import { fetchScript, newMachine, tokenIn } from '../bench/scriptedMachine.ts';

test('a machine is followed over the local socket as it boots, and nowhere else', async () => {
  const bench = await prepared(await setUpBench());
  const agent = localAgent(path.join(bench.directory, 'state', 'bcd.sock'));
  const held = agent.get<{ events: { type: string }[]; last: number }>(`/v1/trace/${mac}?wait=10`);
  const token = tokenIn(await fetchScript(bench, mac));
  expect((await held).events.map(({ type }) => type)).toEqual(['boot.script']);

  await (await newMachine(bench)).join(token, mac);
  const lines: TraceLine[] = [];
  await follow(agent, mac, { since: 0, once: true, tell: (line) => lines.push(line) });
  expect(lines.map(({ text }) => text)).toEqual([
    expect.stringContaining('ramdisk'),
    'the ramdisk has joined, trusted as far as network',
  ]);
  expect(JSON.stringify(lines)).not.toContain(token);

  await expect(agent.get('/v1/trace/nonsense')).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  expect((await fetch(`${bench.adminUrl}/v1/trace/${mac}`)).status).toBe(404);
});
