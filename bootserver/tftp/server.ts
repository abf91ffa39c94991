import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import { clientKey } from '#doors/clientKey.ts';
import { RateLimiter } from '#doors/rateLimiter.ts';
import type { DatagramTap } from '../packetTap.ts';
import { type WrapsTo, wraps } from './blockNumbers.ts';
import { canonicalFileName } from './fileName.ts';
import { negotiate, type TransferLimits } from './negotiate.ts';
import { netascii } from './netascii.ts';
import { decodeTftp, encodeError, type TftpPacket, tftpError } from './packet.ts';
import { Session, type TransferReport } from './session.ts';
import { SessionTable } from './sessions.ts';

export interface TftpServerOptions {
  /** The address to be asked at, which every answer then leaves from: firmware drops others. IPv4 or IPv6. */
  address: string;
  port: number;
  /** A socket bound by the service manager to `address`. */
  fd?: number;
  files: { get(name: string): Buffer | undefined };
  limits: TransferLimits;
  /** A quirk of the client at an address: what follows its block 65,535. */
  wrapsTo?(client: string): WrapsTo;
  report(transfer: TransferReport): void;
  /** A client asked for a file that is not there. */
  missing?(client: string, file: string): void;
  tap?: DatagramTap;
  log: Log;
  clock: Clock;
}

export interface TftpServer extends Closable {
  readonly port: number;
}

/** Requests of one client, served or refused: a boot has a dozen, so that who asks more is broken or means harm. */
const requestRate = { perSecond: 50, burst: 200 };

type ReadRequest = Extract<TftpPacket, { kind: 'read' }>;

interface Serving extends TftpServerOptions {
  socket: Socket;
  sessions: SessionTable<Session>;
  rate: RateLimiter;
}

/** Serves files from memory, read only (RFC 1350, 2347, 2348, 2349, 7440). @throws Error with a system `code` when it cannot bind */
export async function startTftpServer(options: TftpServerOptions): Promise<TftpServer> {
  const socket = createSocket(isIPv6(options.address) ? 'udp6' : 'udp4');
  const sessions = new SessionTable<Session>();
  const serving = { ...options, socket, sessions, rate: new RateLimiter(requestRate) };
  socket.on('message', (bytes, from) => answer(bytes, from, serving));
  const listening = once(socket, 'listening');
  if (options.fd === undefined) socket.bind(options.port, options.address);
  else socket.bind({ fd: options.fd });
  await listening;
  socket.on('error', (error) => options.log.error({ err: error }, 'TFTP socket failed'));
  return {
    port: socket.address().port,
    async close() {
      sessions.closeAll();
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}

function answer(bytes: Buffer, from: RemoteInfo, serving: Serving): void {
  const packet = decodeTftp(bytes);
  if (packet === undefined || packet.kind === 'error') return;
  if (serving.rate.take(clientKey(from.address)) > 0) return;
  const { tap, address, port } = serving;
  if (tap?.isOn) tap.saw(from.address, { from, to: { address, port }, payload: bytes });
  if (packet.kind === 'read') read(packet, from, serving);
  else if (packet.kind === 'write') refuse(serving, from, tftpError.accessViolation, 'read only');
  else refuse(serving, from, tftpError.unknownTransferId, 'no such transfer');
}

function read(request: ReadRequest, from: RemoteInfo, serving: Serving): void {
  const running = serving.sessions.get(peerOf(from));
  if (running?.isRepeatedBy(request.file)) {
    running.requestedAgain();
    return;
  }
  // ROMs use one port for every file: this client was started again, or is done with the other file.
  running?.close();
  const content = contentOf(request, serving);
  if (content === undefined) unknownFile(request, from, serving);
  else if (content === 'mode') refuse(serving, from, tftpError.illegalOperation, 'ask in octet mode');
  else if (!serving.sessions.hasRoomFor(from.address))
    serving.log.warn({ client: from.address, file: request.file }, 'TFTP: busy, request dropped');
  else begin(request, from, content, serving);
}

/** RFC 1350's third mode, `mail`, sends to a user and reads nothing. */
function contentOf({ file, mode }: ReadRequest, { files }: Serving): Buffer | 'mode' | undefined {
  const name = canonicalFileName(file);
  const content = name === undefined ? undefined : files.get(name);
  if (content === undefined || mode === 'octet') return content;
  return mode === 'netascii' ? netascii(content) : 'mode';
}

function begin(request: ReadRequest, from: RemoteInfo, content: Buffer, serving: Serving): void {
  const { log, sessions } = serving;
  const wrapsTo = serving.wrapsTo?.(from.address) ?? 0;
  const agreement = negotiate(request.options, content.length, { ...serving.limits, wrapsTo });
  const { file } = request;
  if (wraps(content.length, agreement.blockSize))
    log.warn(
      { client: from.address, file, bytes: content.length, blockSize: agreement.blockSize },
      'TFTP numbers 65,535 blocks and this file has more, which some clients cannot load: serve it by HTTP, or let the client ask for a larger blksize',
    );
  const peer = peerOf(from);
  try {
    const session = new Session({ ...serving, file, content, agreement, from }, () => sessions.remove(peer));
    sessions.add(peer, session);
    session.start();
  } catch (error) {
    log.error({ err: error, client: from.address, file }, 'TFTP: no socket for a transfer');
  }
}

/** Loaders ask for files that need not exist (`autoexec.ipxe`, shim's revocations), so this is no warning. */
function unknownFile({ file }: ReadRequest, from: RemoteInfo, serving: Serving): void {
  serving.log.debug({ client: from.address, file }, 'TFTP: no such file');
  serving.missing?.(from.address, file);
  refuse(serving, from, tftpError.fileNotFound, 'no such file');
}

function refuse(
  { socket, tap, address, port }: Serving,
  to: RemoteInfo,
  code: number,
  message: string,
): void {
  const payload = encodeError(code, message);
  if (tap?.isOn) tap.saw(to.address, { from: { address, port }, to, payload });
  // A lost refusal is repeated by the client's next try.
  socket.send(payload, to.port, to.address, () => {});
}

function peerOf({ address, port }: RemoteInfo): string {
  return `${address} ${port}`;
}
