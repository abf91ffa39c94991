import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { ImageCache } from '#cache/imageCache.ts';
import type { CacheImage } from '#contract/images.ts';
import { makeTestCa } from '../fakes/certificates.ts';
import {
  type RawAnswer,
  type RawHttpsServer,
  sendAndClose,
  sendAndStayOpen,
  serveBytes,
} from '../fakes/rawHttpsServer.ts';
import {
  contentOf,
  filesIn,
  imageOf,
  sha256,
  startCache,
  startSource,
  temporaryDirectory,
} from './testBench.ts';

const ten = Buffer.from('0123456789');

interface Attempt {
  cache: ImageCache;
  image: CacheImage;
  source: RawHttpsServer;
  directory: string;
  end: PromiseSettledResult<void>;
}

/** Desires the image once and tells how its first try ended. */
async function attempt(answer: RawAnswer, bytes = ten, more: Partial<CacheImage> = {}): Promise<Attempt> {
  const directory = await temporaryDirectory();
  const source = await startSource(answer);
  const cache = await startCache({ directory, timeouts: { connectMs: 5000, idleMs: 300 } });
  const image = imageOf(bytes, `${source.origin}/demo.raw?X-Amz-Signature=s3cret`, more);
  cache.desire([image]);
  const [end] = await Promise.allSettled([cache.ready(image.digest)]);
  return { cache, image, source, directory, end };
}

/** The try failed with these details, and nothing of it is visible or left behind. */
async function expectFailure(
  { cache, image, directory, end }: Attempt,
  details: Record<string, unknown>,
): Promise<void> {
  expect(end).toMatchObject({ status: 'rejected', reason: { code: 'DRIVER_ERROR', details } });
  expect(JSON.stringify(end)).not.toContain('s3cret');
  expect(await cache.open(image.digest)).toBeUndefined();
  await cache.close();
  expect(await filesIn(directory)).toEqual([]);
}

const withoutSize = { sizeBytes: undefined } as unknown as Partial<CacheImage>;

describe('I1: a cut download is never taken as complete', () => {
  const cut = {
    'declared length': 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n012',
    'chunked without the last chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n012\r\n',
    'no length at all': 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n012',
  };

  test.each(Object.entries(cut))('%s', async (_name, bytes) => {
    await expectFailure(await attempt(sendAndClose(bytes)), {
      reason: 'truncated',
      expectedBytes: 10,
      foundBytes: expect.any(Number),
    });
  });

  test('no length at all and none in the catalog: the digest tells', async () => {
    const result = await attempt(sendAndClose(cut['no length at all']), ten, withoutSize);
    await expectFailure(result, { reason: 'digest-mismatch', expected: sha256(ten), found: sha256('012') });
  });

  test('cut after a part, then whole: resumed to the right bytes', async () => {
    const whole = serveBytes(ten);
    const { source, cache, image, end } = await attempt((request, socket, count) => {
      if (count > 1) whole(request, socket, count);
      else socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: "v1"\r\n\r\n0123');
    });
    expect(end.status).toBe('fulfilled');
    expect(source.requests[1]?.headers).toMatchObject({ range: 'bytes=4-', 'if-range': '"v1"' });
    expect(await contentOf(cache, image.digest)).toEqual(ten);
  });
});

describe('I2: Content-Length and body disagree', () => {
  test('a body that stalls ends by the idle time-out, and is then resumed', async () => {
    const whole = serveBytes(ten);
    const result = await attempt((request, socket, count) => {
      const stalled = sendAndStayOpen('HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: "v1"\r\n\r\n012');
      (count === 1 ? stalled : whole)(request, socket, count);
    });
    expect(result.end.status).toBe('fulfilled');
  });

  test('a body that always stalls fails', async () => {
    const stalls = sendAndStayOpen('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n012');
    await expectFailure(await attempt(stalls), { reason: 'truncated', expectedBytes: 10, foundBytes: 3 });
  });

  test('bytes beyond the declared length never reach the file', async () => {
    const more = sendAndClose(
      'HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\n0123456789abcdef',
    );
    const { cache, image, end } = await attempt(more);
    if (end.status === 'fulfilled') expect(await contentOf(cache, image.digest)).toEqual(ten);
    else expect(end.reason).toMatchObject({ code: 'DRIVER_ERROR' });
  });

  test('a declared length other than the catalog says is refused before a byte of it is stored', async () => {
    const short = await attempt(sendAndClose('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef'));
    await expectFailure(short, { reason: 'size-mismatch', expectedBytes: 10, foundBytes: 3 });
    const huge = await attempt(sendAndStayOpen('HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n'));
    await expectFailure(huge, { reason: 'size-mismatch', expectedBytes: 10, foundBytes: 99_999_999_999 });
  });

  test('an undeclared body is cut off when it passes the size that the catalog says', async () => {
    const endless = await attempt((_request, socket) => {
      socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n');
      const pump = setInterval(() => socket.write(Buffer.alloc(1000)), 1);
      socket.on('close', () => clearInterval(pump));
    });
    await expectFailure(endless, { reason: 'size-mismatch', expectedBytes: 10 });
    expect(endless.source.requests.length).toBe(1);
  });

  test.each([
    ['two lengths', 'Content-Length: 10\r\nContent-Length: 12'],
    ['a negative length', 'Content-Length: -1'],
  ])('%s is no answer', async (_name, fields) => {
    await expectFailure(await attempt(sendAndClose(`HTTP/1.1 200 OK\r\n${fields}\r\n\r\n0123456789`)), {
      reason: 'unreachable',
    });
  });
});

describe('I3: what a server may answer to a resume', () => {
  const first = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: "v1"\r\n\r\n0123';

  const answers = {
    '200 and the whole file': 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789',
    '206 without Content-Range': 'HTTP/1.1 206 Partial Content\r\nContent-Length: 6\r\n\r\n456789',
    '206 from an earlier byte':
      'HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 2-9/10\r\nContent-Length: 8\r\n\r\n23456789',
    '206 of another version':
      'HTTP/1.1 206 Partial Content\r\nETag: "v2"\r\nContent-Range: bytes 4-9/10\r\nContent-Length: 6\r\n\r\nabcdef',
    416: 'HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\n\r\n',
  };

  test.each(Object.entries(answers))('%s: the final bytes are right', async (_name, answer) => {
    const whole = serveBytes(ten);
    const { cache, image, end } = await attempt((request, socket, count) => {
      if (count === 1) socket.end(first);
      else if (request.headers.range === undefined) whole(request, socket, count);
      else socket.write(answer);
    });
    expect(end.status).toBe('fulfilled');
    expect(await contentOf(cache, image.digest)).toEqual(ten);
  });

  test('a server that always ignores ranges and always cuts is given up', async () => {
    const result = await attempt(sendAndClose(first));
    await expectFailure(result, { reason: 'truncated', expectedBytes: 10 });
    expect(result.source.requests.length).toBeLessThanOrEqual(8);
  });
});

describe('I5: redirects', () => {
  const secret = (origin: string) => origin.replace('https://', 'https://user:pa55word@');

  async function redirected(target: (origin: string) => string, store: RawAnswer) {
    const second = await startSource(store);
    const registry = await startSource((_request, socket) => {
      socket.write(`HTTP/1.1 307 X\r\nLocation: ${target(second.origin)}\r\nContent-Length: 0\r\n\r\n`);
    });
    const cache = await startCache({ directory: await temporaryDirectory() });
    const image = imageOf(ten, `${secret(registry.origin)}/a`);
    cache.desire([image]);
    const [end] = await Promise.allSettled([cache.ready(image.digest)]);
    return { registry, second, end };
  }

  test('credentials reach their own origin and no other', async () => {
    const { registry, second, end } = await redirected(
      (origin) => `${origin}/b?X-Amz-Signature=s3cret`,
      serveBytes(ten),
    );
    expect(end.status).toBe('fulfilled');
    expect(registry.requests[0]?.headers.authorization).toMatch(/^Basic /);
    expect(second.requests[0]?.path).toBe('/b?X-Amz-Signature=s3cret');
    for (const name of ['authorization', 'cookie', 'x-auth-token', 'proxy-authorization'])
      expect(second.requests[0]?.headers).not.toHaveProperty(name);
  });

  test('https to http is refused', async () => {
    const { end } = await redirected((origin) => origin.replace('https', 'http'), serveBytes(ten));
    expect(end).toMatchObject({ reason: { code: 'DRIVER_ERROR', details: { reason: 'redirect' } } });
    expect(JSON.stringify(end)).not.toContain('pa55word');
  });

  test('a loop ends after five hops', async () => {
    const result = await attempt((_request, socket) => {
      socket.write('HTTP/1.1 302 X\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n');
    });
    await expectFailure(result, { reason: 'redirect' });
    expect(result.source.requests.length).toBe(6);
  });
});

test('I6: a gzip file sent with Content-Encoding: gzip is stored as it came over the wire', async () => {
  const wire = gzipSync('hello, disk');
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/gzip\r\nContent-Encoding: gzip\r\nContent-Length: ${wire.length}\r\n\r\n`;
  const answer = Buffer.concat([Buffer.from(head), wire]);
  const { cache, image, end } = await attempt(sendAndStayOpen(answer), wire, { compression: 'gzip' });
  expect(end.status).toBe('fulfilled');
  expect(await contentOf(cache, image.digest)).toEqual(wire);
});

test('I13: a web page is not an image, and the message says what came', async () => {
  const page = '<html>log in</html>';
  const answer = `HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: ${page.length}\r\n\r\n${page}`;
  const result = await attempt(sendAndStayOpen(answer), ten, withoutSize);
  expect(result.end).toMatchObject({ reason: { message: expect.stringContaining('web page') } });
  await expectFailure(result, { reason: 'digest-mismatch', contentType: 'text/html' });
});

test('other bytes of the right size: both digests are named, nothing is visible', async () => {
  const other = Buffer.from('9876543210');
  const result = await attempt(serveBytes(other));
  await expectFailure(result, { reason: 'digest-mismatch', expected: sha256(ten), found: sha256(other) });
});

test.each([404, 403, 500, 503])('HTTP %i is told with its status', async (status) => {
  const result = await attempt(sendAndStayOpen(`HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`));
  await expectFailure(result, { reason: 'unreachable', status });
});

test('a source that nobody listens at is unreachable', async () => {
  const result = await attempt(serveBytes(ten), ten, { sources: ['https://127.0.0.1:1/demo.raw'] });
  await expectFailure(result, { reason: 'unreachable', cause: 'ECONNREFUSED' });
});

test('a source whose certificate no known CA vouches for is not asked', async () => {
  const source = await startSource(serveBytes(ten));
  const other = await makeTestCa('another CA');
  const cache = await startCache({ directory: await temporaryDirectory(), sourceCa: other.pem });
  const image = imageOf(ten, source.origin);
  cache.desire([image]);
  await expect(cache.ready(image.digest)).rejects.toMatchObject({ details: { reason: 'unreachable' } });
  expect(source.requests).toEqual([]);
});

test('a plain http source is refused for good', async () => {
  const result = await attempt(serveBytes(ten), ten, { sources: ['http://127.0.0.1/demo.raw'] });
  expect(result.end).toMatchObject({ reason: { code: 'INVALID_INPUT', details: { reason: 'scheme' } } });
  expect(result.cache.state(result.image.digest)).not.toHaveProperty('nextTryAt');
});

describe('I14: retries', () => {
  test('a truncated source that is mended is pulled by a later try', async () => {
    const { cache, image, source, end } = await attempt(
      sendAndClose('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n012'),
    );
    expect(end.status).toBe('rejected');
    source.answerWith(serveBytes(ten));
    await cache.ready(image.digest);
    expect(await contentOf(cache, image.digest)).toEqual(ten);
  });

  test('a mismatch is tried again from byte 0, by itself', async () => {
    const { cache, image, source, end } = await attempt(serveBytes(Buffer.from('9876543210')));
    expect(end.status).toBe('rejected');
    const ready = new Promise<void>((resolve) => {
      cache.onChange(() => cache.state(image.digest)?.state === 'ready' && resolve());
    });
    source.answerWith(serveBytes(ten));
    await ready;
    expect(source.requests.at(-1)?.headers).not.toHaveProperty('range');
  });
});
