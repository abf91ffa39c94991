import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { consoleRoutes } from '#agent/site/admin/console.ts';
import { createConsoles } from '#agent/site/console/consoles.ts';
import { createSiteDoor } from '#agent/site/http/door.ts';
import { silentLog } from '#base/log.ts';
import { addRoutes } from '#doors/routes.ts';
import { fakeSessions, node } from './fakeSession.ts';

/** The local socket of an agent, with nothing but its consoles. */
async function startSocket() {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-console-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const log = silentLog();
  const fake = fakeSessions();
  const consoles = createConsoles(fake.open, log);
  const recorder = { begin: () => ({}) as never, end: () => {} };
  const door = createSiteDoor({ log, patient: true });
  door.addContentTypeParser('application/octet-stream', (_request, payload, done) => done(null, payload));
  const state = { spec: { node: () => node } } as never;
  addRoutes(
    door,
    consoleRoutes({ state, consoles, recorder, log }, () => ({ uid: 0 })),
  );
  const socketPath = path.join(directory, 'bcd.sock');
  await door.listen({ path: socketPath });
  onTestFinished(() => door.close());
  const join = async (query = '') => {
    const headers = { host: 'bcd', 'content-type': 'application/octet-stream' };
    const asking = request({ socketPath, path: `/v1/nodes/node-1/console${query}`, method: 'POST', headers });
    asking.on('error', () => {});
    asking.flushHeaders();
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    answer.on('error', () => {});
    onTestFinished(() => void asking.destroy());
    return { asking, answer } as { asking: ClientRequest; answer: IncomingMessage };
  };
  return { ...fake, join };
}

test('a reader that takes nothing is let go, and the others see all', async () => {
  const { sessions, join } = await startSocket();
  await join();
  const { answer } = await join();
  let seen = 0;
  answer.on('data', (bytes: Buffer) => {
    seen += bytes.length;
  });
  const piece = Buffer.alloc(64 * 1024, 'x');
  for (let at = 0; at < 400; at++) {
    sessions[0]?.output(piece);
    await new Promise(setImmediate);
  }
  await expect.poll(() => seen, { timeout: 5000 }).toBeGreaterThanOrEqual(400 * piece.length);
  answer.destroy();
  await expect.poll(() => sessions[0]?.isClosed, { timeout: 5000 }).toBe(true);
});

test('who hangs up leaves, whether the console was open already or not', async () => {
  const { sessions, hang, join } = await startSocket();
  const first = await join('?write=1');
  first.asking.write('root\r');
  await expect.poll(() => sessions[0]?.typed).toBe('root\r');
  first.asking.destroy();
  await expect.poll(() => sessions[0]?.isClosed).toBe(true);
  const goOn = hang();
  const second = join().catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 100));
  goOn();
  (await second)?.asking.destroy();
  await expect.poll(() => sessions.map(({ isClosed }) => isClosed)).toEqual([true, true]);
});
