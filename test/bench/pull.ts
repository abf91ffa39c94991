import { randomBytes } from 'node:crypto';
import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from '#base/command.ts';
import { hashFile } from '#cache/hashFile.ts';
import { fromSource } from '#rack/line/managedProcess.ts';
import { runIn } from '#rack/netns.ts';
import { issueServerIdentity, makeTestCa } from '../fakes/certificates.ts';
import { type Benchmark, median, round, thisMachine } from './benchmark.ts';
import { fetchNginx, startNginx } from './nginx.ts';
import { openWire, type Wire } from './wire.ts';

const MiB = 1024 ** 2;
const directory = path.resolve(import.meta.dirname, '../../.rack/bench-pull');

interface Pulled {
  seconds: number;
  peakMiB: number;
  startMiB: number;
}

interface Scene {
  wire: Wire;
  url: string;
  caFile: string;
  digest: string;
  imageBytes: number;
}

/** How long until an image is here, verified and on stable storage, against the commands that one would type. */
export const pull: Benchmark = {
  name: 'pull',
  about: 'the cache pulls an image by https, verifies and flushes it, against curl, sync and sha256sum',
  run: async (quick, signal) => {
    const imageBytes = (quick ? 256 : 2048) * MiB;
    const toolbox = await fetchNginx();
    const wire = await openWire('benchpull');
    const { namespace } = wire.server;
    await rm(directory, { recursive: true, force: true });
    const root = path.join(directory, 'source');
    await mkdir(root, { recursive: true });
    const caFile = path.join(directory, 'ca.pem');
    const ca = await makeTestCa();
    await writeFile(caFile, ca.pem);
    const digest = await makeImage(path.join(root, 'image'), imageBytes);
    const tls = await issueServerIdentity(ca);
    const nginx = await startNginx(toolbox, { namespace, listen: '127.0.0.1:8443', root, directory, tls });
    try {
      const scene = { wire, url: 'https://127.0.0.1:8443/image', caFile, digest, imageBytes };
      return findings(await inTurn(scene, quick ? 3 : 5, signal), imageBytes);
    } finally {
      await nginx.kill();
      await wire.close();
      await rm(directory, { recursive: true, force: true });
    }
  },
};

async function makeImage(file: string, bytes: number): Promise<string> {
  const handle = await open(file, 'w');
  const part = randomBytes(MiB);
  for (let at = 0; at < bytes; at += MiB) await handle.write(part);
  await handle.sync();
  await handle.close();
  return hashFile(file);
}

async function inTurn(scene: Scene, turns: number, signal: AbortSignal) {
  const found = { ours: [] as Pulled[], peer: [] as number[] };
  for (let turn = 0; turn < turns; turn++) {
    signal.throwIfAborted();
    found.ours.push(await ours(scene));
    found.peer.push(await peer(scene));
    console.error(JSON.stringify({ ours: found.ours.at(-1), peer: found.peer.at(-1) }));
  }
  return found;
}

async function ours({ wire, url, caFile, digest, imageBytes }: Scene): Promise<Pulled> {
  const cache = path.join(directory, 'cache');
  const facts = { ref: 'bench@1', kind: 'os', format: 'raw', compression: 'none' };
  const image = JSON.stringify({ ...facts, digest, sizeBytes: imageBytes, sources: [url] });
  const command = fromSource('test/bench/pull/pullProcess.ts', [cache, caFile, image]);
  const found = await runIn(wire.server.namespace, command, { timeoutMs: 120_000 });
  await rm(cache, { recursive: true });
  await run('sync', ['-f', directory]);
  return JSON.parse(found) as Pulled;
}

/** Seconds. */
async function peer({ wire, url, caFile, digest }: Scene): Promise<number> {
  const file = path.join(directory, 'peer');
  const script = 'curl -sf --cacert "$1" -o "$2" "$3" && sync "$2" && sha256sum "$2"';
  const command = ['sh', '-c', script, 'sh', caFile, file, url];
  const begun = performance.now();
  const found = await runIn(wire.server.namespace, command, { timeoutMs: 120_000 });
  const seconds = (performance.now() - begun) / 1000;
  if (!found.startsWith(digest)) throw new Error(`curl has brought other bytes: ${found}`);
  await rm(file);
  await run('sync', ['-f', directory]);
  return seconds;
}

function findings(found: Awaited<ReturnType<typeof inTurn>>, imageBytes: number) {
  const seconds = median(found.ours.map((one) => one.seconds));
  const peerSeconds = median(found.peer);
  const rate = (taken: number) => Math.round(imageBytes / 1e6 / taken);
  return {
    bench: 'pull',
    ratio: { 'curl+sha256sum': round(peerSeconds / seconds) },
    ours: {
      seconds: round(seconds),
      mbPerSecond: rate(seconds),
      peakMiB: Math.max(...found.ours.map((one) => one.peakMiB)),
      atStartMiB: Math.max(...found.ours.map((one) => one.startMiB)),
    },
    peers: { 'curl+sha256sum': { seconds: round(peerSeconds), mbPerSecond: rate(peerSeconds) } },
    machine: { ...thisMachine(), imageBytes },
  };
}
