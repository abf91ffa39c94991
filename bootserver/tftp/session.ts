import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { sendDatagrams } from '#base/udp/sendDatagrams.ts';
import { socketAddress } from '#base/udp/socketAddress.ts';
import { openTransferSocket } from '#base/udp/transferSocket.ts';
import type { DatagramTap } from '../packetTap.ts';
import type { Agreement } from './negotiate.ts';
import { decodeTftp, encodeError, tftpError } from './packet.ts';
import { type Step, Transfer } from './transfer.ts';

/** How a client's download went. */
export interface TransferReport {
  client: string;
  file: string;
  /** `probed`: the client only wanted the size, and ended with an ERROR before it had any data (RFC 2347). */
  outcome: 'complete' | 'abandoned' | 'probed';
  bytes: number;
  seconds: number;
  resentBlocks: number;
  blockSize: number;
  windowSize: number;
}

interface SessionOptions {
  /** The local address that was asked; the port of its own is the transfer's id (RFC 1350 §4). */
  address: string;
  from: RemoteInfo;
  file: string;
  content: Buffer;
  agreement: Agreement;
  report(transfer: TransferReport): void;
  tap?: DatagramTap;
  log: Log;
  clock: Clock;
}

/** Silence after which a request from the port of a running transfer is a new start of the client, in milliseconds. */
const forgottenMs = 2000;

/** One transfer's socket and timer. */
export class Session {
  readonly #options: SessionOptions;
  readonly #transfer: Transfer;
  readonly #socket: Socket;
  readonly #fd: number;
  readonly #peer: Buffer;
  readonly #ended: () => void;
  readonly #startedAt: number;
  #heardAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #deadline = 0;
  #isOpen = true;

  /** @throws Error with a system `code` when there is no socket to be had */
  constructor(options: SessionOptions, ended: () => void) {
    const { address, from, clock, content, agreement } = options;
    this.#options = options;
    this.#ended = ended;
    this.#startedAt = clock.now();
    this.#transfer = new Transfer(content, agreement);
    this.#peer = socketAddress(from.address, from.port);
    this.#fd = openTransferSocket(address);
    this.#socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
    this.#socket.on('message', (bytes, sender) => this.#received(bytes, sender));
    this.#socket.on('error', (error) => this.#failed(error));
    this.#socket.bind({ fd: this.#fd });
  }

  start(): void {
    this.#act(this.#transfer.start(performance.now()));
  }

  get client(): string {
    return this.#options.from.address;
  }

  get isAnswered(): boolean {
    return this.#heardAt !== undefined;
  }

  /** Whether a request for `file` from the same port belongs to this transfer; else the client has begun anew. */
  isRepeatedBy(file: string): boolean {
    const isSilent = performance.now() - (this.#heardAt ?? Number.POSITIVE_INFINITY) > forgottenMs;
    return file === this.#options.file && !isSilent;
  }

  requestedAgain(): void {
    this.#act(this.#transfer.requestedAgain());
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearTimeout(this.#timer);
    this.#socket.close();
    this.#ended();
  }

  #received(bytes: Buffer, from: RemoteInfo): void {
    const peer = this.#options.from;
    if (from.port !== peer.port || from.address !== peer.address) {
      const refusal = encodeError(tftpError.unknownTransferId, 'not your transfer');
      sendDatagrams(this.#fd, socketAddress(from.address, from.port), [refusal]);
      return;
    }
    this.#tapped(bytes, true);
    const packet = decodeTftp(bytes);
    const now = performance.now();
    this.#heardAt = now;
    if (packet?.kind === 'ack') this.#act(this.#transfer.acknowledged(packet.block, now));
    else if (packet?.kind === 'error') this.#finish(this.#transfer.hasProgress ? 'abandoned' : 'probed');
  }

  #act(step: Step): void {
    if (!this.#isOpen) return;
    // What cannot be sent now is lost like a datagram on the way: the timer sends it again.
    for (const datagram of step.send) this.#tapped(datagram, false);
    if (step.send.length > 0) sendDatagrams(this.#fd, this.#peer, step.send);
    if (step.outcome !== 'running') this.#finish(step.outcome);
    else if (step.send.length > 0) this.#awaitAnswer();
  }

  #tapped(payload: Buffer, isReceived: boolean): void {
    const { tap, from: peer, address } = this.#options;
    if (!tap?.isOn) return;
    const own = { address, port: this.#socket.address().port };
    const [from, to] = isReceived ? [peer, own] : [own, peer];
    tap.saw(peer.address, { from, to, payload });
  }

  /** Only what we send sets the timer: repeated ACKs must not put a retransmission off. */
  #awaitAnswer(): void {
    this.#deadline = performance.now() + this.#transfer.timeoutMs;
    if (this.#deadline < this.#timerAt) this.#setTimer();
  }

  /** A timer that comes too early is set anew: cheaper than one for each acknowledgement. */
  #setTimer(): void {
    clearTimeout(this.#timer);
    this.#timerAt = this.#deadline;
    this.#timer = setTimeout(() => this.#timerRang(), this.#deadline - performance.now());
  }

  #timerRang(): void {
    this.#timerAt = Number.POSITIVE_INFINITY;
    if (performance.now() < this.#deadline - 1) this.#setTimer();
    else this.#act(this.#transfer.timedOut());
  }

  #failed(error: Error): void {
    this.#options.log.warn({ err: error, client: this.client }, 'TFTP: transfer socket failed');
    this.#finish('abandoned');
  }

  #finish(outcome: TransferReport['outcome']): void {
    if (!this.#isOpen) return;
    const { file, clock, content, agreement } = this.#options;
    const { blockSize, windowSize } = agreement;
    this.close();
    this.#options.report({
      client: this.client,
      file,
      outcome,
      bytes: outcome === 'complete' ? content.length : this.#transfer.bytesAcked,
      seconds: (clock.now() - this.#startedAt) / 1000,
      resentBlocks: this.#transfer.resent,
      blockSize,
      windowSize,
    });
  }
}
