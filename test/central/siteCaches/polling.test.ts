import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { readInventory } from '#central/siteCaches/inventoryClient.ts';
import { selfSignedIdentity } from '../../fakes/certificates.ts';
import { mustRegister, newSite, osImage, startTestCentre, type TestCentre } from '../centre.ts';

const digest = (letter: string) => letter.repeat(64);
const never = new AbortController().signal;
let centre: TestCentre;
beforeAll(async () => {
  centre = await startTestCentre();
  for (const letter of ['a', 'b'])
    await mustRegister(centre.call, osImage({ ref: `os-${letter}@1`, sha256: digest(letter) }));
});
afterAll(() => centre.close());

/** What a site answers: an image a page, with an ETag over all of them. */
function siteWith(states: Record<string, string>, asked: { etag?: string | undefined; status: number }[]) {
  const listener: RequestListener = (request, response) => {
    const url = new URL(request.url ?? '', 'http://site');
    const etag = `"${JSON.stringify(states).length}.${Object.values(states).join('.')}"`;
    const had = request.headers['if-none-match'];
    const status = had === etag ? 304 : 200;
    asked.push({ etag: had, status });
    response.setHeader('etag', etag);
    if (status === 304) return response.writeHead(304).end();
    const letters = Object.keys(states).filter(
      (letter) => digest(letter) > (url.searchParams.get('cursor') ?? ''),
    );
    const [letter] = letters;
    const images = letter === undefined ? [] : [{ digest: digest(letter), ref: 'r', state: states[letter] }];
    const cursor = letters.length > 1 && letter !== undefined ? { cursor: digest(letter) } : {};
    response.end(JSON.stringify({ images, ...cursor }));
  };
  return listener;
}

async function listening(server: ReturnType<typeof createServer>, scheme = 'http'): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a site with an inventory URL is asked what it holds, and its locations follow in seconds, without a report of its own', async () => {
  const { siteId } = await newSite(centre.directory, 'polled');
  const states: Record<string, string> = { a: 'pulling', b: 'ready' };
  const asked: { etag?: string | undefined; status: number }[] = [];
  const url = await listening(createServer(siteWith(states, asked)));
  const set = await centre.call('sites.setInventory', { siteId, url });
  expect(set.data).toMatchObject({ siteId, inventory: { url } });
  const located = async () => {
    const { data } = await centre.call<{ items: { ref: string; state: string }[] }>('sites.images', {
      siteId,
    });
    return data.items.map(({ ref, state }) => `${ref} ${state}`).sort();
  };
  await expect.poll(located, { timeout: 15_000 }).toEqual(['os-a@1 pulling', 'os-b@1 ready']);
  states.a = 'ready';
  await expect.poll(located, { timeout: 15_000 }).toEqual(['os-a@1 ready', 'os-b@1 ready']);
  await expect.poll(() => asked.at(-1)?.status, { timeout: 15_000 }).toBe(304);
  expect((await centre.call('sites.setInventory', { siteId, url: null })).data).not.toHaveProperty(
    'inventory',
  );
}, 40_000);

test('only the pinned certificate is believed, and it alone suffices', async () => {
  const identity = await selfSignedIdentity('site');
  const url = await listening(createTlsServer(identity, siteWith({ a: 'ready' }, [])) as never, 'https');
  const pin = new X509Certificate(identity.cert).fingerprint256.replaceAll(':', '').toLowerCase();
  expect(await readInventory({ url, pin }, undefined, never)).toMatchObject({
    images: [{ digest: digest('a'), state: 'ready' }],
  });
  await expect(readInventory({ url, pin: '0'.repeat(64) }, undefined, never)).rejects.toThrow(
    'another certificate',
  );
  await expect(readInventory({ url }, undefined, never)).rejects.toThrow();
});

test('what is no inventory is refused, and rows that are none are passed over', async () => {
  const answer = (status: number, body: string) =>
    listening(createServer((_request, response) => response.writeHead(status).end(body)));
  for (const url of [await answer(302, ''), await answer(200, '<html>'), await answer(200, '{"images":1}')])
    await expect(readInventory({ url }, undefined, never)).rejects.toMatchObject({ code: 'DRIVER_ERROR' });
  const url = await answer(200, '{"images":[{"digest":"x"},null]}');
  expect(await readInventory({ url }, undefined, never)).toMatchObject({ images: [] });
});

test('a pin is of a certificate, and a URL has no path and no credentials', async () => {
  const { siteId } = await newSite(centre.directory, 'refused');
  for (const input of [
    { url: 'http://10.0.0.1:9090', pin: '0'.repeat(64) },
    { url: null, pin: '0'.repeat(64) },
    { url: 'https://user:pw@10.0.0.1' },
    { url: 'https://10.0.0.1/else' },
    { url: 'file:///etc/passwd' },
  ])
    expect(await centre.call('sites.setInventory', { siteId, ...input })).toMatchObject({
      error: { code: 'INVALID_INPUT' },
    });
});
