import { request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { bytesAnswer, scriptAnswer } from '#bootserver/http/answer.ts';
import { type BootHttpLimits, startBootHttp } from '#bootserver/http/server.ts';
import { ask, oneConnection } from './samples.ts';

/** A boot listener with a script, and an image that is a download. */
async function serve(limits: Partial<BootHttpLimits> = {}): Promise<string> {
  const server = await startBootHttp({
    address: '127.0.0.1',
    port: 0,
    log: silentLog(),
    limits,
    routes: () => [
      { path: '/script', pattern: /^\/script$/, answer: () => scriptAnswer('#!ipxe') },
      {
        path: '/image',
        pattern: /^\/image$/,
        isDownload: true,
        answer: () => bytesAnswer(Buffer.from('image'), 'application/octet-stream'),
      },
    ],
  });
  onTestFinished(() => server.close());
  return server.url;
}

const rate = { perSecond: 0.5, burst: 20 };
const times = async (count: number, answer: () => Promise<{ status: number }>) => {
  const statuses = [];
  for (let done = 0; done < count; done++) statuses.push((await answer()).status);
  return statuses;
};

test('a client that asks for scripts without end is told to wait, and another is not held back', async () => {
  const url = await serve({ rate });
  const statuses = await times(21, () => ask(url, '/script'));
  expect(statuses).toEqual([...Array(20).fill(200), 429]);
  const { headers, body } = await ask(url, '/script');
  expect(headers['retry-after']).toBe('2');
  expect(JSON.parse(body.toString())).toMatchObject({ error: { code: 'RATE_LIMITED' } });
  expect(await statusFrom('127.0.0.7', `${url}/script`)).toBe(200);
});

test('the many pieces of a download are not counted', async () => {
  const url = await serve({ rate });
  const agent = oneConnection();
  onTestFinished(() => agent.destroy());
  expect(new Set(await times(300, () => ask(url, '/image', { agent })))).toEqual(new Set([200]));
});

test('whoever probes for what is not there is soon refused everything', async () => {
  const url = await serve({ rate });
  expect(await times(3, () => ask(url, '/images/guess'))).toEqual([404, 404, 429]);
  expect((await ask(url, '/image')).status).toBe(429);
});

test('a thousand machines that boot at once get their scripts', async () => {
  const url = await serve();
  const addresses = Array.from({ length: 1000 }, (_, at) => `127.1.${at >> 7}.${(at & 127) + 1}`);
  const statuses = await Promise.all(addresses.map((address) => statusFrom(address, `${url}/script`)));
  expect(new Set(statuses)).toEqual(new Set([200]));
});

test('headers that are too long are cut off', async () => {
  const url = await serve();
  expect((await ask(url, '/script', { headers: { 'x-long': 'x'.repeat(9000) } })).status).toBe(431);
});

function statusFrom(localAddress: string, url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { localAddress, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    })
      .once('error', reject)
      .end();
  });
}
