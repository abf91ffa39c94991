import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import type { Answer } from './attempt.ts';

/** A request whose headers were taken and whose body is still on its way. */
export interface HeldRequest {
  /** Sends the rest of the body, and returns what is answered. */
  finish(): Promise<Answer>;
  drop(): void;
}

export interface Shown {
  bearer?: string;
  /** A client certificate and its key; with `ca` it speaks TLS. */
  ca?: string;
  key?: string;
  certificate?: string;
}

/** Sends the headers of `POST <path>`, waits until the server asks for the body, and sends one byte of it. */
export async function holdRequest(
  base: string,
  path: string,
  body: object,
  shown: Shown = {},
): Promise<HeldRequest> {
  const socket = await dial(new URL(base), shown);
  const bytes = Buffer.from(JSON.stringify(body));
  const headers = [
    `POST ${path} HTTP/1.1`,
    'host: held',
    'expect: 100-continue',
    'connection: close',
    'content-type: application/json',
    `content-length: ${bytes.length}`,
    ...(shown.bearer === undefined ? [] : [`authorization: Bearer ${shown.bearer}`]),
  ];
  socket.write(`${headers.join('\r\n')}\r\n\r\n`);
  await once(socket, 'readable');
  socket.write(bytes.subarray(0, 1));
  return {
    finish: async () => {
      socket.write(bytes.subarray(1));
      return answerIn(await text(socket));
    },
    drop: () => void socket.destroy(),
  };
}

async function dial({ hostname: host, port }: URL, { ca, key, certificate: cert }: Shown): Promise<Socket> {
  const where = { host, port: Number(port) };
  // A site's certificate names no host.
  const trust = { ca, key, cert, checkServerIdentity: () => undefined };
  const socket = ca === undefined ? connect(where) : connectTls({ ...where, ...trust });
  await once(socket, ca === undefined ? 'connect' : 'secureConnect');
  return socket;
}

function answerIn(received: string): Answer {
  const last = received.lastIndexOf('HTTP/1.1 ');
  const [head = '', ...body] = received.slice(last).split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), text: body.join('\r\n\r\n') };
}
