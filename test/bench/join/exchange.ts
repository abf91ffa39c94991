import { once } from 'node:events';
import { connect, type SecureContext, type TLSSocket } from 'node:tls';

/** A connection to a server that shows a certificate for its address. */
export async function connectTo(url: string, secureContext: SecureContext): Promise<TLSSocket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), secureContext });
  await once(socket, 'secureConnect');
  return socket;
}

/** Posts a document and returns the answer's body. Little is kept for it, so that many fit into one client process. */
export async function post(socket: TLSSocket, path: string, document: object): Promise<string> {
  const body = JSON.stringify(document);
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: bench',
    'content-type: application/json',
    `content-length: ${body.length}`,
  ];
  const answered = answerOf(socket);
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  return answered;
}

function answerOf(socket: TLSSocket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const settle = (end: () => void) => {
      socket.off('data', take).off('error', fail).off('close', fail);
      end();
    };
    const fail = (error: unknown) =>
      settle(() => reject(error instanceof Error ? error : new Error('the server hung up')));
    const take = (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const body = wholeBody(text);
      if (body !== undefined)
        settle(() => (/^HTTP\/1.1 200 /.test(text) ? resolve(body) : reject(new Error(text))));
    };
    socket.on('data', take).on('error', fail).on('close', fail);
  });
}

function wholeBody(text: string): string | undefined {
  const end = text.indexOf('\r\n\r\n');
  const length = Number(/content-length: (\d+)/i.exec(text.slice(0, end))?.[1]);
  return end >= 0 && text.length >= end + 4 + length ? text.slice(end + 4) : undefined;
}
