import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startSite } from '#agent/site/site.ts';
import { openState } from '#agent/site/store/state.ts';
import { type Bench, setUpBench } from './bench/bench.ts';

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

test('a place for syslog that cannot be had is named, and nothing stays open', async () => {
  const bench = await setUpBench();
  const taken = createSocket('udp4').bind(0, '127.0.0.1');
  onTestFinished(() => void taken.close());
  await once(taken, 'listening');
  const syslog = { listen: `127.0.0.1:${taken.address().port}` };
  await expect(startSite({ ...bench.config, syslog }, {})).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    details: { path: 'syslog.listen', reason: 'EADDRINUSE' },
  });
  await occupy(portOf(bench.httpUrl));
});

test('an interface that is not there is named', async () => {
  const bench = await setUpBench();
  const provisioning = { ...bench.config.provisioning, interface: 'nowhere0' };
  await expect(startSite({ ...bench.config, provisioning }, {})).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    details: { path: 'provisioning.interface' },
  });
});

test.each([
  ['boot.ipxeDirectory', () => ({ boot: { ipxeDirectory: '/nowhere' } })],
  ['cache.sourceCaFile', () => ({ cache: { sourceCaFile: '/nowhere.pem' } })],
  [
    'cache.proxyCredentialsFile',
    () => ({ cache: { proxy: 'http://127.0.0.1:1', proxyCredentialsFile: '/nowhere' } }),
  ],
  ['cache.sourceCaFile', (bench: Bench) => ({ cache: { sourceCaFile: bench.configFile } })],
])('a file or folder that is not there, or is none, is named: %s', async (path, change) => {
  const bench = await setUpBench();
  const { boot = {}, cache = {} } = change(bench) as { boot?: object; cache?: object };
  const { config } = bench;
  const changed = { ...config, boot: { ...config.boot, ...boot }, cache: { ...config.cache, ...cache } };
  await expect(startSite(changed, {})).rejects.toMatchObject({ code: 'INVALID_CONFIG', details: { path } });
});

test('a state directory that cannot be made is named', async () => {
  await expect(openState('/proc/nowhere')).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    details: { path: 'stateDirectory' },
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
