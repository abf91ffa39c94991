import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { localSocket } from '#agent/site/localSocket.ts';
import { openImageUrls } from '#agent/site/machines/imageUrl.ts';
import type { MachineImageAnswer } from '#contract/agentWire.ts';
import type { CacheImage } from '#contract/images.ts';
import { type Bench, deployInput, mac, nodeId, prepared, setUpBench, siteId } from '../bench/bench.ts';
import { leaseTo } from '../bench/leases.ts';
import { fetchScript, newMachine, type ScriptedMachine, tokenIn } from '../bench/scriptedMachine.ts';

const secretText = 'the bytes of an image that is for some machines alone';
const digest = createHash('sha256').update(secretText).digest('hex');

/** A site that holds a private image, and a machine that has joined and is to be deployed from it. */
async function deploying() {
  const bench = await prepared(await setUpBench());
  const image: CacheImage = {
    ref: 'secret@1',
    kind: 'os',
    digest,
    format: 'raw',
    compression: 'none',
    sources: ['https://127.0.0.1:9/nowhere'],
    private: true,
  };
  const generation = (bench.centre.polls.at(-1)?.observedGeneration ?? 0) + 1;
  const nodes = [{ nodeId, macs: [mac] }];
  bench.centre.setSpec(siteId, { cacheImages: [bench.ramdisk, image], nodes });
  await bench.centre.until(() => bench.centre.polls.at(-1)?.observedGeneration === generation);
  await bringIn(bench);
  const machine = await newMachine(bench);
  const { session } = await machine.join(tokenIn(await fetchScript(bench, mac)), mac);
  return { bench, machine, session };
}

/** As from a USB stick. */
async function bringIn({ config }: Bench): Promise<void> {
  const asking = httpRequest({
    socketPath: localSocket(config),
    path: `/v1/cache/import?digest=${digest}&sizeBytes=${secretText.length}`,
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream', host: 'bcd' },
  });
  const answered = new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    asking.once('error', reject);
    asking.once('response', async (answer) =>
      resolve({ status: answer.statusCode, text: await text(answer) }),
    );
  });
  asking.end(secretText);
  expect(await answered).toMatchObject({ status: 200 });
}

async function urlFor({ client }: ScriptedMachine, session: string): Promise<MachineImageAnswer> {
  return (await client.post('/v1/machine/image', { digest }, { session })) as MachineImageAnswer;
}

async function read({ client }: ScriptedMachine, url: string, headers = {}) {
  const { url: where, dispatcher } = client.located(url);
  const answer = await request(where, { headers, ...(dispatcher && { dispatcher }) });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}

test('on the open boot listener a private image is refused to everybody, in every form', async () => {
  const { bench } = await deploying();
  for (const more of ['', '/sections/linux', '/ramdisk.efi']) {
    const answer = await fetch(`${bench.httpUrl}/images/sha256/${digest}${more}`);
    const { error } = (await answer.json()) as { error: { details: object } };
    expect([answer.status, error.details]).toEqual([403, { reason: 'private' }]);
  }
  const head = await fetch(`${bench.httpUrl}/images/sha256/${digest}`, { method: 'HEAD' });
  expect(head.status).toBe(403);
  const open = await fetch(`${bench.httpUrl}/images/sha256/${bench.ramdisk.digest}`);
  expect(open.status).toBe(200);
});

test("the machine that is deployed from it reads it over the site's TLS, whole and in ranges, and nobody on the way keeps it", async () => {
  const { bench, machine, session } = await deploying();
  await bench.centre.order('deploy.image', nodeId, { ...deployInput, digest });
  await machine.poll(session);
  const { url, expiresAt } = await urlFor(machine, session);
  expect(url).toMatch(/^\/v1\/images\/sha256\//);
  expect(Date.parse(expiresAt ?? '')).toBeGreaterThan(Date.now());
  expect(await read(machine, url)).toMatchObject({
    status: 200,
    text: secretText,
    headers: {
      'cache-control': 'private, no-store',
      etag: `"sha256:${digest}"`,
      'repr-digest': `sha-256=:${Buffer.from(digest, 'hex').toString('base64')}:`,
    },
  });
  const part = await read(machine, url, { range: 'bytes=4-8' });
  expect(part).toMatchObject({ status: 206, text: secretText.slice(4, 9) });
});

test('a machine gets no URL of an image that no operation of its own names, and of a public one a plain URL', async () => {
  const { bench, machine, session } = await deploying();
  await expect(urlFor(machine, session)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await bench.centre.order('deploy.image', nodeId, { ...deployInput, digest: bench.ramdisk.digest });
  await machine.poll(session);
  const answer = await machine.client.post(
    '/v1/machine/image',
    { digest: bench.ramdisk.digest },
    { session },
  );
  expect(answer).toEqual({ url: `${bench.httpUrl}/images/sha256/${bench.ramdisk.digest}` });
});

test("a URL is good for its machine alone: not from another address, not of another image, not once the machine's session has ended", async () => {
  const { bench, machine, session } = await deploying();
  await bench.centre.order('deploy.image', nodeId, { ...deployInput, digest });
  await machine.poll(session);
  const { url } = await urlFor(machine, session);
  const refused = { status: 403, text: expect.stringContaining('image-url') };
  await leaseTo(bench, '02:00:00:00:00:02', '127.77.0.11');
  const other = await newMachine(bench, { from: '127.77.0.11' });
  expect(await read(other, url)).toMatchObject(refused);
  expect(await read(machine, url.replace(digest, bench.ramdisk.digest))).toMatchObject(refused);
  expect(await read(machine, url.replace('expires=', 'expires=9'))).toMatchObject(refused);
  await machine.join(tokenIn(await fetchScript(bench, mac)), mac).catch(() => {});
  const second = await newMachine(bench);
  await second.join(tokenIn(await fetchScript(bench, mac)), mac).catch(() => {});
  expect(await read(machine, url)).toMatchObject(refused);
});

test('a URL ends after minutes, and with the agent that made it', () => {
  const grant = { digest, nodeId, claimedBy: 'thumbprint', peer: '10.77.0.10' };
  const urls = openImageUrls();
  const { url, expiresAt } = urls.mint(grant, 1000);
  const { searchParams } = new URL(url, 'https://site');
  const query = {
    node: searchParams.get('node') ?? '',
    expires: searchParams.get('expires') ?? '',
    signature: searchParams.get('signature') ?? '',
  };
  expect(urls.isGood(query, grant, expiresAt - 1)).toBe(true);
  expect(urls.isGood(query, grant, expiresAt)).toBe(false);
  expect(openImageUrls().isGood(query, grant, 1001)).toBe(false);
  for (const signature of ['', 'AA', '%%', query.signature.slice(4)])
    expect(urls.isGood({ ...query, signature }, grant, 1001)).toBe(false);
});
