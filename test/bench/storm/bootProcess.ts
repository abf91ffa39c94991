import { readFileSync } from 'node:fs';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openLog } from '#base/log.ts';
import { stopRequest } from '#base/shutdown.ts';
import { openSqlite } from '#base/sqlite.ts';
import { startBootServer } from '#bootserver/bootServer.ts';
import { openCache } from '#cache/imageCache.ts';
import { issueServerIdentity, makeTestCa } from '../../fakes/certificates.ts';
import { serveBytes, startRawHttps } from '../../fakes/rawHttpsServer.ts';
import { digest, token, uki } from './files.ts';

/**
 * `node bootProcess.ts DIRECTORY IPXE ADDRESS INTERFACE`: the boot server and the image cache as a site has them, leases on the disk.
 * Told to stop, it says in a line of JSON what it took.
 */
const [directory = '', ipxeDirectory = '', address = '', interfaceName = ''] = process.argv.slice(2);

const log = openLog('storm', 'error');
const cache = await filledCache();
const server = await startBootServer({
  networks: [
    {
      mode: 'full',
      interface: interfaceName,
      address,
      prefixLength: 16,
      pool: { first: '10.78.4.0', last: '10.78.15.255' },
      leaseSeconds: 600,
      machineUrl: `https://${address}:8443`,
    },
  ],
  reservations: { reservation: () => undefined, isReserved: () => false },
  decide: () => ({ kind: 'ramdisk', digest, token, kernelArguments: [] }),
  images: cache,
  ipxeDirectory,
  database: openSqlite(path.join(directory, 'state.db'), []),
  leaseFile: path.join(directory, 'leases.db'),
  timeline: () => {},
  log,
});
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
stopRequest().addEventListener('abort', async () => {
  const ms = (nanoseconds: number) => Math.round(nanoseconds / 1e5) / 10;
  const found = {
    peakMiB: Math.round(peakKiB() / 1024),
    loopDelayMs: { p50: ms(delay.percentile(50)), p99: ms(delay.percentile(99)), max: ms(delay.max) },
  };
  console.log(JSON.stringify(found));
  await server.close();
  await cache.close();
  process.exit(0);
});

/** A cache that has pulled the ramdisk from a source of its own, as every image comes in. */
async function filledCache() {
  const ca = await makeTestCa();
  const source = await startRawHttps(await issueServerIdentity(ca), serveBytes(uki));
  const images = path.join(directory, 'images');
  const filled = await openCache({ directory: images, quotaBytes: 2 ** 30, sourceCa: ca.pem, log });
  filled.desire([
    {
      ...{ ref: 'ramdisk@1', kind: 'os', digest, sizeBytes: uki.length, format: 'raw' },
      ...{ compression: 'none', sources: [source.origin] },
    },
  ]);
  await filled.ready(digest);
  await source.close();
  return filled;
}

function peakKiB(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
}
