import { afterEach, expect, test } from 'vitest';
import { type Closable, closeAll } from '#base/shutdown.ts';
import { type ArtifactOptions, openArtifact } from '#ramdisk/stream/source.ts';
import { httpSource, rawSource, serving } from '../fakes/source.ts';

const content = Buffer.from(Array.from({ length: 100 }, (_, index) => index));
const open: Closable[] = [];
const kept = <Part extends Closable>(part: Part): Part => {
  open.push(part);
  return part;
};
afterEach(() => closeAll(open.splice(0)));

const http = async (...listener: Parameters<typeof httpSource>) => kept(await httpSource(...listener));
const raw = async (...answers: Parameters<typeof rawSource>[0]) => kept(await rawSource(answers));

/** Reads it all from one site, with little patience. */
async function readAll(url: string, options: Partial<ArtifactOptions> = {}) {
  const waits: string[] = [];
  const artifact = openArtifact({
    places: [{ kind: 'site', url }],
    deadline: Date.now() + 5000,
    patienceMs: 1500,
    idleMs: 300,
    onWait: (why) => waits.push(why),
    signal: AbortSignal.timeout(15_000),
    ...options,
  });
  const parts: Buffer[] = [];
  for await (const part of artifact.bytes()) parts.push(Buffer.from(part));
  return { bytes: Buffer.concat(parts), state: artifact.state, waits };
}

const failureOf = (reading: Promise<unknown>) =>
  reading.then(
    () => expect.unreachable('it should have failed'),
    (error) => ({ code: error.code, ...error.details }),
  );

/** The answer of a server that has `part` of the content from `first` on, then closes. */
const partial = (first: number, part: Buffer, etag = '"one"') =>
  Buffer.concat([
    Buffer.from(
      `HTTP/1.1 206 Partial Content\r\nETag: ${etag}\r\nContent-Range: bytes ${first}-99/100\r\nContent-Length: ${100 - first}\r\n\r\n`,
    ),
    part,
  ]);

test('the whole artifact comes, with its size, over one request', async () => {
  const source = await http(serving(content));
  const { bytes, state } = await readAll(source.url);
  expect(bytes).toEqual(content);
  expect(state).toEqual({ receivedBytes: 100, totalBytes: 100, from: 'site' });
  expect(source.ranges).toEqual(['bytes=0-']);
});

// I1: a cut download is taken as complete.
test('after a broken connection the next request goes on at the byte reached', async () => {
  const source = await raw(
    { bytes: partial(0, content.subarray(0, 30)) },
    { bytes: partial(30, content.subarray(30, 31)) },
    { bytes: partial(31, content.subarray(31)) },
  );
  const { bytes } = await readAll(source.url);
  expect(bytes).toEqual(content);
  expect(source.ranges).toEqual(['bytes=0-', 'bytes=30-', 'bytes=31-']);
});

test.each([
  ['Content-Length 10 and 3 bytes', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'],
  [
    'a chunked body without its last chunk',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n',
  ],
])('%s never ends as complete', async (_, bytes) => {
  const source = await raw({ bytes });
  expect(await failureOf(readAll(source.url))).toMatchObject({ code: 'UNAVAILABLE', reason: 'no-bytes' });
});

test('a cut that HTTP cannot show is found by the size of the catalog', async () => {
  const source = await raw({ bytes: 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc' });
  expect(await failureOf(readAll(source.url, { sizeBytes: 10 }))).toMatchObject({ code: 'UNAVAILABLE' });
});

// I2: Content-Length and body disagree.
test('a body that stalls is given up after the idle time and asked for again', async () => {
  const source = await raw(
    { bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123', keepOpen: true },
    { bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1234567890' },
  );
  const { bytes } = await readAll(source.url);
  expect(bytes.toString()).toBe('1234567890');
});

test('bytes beyond the Content-Length never arrive', async () => {
  const source = await raw({ bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef' });
  expect((await readAll(source.url)).bytes.toString()).toBe('abc');
});

test.each(['Content-Length: 3\r\nContent-Length: 6', 'Content-Length: -1'])(
  'an answer with %j is refused',
  async (header) => {
    const source = await raw({ bytes: `HTTP/1.1 200 OK\r\n${header}\r\n\r\nabcdef` });
    expect(await failureOf(readAll(source.url))).toMatchObject({ code: 'UNAVAILABLE' });
  },
);

test('a declared size other than the catalog says is refused before a byte', async () => {
  const source = await http(serving(content));
  expect(await failureOf(readAll(source.url, { sizeBytes: 99 }))).toMatchObject({
    code: 'DRIVER_ERROR',
    reason: 'size-mismatch',
    expected: 99,
    found: 100,
  });
});

test('a chunked body longer than the catalog says is refused', async () => {
  const source = await http((_, response) => response.writeHead(200).end(content));
  const failure = await failureOf(readAll(source.url, { sizeBytes: 50 }));
  expect(failure).toMatchObject({ code: 'DRIVER_ERROR', reason: 'size-mismatch', expected: 50 });
});

// I3: the answers to a request for the rest.
const firstPart = { bytes: partial(0, content.subarray(0, 91)) };
const whole = Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n'), content]);
const bare206 = Buffer.concat([
  Buffer.from('HTTP/1.1 206 Partial Content\r\nContent-Length: 9\r\n\r\n'),
  content.subarray(91),
]);

test.each([
  ['200 and the whole file', [whole]],
  ['206 without Content-Range, then 200', [bare206, whole]],
  ['206 that starts before the asked byte', [partial(64, content.subarray(64))]],
  ['206 that starts behind it, then 200', [partial(95, content.subarray(95)), whole]],
  ['416 for a range that was right, then 200', ['HTTP/1.1 416 No\r\nContent-Length: 0\r\n\r\n', whole]],
])('a resume answered by %s yields each byte once', async (_, answers) => {
  const source = await raw(firstPart, ...answers.map((bytes) => ({ bytes })));
  expect((await readAll(source.url)).bytes).toEqual(content);
});

test('416 that says that the part is the whole ends the artifact', async () => {
  const unsized = Buffer.concat([
    Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n'),
    content,
    Buffer.from('\r\n'),
  ]);
  const source = await raw(
    { bytes: unsized },
    { bytes: 'HTTP/1.1 416 No\r\nContent-Range: bytes */100\r\nContent-Length: 0\r\n\r\n' },
  );
  expect((await readAll(source.url)).bytes).toEqual(content);
});

test('a server that answers no range right is given up, not asked for ever', async () => {
  const source = await raw({ bytes: bare206 });
  expect(await failureOf(readAll(source.url))).toMatchObject({ code: 'DRIVER_ERROR', reason: 'range' });
});

test('an artifact that changes while it is read is refused', async () => {
  const source = await raw(firstPart, { bytes: partial(91, content.subarray(91), '"two"') });
  expect(await failureOf(readAll(source.url))).toMatchObject({ reason: 'source-changed' });
});

// I5: redirects.
test('a redirect is followed without any credentials', async () => {
  let seen: object = {};
  const store = await http((request, response) => {
    seen = request.headers;
    serving(content)(request, response);
  });
  const source = await http((_, response) =>
    response.writeHead(307, { location: `${store.url}?X-Amz-Signature=secret` }).end(),
  );
  expect((await readAll(source.url)).bytes).toEqual(content);
  for (const name of ['authorization', 'cookie', 'x-auth-token', 'proxy-authorization'])
    expect(seen).not.toHaveProperty(name);
});

test('endless redirects end in an error', async () => {
  const source = await http((_, response) => response.writeHead(302, { location: '/image' }).end());
  expect(await failureOf(readAll(source.url))).toMatchObject({ reason: 'redirects' });
});

test('a presigned query never shows in an error', async () => {
  const source = await http((_, response) => response.writeHead(403).end());
  const failure = await failureOf(readAll(`${source.url}?X-Amz-Signature=secret`));
  expect(JSON.stringify(failure)).not.toContain('secret');
});

// I6: Content-Encoding on an object that is itself compressed.
test('the bytes of the wire are taken whatever Content-Encoding says', async () => {
  const { gzipSync } = await import('node:zlib');
  const zipped = gzipSync('plain text');
  let accepted: string | string[] | undefined;
  const source = await http((request, response) => {
    accepted = request.headers['accept-encoding'];
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': zipped.length }).end(zipped);
  });
  expect((await readAll(source.url)).bytes).toEqual(zipped);
  expect(accepted).toBe('identity');
});

// I13: an HTML page saved as the image.
test('an HTML page is refused', async () => {
  const source = await http((_, response) =>
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>'),
  );
  expect(await failureOf(readAll(source.url))).toMatchObject({ code: 'DRIVER_ERROR', reason: 'html' });
});

test('503 is waited for as long as it asks, then the bytes come', async () => {
  let asked = 0;
  const source = await http((request, response) => {
    asked += 1;
    if (asked > 2) return serving(content)(request, response);
    const error = {
      code: 'UNAVAILABLE',
      message: 'the image is being pulled',
      details: { reason: 'pulling' },
    };
    response.writeHead(503, { 'retry-after': '0' }).end(JSON.stringify({ error }));
  });
  const { bytes, waits } = await readAll(source.url);
  expect(bytes).toEqual(content);
  expect(waits).toEqual(['the image is being pulled', 'the image is being pulled']);
});

test('503 is not waited for past the deadline', async () => {
  const source = await http((_, response) => response.writeHead(503, { 'retry-after': '1' }).end());
  const failure = await failureOf(readAll(source.url, { deadline: Date.now() + 300 }));
  expect(failure).toMatchObject({ code: 'UNAVAILABLE', reason: 'no-bytes' });
});

test('a site that asks for time without end is left for the source after five minutes of it', async () => {
  let now = Date.now();
  const advance = (ms: number) => {
    now += ms;
  };
  const clock = { now: () => now, sleep: (ms: number) => Promise.resolve(advance(ms)) };
  const site = await http((_, response) => response.writeHead(503, { 'retry-after': '30' }).end());
  const origin = await http(serving(content));
  const deadline = now + 3_600_000;
  const { bytes, state } = await readAll(site.url, {
    places: placesOf(site.url, origin.url),
    deadline,
    clock,
  });
  expect(bytes).toEqual(content);
  expect(state.from).toBe('origin');
  expect(site.ranges).toHaveLength(11);
});

test("502 with the site's error fails at once with that error", async () => {
  const error = {
    code: 'DRIVER_ERROR',
    message: 'the pull failed',
    details: { reason: 'digest-mismatch', expected: 'aa', found: 'bb' },
  };
  const source = await http((_, response) => response.writeHead(502).end(JSON.stringify({ error })));
  expect(await failureOf(readAll(source.url))).toEqual({ code: error.code, ...error.details });
  expect(source.ranges).toHaveLength(1);
});

// The site's own trouble is not the image's: its disk is full, or no longer gives the bytes back.
test.each(['no-space', 'unreadable', 'bit-rot', 'cache-disk', 'unreachable'])(
  "502 with the site's %s leads to the source",
  async (reason) => {
    const error = { code: 'DRIVER_ERROR', message: 'the site cannot', details: { reason } };
    const site = await http((_, response) => response.writeHead(502).end(JSON.stringify({ error })));
    const origin = await http(serving(content));
    const { bytes, state } = await readAll(site.url, { places: placesOf(site.url, origin.url) });
    expect(bytes).toEqual(content);
    expect(state.from).toBe('origin');
  },
);

test('a site that fails in mid-stream and then refuses is left at the byte reached', async () => {
  const error = JSON.stringify({
    error: { code: 'DRIVER_ERROR', message: 'damaged', details: { reason: 'unreadable' } },
  });
  const refusal = `HTTP/1.1 502 Bad Gateway\r\nContent-Length: ${error.length}\r\n\r\n${error}`;
  const site = await raw({ bytes: partial(0, content.subarray(0, 40)) }, { bytes: refusal });
  const origin = await http(serving(content));
  const { bytes, state } = await readAll(site.url, { places: placesOf(site.url, origin.url) });
  expect(bytes).toEqual(content);
  expect(state.from).toBe('origin');
  expect(origin.ranges).toEqual(['bytes=40-']);
});

test('a site that falls silent in mid-stream is left for the source, the last place is not', async () => {
  const silentAfter = (part: Buffer) => ({ bytes: partial(0, part), keepOpen: true });
  const site = await raw(silentAfter(content.subarray(0, 40)));
  const origin = await http(serving(content));
  const { bytes } = await readAll(site.url, { places: placesOf(site.url, origin.url) });
  expect(bytes).toEqual(content);
  expect(origin.ranges).toEqual(['bytes=40-']);
});

const placesOf = (site: string, origin: string): ArtifactOptions['places'] => [
  { kind: 'site', url: site },
  { kind: 'origin', url: origin },
];

test('404 at the site leads to the first source that has the artifact', async () => {
  const site = await http((_, response) => response.writeHead(404).end());
  const origin = await http(serving(content));
  const { bytes, state } = await readAll(site.url, {
    places: [
      { kind: 'site', url: site.url },
      { kind: 'origin', url: site.url },
      { kind: 'origin', url: origin.url },
    ],
  });
  expect(bytes).toEqual(content);
  expect(state.from).toBe('origin');
});

test('a site that restarts while bytes flow does not fail the reading', async () => {
  const first = await rawSource([firstPart]);
  const port = Number(new URL(first.url).port);
  const reading = readAll(first.url, { patienceMs: 10_000, onWait: () => void restart() });
  let restarted: Promise<void> | undefined;
  const restart = () => {
    restarted ??= (async () => {
      await first.close();
      const { createServer } = await import('node:http');
      const again = createServer(serving(content));
      await new Promise<void>((resolve) => again.listen(port, '127.0.0.1', resolve));
      kept({ close: () => new Promise((resolve) => again.close(() => resolve())) });
    })();
  };
  expect((await reading).bytes).toEqual(content);
  await restarted;
});

test('an abort ends the reading with its reason', async () => {
  const stop = new AbortController();
  const source = await raw({ bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123', keepOpen: true });
  const reading = readAll(source.url, { signal: stop.signal, idleMs: 5000 });
  setTimeout(() => stop.abort(new Error('cancelled')), 50);
  await expect(reading).rejects.toThrow('cancelled');
});
