import net from 'node:net';

/** One HTTP request to send again and again. */
export interface Request {
  port: number;
  path: string;
  token?: string;
  body: string;
}

/**
 * How many answers a second a server gives on `connections` that each ask anew when answered. The client reads no more of an
 * answer than its length, so that it costs far less than any server.
 * @throws Error for an answer that is not 200
 */
export async function requestsPerSecond(
  request: Request,
  { connections, seconds }: { connections: number; seconds: number },
): Promise<number> {
  const bytes = requestBytes(request);
  const counts = { answers: 0 };
  const started = performance.now();
  const end = started + seconds * 1000;
  await Promise.all(Array.from({ length: connections }, () => askUntil(end, request.port, bytes, counts)));
  return (counts.answers / (performance.now() - started)) * 1000;
}

function requestBytes({ path, token, body }: Request): Buffer {
  const lines = [
    `POST ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

function askUntil(end: number, port: number, bytes: Buffer, counts: { answers: number }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('error', reject).on('connect', () => socket.write(bytes));
  let missing = 0;
  socket.on('data', (chunk: Buffer) => {
    missing = (missing === 0 ? answerLength(chunk) : missing) - chunk.length;
    if (missing > 0) return;
    counts.answers++;
    if (performance.now() < end) return void socket.write(bytes);
    socket.destroy();
    resolve();
  });
  return promise.finally(() => socket.destroy());
}

/** The bytes of a whole answer, from its first chunk, which holds all of its header. */
function answerLength(chunk: Buffer): number {
  const header = chunk.indexOf('\r\n\r\n');
  const text = chunk.toString('latin1', 0, header);
  if (!text.startsWith('HTTP/1.1 200 ')) throw new Error(`the server answered: ${chunk.toString()}`);
  return header + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1]);
}
