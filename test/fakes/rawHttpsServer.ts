import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import type { ServerIdentity } from './certificates.ts';

export interface RawRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
}

/** Writes the answer's bytes, right or wrong, and ends the socket or not. */
export type RawAnswer = (request: RawRequest, socket: TLSSocket, count: number) => void;

export interface RawHttpsServer {
  origin: string;
  requests: RawRequest[];
  answerWith(answer: RawAnswer): void;
  close(): Promise<void>;
}

/** An HTTPS server that sends exactly the bytes that the test gives it. */
export async function startRawHttps(identity: ServerIdentity, first: RawAnswer): Promise<RawHttpsServer> {
  let answer = first;
  const requests: RawRequest[] = [];
  const sockets = new Set<TLSSocket>();
  const server = createServer({ ...identity }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        const request = parseRequest(text.slice(0, end));
        text = text.slice(end + 4);
        requests.push(request);
        answer(request, socket, requests.length);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `https://127.0.0.1:${port}`,
    requests,
    answerWith: (next) => {
      answer = next;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function parseRequest(head: string): RawRequest {
  const [line = '', ...fields] = head.split('\r\n');
  const [method = '', path = ''] = line.split(' ');
  const headers = Object.fromEntries(
    fields.map((field) => {
      const colon = field.indexOf(':');
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
    }),
  );
  return { method, path, headers };
}

/** A whole honest answer that serves ranges as RFC 9110 says. */
export function serveBytes(bytes: Buffer, etag = '"v1"'): RawAnswer {
  return (request, socket) => {
    const from = rangeStart(request, etag);
    const body = bytes.subarray(from);
    const head =
      from === 0
        ? ['HTTP/1.1 200 OK']
        : [
            'HTTP/1.1 206 Partial Content',
            `Content-Range: bytes ${from}-${bytes.length - 1}/${bytes.length}`,
          ];
    socket.write(`${[...head, `ETag: ${etag}`, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n`);
    socket.write(body);
  };
}

function rangeStart(request: RawRequest, etag: string): number {
  const condition = request.headers['if-range'];
  if (condition !== undefined && condition !== etag) return 0;
  return Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
}

/** The answer's text, then the end of the connection. */
export function sendAndClose(text: string | Buffer): RawAnswer {
  return (_request, socket) => {
    socket.end(text);
  };
}

export function sendAndStayOpen(text: string | Buffer): RawAnswer {
  return (_request, socket) => {
    socket.write(text);
  };
}
