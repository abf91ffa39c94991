import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { openBmc } from '#redfish/bmc.ts';
import { selfSignedIdentity } from '../fakes/certificates.ts';
import { type RawAnswer, type RawHttpsServer, startRawHttps } from '../fakes/rawHttpsServer.ts';

const root = '/redfish/v1';
const tree: Record<string, object> = {
  [`${root}/`]: {
    Systems: { '@odata.id': `${root}/Systems` },
    EventService: { '@odata.id': `${root}/Events` },
  },
  [`${root}/Systems`]: { Members: [{ '@odata.id': `${root}/Systems/1` }] },
  [`${root}/Systems/1`]: { Id: '1' },
  [`${root}/Events`]: {
    ServerSentEventUri: `${root}/SSE`,
    SSEFilterPropertiesSupported: { EventFormatType: true },
  },
};

let server: RawHttpsServer;
beforeAll(async () => {
  server = await startRawHttps(await selfSignedIdentity(), () => {});
});
afterAll(() => server.close());

/** A BMC whose stream answers so. */
function bmcWith(stream: RawAnswer) {
  server.answerWith((request, socket, count) => {
    if (request.path.startsWith(`${root}/SSE`)) return stream(request, socket, count);
    const text = JSON.stringify(tree[request.path] ?? {});
    const status = tree[request.path] === undefined ? '404 Not Found' : '200 OK';
    socket.write(`HTTP/1.1 ${status}\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
  });
  const bmc = openBmc({ address: server.origin, username: 'a', password: 'b', log: silentLog() });
  onTestFinished(() => bmc.close());
  return bmc;
}

const opened = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n';

test('a refusal whose body never ends is not waited for', async () => {
  const bmc = bmcWith(({ path }, socket) => {
    socket.write(path.includes('filter') ? 'HTTP/1.1 400 Bad Request\r\n\r\nno' : opened);
  });
  const stream = await bmc.events.stream({ onEvent: () => {} });
  expect(stream).toBeDefined();
  stream?.close();
  expect(await stream?.ended).toBe('closed');
});

test('a BMC that never stops talking has to wait, and is closed all the same', async () => {
  let sent = 0;
  const bmc = bmcWith((_request, socket) => {
    socket.write(opened);
    const piece = `data: {"Events":[]}\n\n`.repeat(1000);
    const pour = () => {
      do sent += piece.length;
      while (socket.write(piece));
      socket.once('drain', pour);
    };
    pour();
  });
  let events = 0;
  const stream = await bmc.events.stream({ onEvent: () => events++ });
  await delay(1500);
  stream?.close();
  expect(await stream?.ended).toBe('closed');
  expect(events * 21).toBeGreaterThan(500_000);
  expect(events * 21).toBeLessThan(2_000_000);
  expect(sent).toBeLessThan(40_000_000);
});
