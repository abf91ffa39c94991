import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startSite } from '#agent/site/site.ts';
import { setUpBench } from './bench/bench.ts';

async function occupy(port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
}

const portOf = (url: string) => Number(new URL(url).port);

test.each([
  ['adminUrl', 'admin.listen'],
  ['machineUrl', 'machine.listen'],
  ['httpUrl', 'provisioning.interface'],
] as const)('a port of %s that is taken names the field, and nothing stays open', async (url, path) => {
  const bench = await setUpBench();
  await occupy(portOf(bench[url]));
  await expect(bench.start()).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    details: { path, reason: 'EADDRINUSE' },
  });
  await Promise.all(
    (['adminUrl', 'machineUrl', 'httpUrl'] as const)
      .filter((other) => other !== url)
      .map((other) => occupy(portOf(bench[other]))),
  );
});

test('an interface that is not there is named', async () => {
  const bench = await setUpBench();
  const provisioning = { ...bench.config.provisioning, interface: 'nowhere0' };
  await expect(startSite({ ...bench.config, provisioning }, {})).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    details: { path: 'provisioning.interface' },
  });
});

test('an agent that was stopped leaves its ports and its state to the next one', async () => {
  const bench = await setUpBench();
  for (let start = 0; start < 3; start++) {
    await bench.start();
    await bench.stop();
  }
  await bench.start();
  expect((await fetch(`${bench.adminUrl}/healthz`)).status).toBe(200);
});
