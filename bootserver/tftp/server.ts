import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import { canonicalFileName } from './fileName.ts';
import { negotiate, type TransferLimits } from './negotiate.ts';
import { decodeTftp, encodeError, type TftpPacket, tftpError } from './packet.ts';
import { Session, type TransferReport } from './session.ts';

export interface TftpServerOptions {
  /** The address to be asked at, which every answer then leaves from: firmware drops others. */
  address: string;
  port: number;
  /** A socket bound by the service manager to `address`. */
  fd?: number;
  files: ReadonlyMap<string, Buffer>;
  limits: TransferLimits;
  report(transfer: TransferReport): void;
  log: Log;
  clock: Clock;
}

export interface TftpServer extends Closable {
  readonly port: number;
}

/** Transfers at a time, of one client and in all. Beyond them a request is dropped: the client repeats it. */
const mostPerClient = 8;
const mostInAll = 512;

type ReadRequest = Extract<TftpPacket, { kind: 'read' }>;

/** Serves files of a map, read only (RFC 1350, 2347, 2348, 2349, 7440). @throws Error with a system `code` when it cannot bind */
export async function startTftpServer(options: TftpServerOptions): Promise<TftpServer> {
  const socket = createSocket('udp4');
  const sessions = new Map<string, Session>();
  socket.on('message', (bytes, from) => answer(bytes, from, socket, sessions, options));
  const listening = once(socket, 'listening');
  if (options.fd === undefined) socket.bind(options.port, options.address);
  else socket.bind({ fd: options.fd });
  await listening;
  socket.on('error', (error) => options.log.error({ err: error }, 'TFTP socket failed'));
  return {
    port: socket.address().port,
    async close() {
      for (const session of sessions.values()) session.close();
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}

function answer(
  bytes: Buffer,
  from: RemoteInfo,
  socket: Socket,
  sessions: Map<string, Session>,
  options: TftpServerOptions,
): void {
  const packet = decodeTftp(bytes);
  if (packet?.kind === 'read') read(packet, from, socket, sessions, options);
  else if (packet?.kind === 'write') refuse(socket, from, tftpError.accessViolation, 'read only');
  else if (packet?.kind === 'ack') refuse(socket, from, tftpError.unknownTransferId, 'no such transfer');
}

function read(
  request: ReadRequest,
  from: RemoteInfo,
  socket: Socket,
  sessions: Map<string, Session>,
  options: TftpServerOptions,
): void {
  const peer = `${from.address}:${from.port}`;
  const running = sessions.get(peer);
  if (running !== undefined) {
    running.requestedAgain();
    return;
  }
  const name = canonicalFileName(request.file);
  const content = name === undefined ? undefined : options.files.get(name);
  if (content === undefined) unknownFile(request, from, socket, options);
  else if (request.mode !== 'octet') refuse(socket, from, tftpError.undefined, 'only octet mode is served');
  else if (isBusy(from, sessions))
    options.log.warn({ client: from.address, file: request.file }, 'TFTP: busy, request dropped');
  else
    sessions.set(
      peer,
      begin(request, from, content, options, () => sessions.delete(peer)),
    );
}

function begin(
  request: ReadRequest,
  from: RemoteInfo,
  content: Buffer,
  options: TftpServerOptions,
  ended: () => void,
): Session {
  const agreement = negotiate(request.options, content.length, options.limits);
  return new Session({ ...options, file: request.file, content, agreement, from }, ended);
}

/** Loaders ask for files that need not exist (`autoexec.ipxe`, shim's revocations), so this is no warning. */
function unknownFile(
  request: ReadRequest,
  from: RemoteInfo,
  socket: Socket,
  { log }: TftpServerOptions,
): void {
  log.debug({ client: from.address, file: request.file }, 'TFTP: no such file');
  refuse(socket, from, tftpError.fileNotFound, 'no such file');
}

function isBusy(from: RemoteInfo, sessions: Map<string, Session>): boolean {
  if (sessions.size >= mostInAll) return true;
  const own = [...sessions.values()].filter((session) => session.client === from.address);
  return own.length >= mostPerClient;
}

function refuse(socket: Socket, to: RemoteInfo, code: number, message: string): void {
  // A lost refusal is repeated by the client's next try.
  socket.send(encodeError(code, message), to.port, to.address, () => {});
}
