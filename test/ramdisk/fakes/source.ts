import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import type { Closable } from '#base/shutdown.ts';

export interface TestSource extends Closable {
  url: string;
  /** The Range header of each request, `undefined` where there was none. */
  ranges: (string | undefined)[];
}

/** A real HTTP server on loopback. */
export async function httpSource(listener: RequestListener): Promise<TestSource> {
  const ranges: TestSource['ranges'] = [];
  const server = createServer((request, response) => {
    ranges.push(request.headers.range);
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/image`,
    ranges,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Serves content as a good server does: ranges, a strong ETag, 416 beyond the end. */
export function serving(content: Buffer, etag = '"one"'): RequestListener {
  return (request, response) => {
    const first = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? Number.NaN);
    const usable = request.headers['if-range'] === undefined || request.headers['if-range'] === etag;
    if (Number.isNaN(first) || !usable) {
      response.writeHead(200, { 'content-length': content.length, etag }).end(content);
      return;
    }
    if (first >= content.length) {
      response.writeHead(416, { 'content-range': `bytes */${content.length}` }).end();
      return;
    }
    const part = content.subarray(first);
    const range = `bytes ${first}-${content.length - 1}/${content.length}`;
    response.writeHead(206, { 'content-length': part.length, 'content-range': range, etag }).end(part);
  };
}

/** Answers each connection in turn with the next of these byte strings and closes it, or keeps it open. The last one repeats. */
export async function rawSource(
  answers: readonly { bytes: Buffer | string; keepOpen?: boolean }[],
): Promise<TestSource> {
  const ranges: TestSource['ranges'] = [];
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', (request) => {
      ranges.push(/^range: (.*)\r$/im.exec(request.toString('latin1'))?.[1]);
      const answer = answers[Math.min(turn, answers.length - 1)];
      turn += 1;
      if (answer?.keepOpen) socket.write(answer.bytes);
      else socket.end(answer?.bytes ?? '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/image`,
    ranges,
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
