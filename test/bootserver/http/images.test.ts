import { expect, test } from 'vitest';
import type { CachedImage } from '#contract/images.ts';
import { imagePath, useBootServer } from './bootBench.ts';
import { digest, image } from './samples.ts';

const bench = useBootServer();
const etag = `"sha256:${digest}"`;

test('an image is served whole, with a strong validator and its digest', async () => {
  const { status, headers, body } = await bench.get(imagePath);
  expect(status).toBe(200);
  expect(body).toEqual(image);
  expect(headers).toMatchObject({
    'content-length': '5000',
    'accept-ranges': 'bytes',
    etag,
    'repr-digest': `sha-256=:${Buffer.from(digest, 'hex').toString('base64')}:`,
    'cache-control': 'public, max-age=31536000, immutable',
  });
  expect(headers['transfer-encoding']).toBeUndefined();
});

test('firmware that boots it whole gets the same bytes as an EFI program', async () => {
  const { status, headers, body } = await bench.get(`${imagePath}/ramdisk.efi`);
  expect([status, headers['content-type'], headers['content-length']]).toEqual([
    200,
    'application/efi',
    '5000',
  ]);
  expect(body).toEqual(image);
  expect((await bench.get(`/images/sha256/${'0'.repeat(64)}/ramdisk.efi`)).status).toBe(404);
});

test('HEAD tells the same of an image without a byte', async () => {
  const whole = await bench.get(imagePath);
  const head = await bench.get(imagePath, { method: 'HEAD' });
  expect(head.body.length).toBe(0);
  expect({ ...head.headers, date: '' }).toEqual({ ...whole.headers, date: '' });
});

test('a range of an image is served alone', async () => {
  const { status, headers, body } = await bench.get(imagePath, { headers: { range: 'bytes=100-199' } });
  expect(status).toBe(206);
  expect(headers['content-range']).toBe('bytes 100-199/5000');
  expect(body).toEqual(image.subarray(100, 200));
});

test('several ranges come as one multipart body whose length is known', async () => {
  const { status, headers, body } = await bench.get(imagePath, { headers: { range: 'bytes=100-199, -10' } });
  expect(status).toBe(206);
  const boundary = /^multipart\/byteranges; boundary=(\w+)$/.exec(String(headers['content-type']))?.[1];
  expect(headers['content-length']).toBe(String(body.length));
  expect(headers).toMatchObject({ etag, 'accept-ranges': 'bytes' });
  const parts = body.toString('latin1').split(`\r\n--${boundary}`);
  expect(parts.at(-1)).toBe('--\r\n');
  const part = (range: string, bytes: Buffer) =>
    `\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes ${range}/5000\r\n\r\n${bytes.toString('latin1')}`;
  expect(parts.slice(1, -1)).toEqual([
    part('100-199', image.subarray(100, 200)),
    part('4990-4999', image.subarray(4990)),
  ]);
});

test('a range past the end is refused with the size', async () => {
  const { status, headers } = await bench.get(imagePath, { headers: { range: 'bytes=5000-' } });
  expect([status, headers['content-range']]).toEqual([416, 'bytes */5000']);
});

test('a range is honoured when If-Range names these bytes, and not when it names others', async () => {
  const range = 'bytes=0-9';
  expect((await bench.get(imagePath, { headers: { range, 'if-range': etag } })).status).toBe(206);
  expect((await bench.get(imagePath, { headers: { range, 'if-range': '"other"' } })).status).toBe(200);
});

test('who has these bytes is told so', async () => {
  expect((await bench.get(imagePath, { headers: { 'if-none-match': `"x", ${etag}` } })).status).toBe(304);
});

test('sections of a unified image, with ranges of their own', async () => {
  expect((await bench.get(`${imagePath}/sections/linux`)).body).toEqual(image.subarray(1000, 3000));
  expect((await bench.get(`${imagePath}/sections/initrd`)).body).toEqual(image.subarray(3000, 3777));
  const part = await bench.get(`${imagePath}/sections/initrd`, { headers: { range: 'bytes=700-' } });
  expect(part.body).toEqual(image.subarray(3700, 3777));
  expect(part.headers['content-range']).toBe('bytes 700-776/777');
});

test('an unknown digest is not found', async () => {
  const { status, body } = await bench.get(`/images/sha256/${'00'.repeat(32)}`);
  expect([status, JSON.parse(body.toString()).error.code]).toEqual([404, 'NOT_FOUND']);
});

const other = 'cd'.repeat(32);
const cached = (more: Partial<CachedImage>): CachedImage => ({
  digest: other,
  ref: 'a@1',
  state: 'ready',
  ...more,
});

test('an image that is being pulled is worth waiting for', async () => {
  bench.images.state = () => cached({ state: 'pulling', receivedBytes: 7 });
  const { status, headers, body } = await bench.get(`/images/sha256/${other}`);
  expect([status, headers['retry-after']]).toEqual([503, '2']);
  expect(JSON.parse(body.toString()).error).toMatchObject({
    code: 'UNAVAILABLE',
    details: { reason: 'pulling', receivedBytes: 7 },
  });
});

test('an image whose pull failed says why', async () => {
  const error = {
    code: 'CONFLICT',
    message: 'other bytes',
    details: { reason: 'digest-mismatch', expected: other, found: digest },
  } as const;
  bench.images.state = () => cached({ state: 'failed', error });
  const { status, body } = await bench.get(`/images/sha256/${other}`);
  expect(status).toBe(502);
  expect(JSON.parse(body.toString()).error).toMatchObject({ code: 'DRIVER_ERROR', details: error.details });
});

test("a BMC's medium is read by a token, in ranges, and nobody on the way keeps it", async () => {
  const token = 'a'.repeat(32);
  bench.images.media.set(token, digest);
  const { status, body, headers } = await bench.get(`/media/${token}.iso`, {
    headers: { range: 'bytes=10-19' },
  });
  expect([status, body]).toEqual([206, image.subarray(10, 20)]);
  expect(headers['cache-control']).toBe('private, no-store');
  expect((await bench.get(`/media/${'b'.repeat(32)}.iso`)).status).toBe(404);
  bench.images.media.delete(token);
  expect((await bench.get(`/media/${token}.iso`)).status).toBe(404);
});

test('no image stays open', async () => {
  await expect.poll(() => bench.images.openImages).toBe(0);
});
