import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { openLocalSocket } from '#agent/site/admin/listener.ts';
import { silentLog } from '#base/log.ts';

/** The local socket of a site, in a folder that everybody can reach. */
async function openSocket(): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-socket-'));
  await chmod(directory, 0o755);
  onTestFinished(() => rm(directory, { recursive: true }));
  const socketPath = path.join(directory, 'bcd.sock');
  const parts = { siteId: 'site_1', stateDirectory: directory, log: silentLog() };
  const listener = await openLocalSocket(socketPath, parts as never);
  onTestFinished(() => listener.close());
  return socketPath;
}

test('the local socket is its owner alone, from the moment it is there', async () => {
  const socketPath = await openSocket();
  expect((await stat(socketPath)).mode & 0o777).toBe(0o600);
  const asking = request({ socketPath, path: '/v1/nothing' }).end();
  const [answer] = (await once(asking, 'response')) as [{ statusCode: number }];
  expect(answer.statusCode).toBe(404);
});

test('this user is let in by the kernel’s word', async () => {
  const socketPath = await openSocket();
  const asking = request({ socketPath, path: '/healthz' }).end();
  const [answer] = (await once(asking, 'response')) as [{ statusCode: number }];
  expect(answer.statusCode).not.toBe(403);
});

const python = 'import socket,sys;s=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1]);'.concat(
  "s.sendall(b'GET /healthz HTTP/1.0\\r\\n\\r\\n');print(s.recv(4096).decode())",
);

/** Needs the right to be another user, and a program that this user may run. */
const cannot = process.getuid?.() !== 0 || spawnSync('python3', ['-V']).status !== 0;
test.skipIf(cannot)('another user is refused, even where the file lets him in', async () => {
  const socketPath = await openSocket();
  await chmod(socketPath, 0o666);
  const child = spawn('python3', ['-c', python, socketPath], { uid: 65_534, gid: 65_534 });
  expect(await text(child.stdout)).toMatch(/^HTTP\/1\.1 403 .*"reason":"local-user","uid":65534/s);
});
