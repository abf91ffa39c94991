import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { silentLog } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import { startTftpServer } from '#bootserver/tftp/server.ts';
import { runIn } from '#rack/netns.ts';
import { foreignProgram } from '../foreign.ts';
import { useWire } from '../twoNamespaces.ts';
import { content } from './samples.ts';

// Fetched before this process moves to a network without a way out.
const atftp = await foreignProgram('atftp', 'atftp');
const tftpHpa = await foreignProgram('tftp-hpa', 'tftp');
const busybox = await foreignProgram('busybox-static', 'busybox');
const wire = useWire();
const files = new Map([
  ['small', content(50_000)],
  // More blocks of 512 bytes than the block number can count.
  ['large', content(65_536 * 512 + 100)],
]);
let server: Closable;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'tftp-'));
  server = await startTftpServer({
    address: wire.server.address,
    port: 69,
    files,
    limits: { blockSize: 1468, windowSize: 32 },
    report: () => {},
    log: silentLog(),
    clock: systemClock,
  });
  await runIn(wire.clientNamespace, ['ip', 'addr', 'add', '10.77.0.50/24', 'dev', 'client0']);
});

afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true });
});

const host = wire.server.address;
const clients: Record<string, (file: string, target: string) => string[]> = {
  curl: (file, target) => ['curl', '--silent', '--show-error', '-o', target, `tftp://${host}/${file}`],
  busybox: (file, target) => [busybox, 'tftp', '-g', '-b', '1432', '-r', file, '-l', target, host],
  atftp: (file, target) => {
    const options = ['--option', 'blksize 1428', '--option', 'windowsize 8'];
    return [atftp, ...options, '--get', '-r', file, '-l', target, host];
  },
  'tftp-hpa': (file, target) => [tftpHpa, '-m', 'binary', host, '-c', 'get', file, target],
};

async function download(client: string, file: string): Promise<string> {
  const target = path.join(directory, `${client}-${file}`);
  const command = clients[client]!(file, target);
  await runIn(wire.clientNamespace, command, { timeoutMs: 60_000 });
  return sha256(await readFile(target));
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

describe.each(Object.keys(clients))('%s', (client) => {
  test('downloads a file', async () => {
    expect(await download(client, 'small')).toBe(sha256(files.get('small')!));
  });
});

test.each(['tftp-hpa', 'atftp'])('%s downloads more blocks than the block number counts', async (client) => {
  expect(await download(client, 'large')).toBe(sha256(files.get('large')!));
});

/*
 * atftp's window is left out here: when the last ACK of a window is lost it ignores the repeated window, and speaks up
 * only after 5 s of silence. Windows under loss are in transfer.test.ts.
 */
describe.each([1, 5, 10])('with %i in 100 of the datagrams lost each way', (percent) => {
  beforeAll(() => wire.lose(percent));
  afterAll(() => wire.lose(0));

  test.each(['curl', 'tftp-hpa', 'busybox'])(
    '%s downloads the file whole',
    async (client) => {
      expect(await download(client, 'small')).toBe(sha256(files.get('small')!));
    },
    60_000,
  );
});
