import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { isExcepted } from '#cache/pull/proxy.ts';
import { sendAndClose } from '../fakes/rawHttpsServer.ts';
import { contentOf, imageOf, startCache, startSource, temporaryDirectory } from './testBench.ts';

const ten = Buffer.from('0123456789');
const whole = sendAndClose(`HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n${ten}`);

/** A proxy that opens tunnels and notes to where, and what it was shown. */
async function startProxy(status = 200) {
  const seen: { target: string | undefined; credentials: string | undefined }[] = [];
  const proxy = createServer((_request, response) => response.writeHead(403).end());
  proxy.on('connect', (request, client) => {
    client.on('error', () => {});
    seen.push({ target: request.url, credentials: request.headers['proxy-authorization'] });
    if (status !== 200) {
      client.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const [host = '', port = ''] = (request.url ?? '').split(':');
    const target = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.pipe(target).pipe(client);
    });
    target.on('error', () => client.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return { seen, url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
}

async function pull(
  source: { origin: string },
  proxy: { url: string; credentials?: string; except: string[] },
) {
  const cache = await startCache({ directory: await temporaryDirectory(), proxy });
  const image = imageOf(ten, `${source.origin}/image`);
  cache.desire([image]);
  await cache.ready(image.digest);
  return contentOf(cache, image.digest);
}

test('an image is pulled through the proxy, which is shown its own credentials and the source is not', async () => {
  const source = await startSource(whole);
  const { seen, url } = await startProxy();
  expect(await pull(source, { url, credentials: 'site:secret', except: [] })).toEqual(ten);
  expect(seen).toEqual([
    {
      target: new URL(source.origin).host,
      credentials: `Basic ${Buffer.from('site:secret').toString('base64')}`,
    },
  ]);
  expect(JSON.stringify(source.requests)).not.toMatch(/proxy|secret|c2l0ZTpzZWNyZXQ/i);
});

test('a host that is excepted is asked directly', async () => {
  const source = await startSource(whole);
  const { seen, url } = await startProxy();
  expect(await pull(source, { url, except: ['127.0.0.1'] })).toEqual(ten);
  expect(seen).toEqual([]);
});

test('a proxy that refuses ends the pull, and the row says that the source is not reached', async () => {
  const source = await startSource(whole);
  const { url } = await startProxy(407);
  await expect(pull(source, { url, except: [] })).rejects.toMatchObject({
    code: 'DRIVER_ERROR',
    details: { reason: 'unreachable' },
  });
  expect(source.requests).toEqual([]);
});

test.each([
  ['images.example.com', ['images.example.com'], true],
  ['IMAGES.example.com', ['images.Example.com'], true],
  ['images.example.com', ['.example.com'], true],
  ['example.com', ['.example.com'], true],
  ['badexample.com', ['.example.com'], false],
  ['images.example.com', ['example.com'], false],
  ['[2001:db8::1]', ['2001:db8::1'], true],
])('%s with the exceptions %j: %s', (host, except, isDirect) => {
  expect(isExcepted(host, except)).toBe(isDirect);
});
