import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
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
}

interface SessionOptions {
  /** The local address that was asked; the port of its own is the transfer's id (RFC 1350 §4). */
  address: string;
  from: RemoteInfo;
  file: string;
  content: Buffer;
  agreement: Agreement;
  report(transfer: TransferReport): void;
  log: Log;
  clock: Clock;
}

/** One transfer's socket and timer. */
export class Session {
  readonly #options: SessionOptions;
  readonly #transfer: Transfer;
  readonly #socket: Socket;
  readonly #ended: () => void;
  readonly #startedAt: number;
  #timer: NodeJS.Timeout | undefined;
  #isOpen = true;

  constructor(options: SessionOptions, ended: () => void) {
    this.#options = options;
    this.#ended = ended;
    this.#startedAt = options.clock.now();
    this.#transfer = new Transfer(options.content, options.agreement);
    this.#socket = createSocket('udp4');
    this.#socket.on('message', (bytes, from) => this.#received(bytes, from));
    this.#socket.on('error', (error) => this.#failed(error));
    this.#socket.bind(0, options.address, () => this.#act(this.#transfer.start(performance.now())));
  }

  get client(): string {
    return this.#options.from.address;
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
      this.#send(encodeError(tftpError.unknownTransferId, 'not your transfer'), from);
      return;
    }
    const packet = decodeTftp(bytes);
    if (packet?.kind === 'ack') this.#act(this.#transfer.acknowledged(packet.block, performance.now()));
    else if (packet?.kind === 'error') this.#finish(this.#transfer.hasProgress ? 'abandoned' : 'probed');
  }

  #act(step: Step): void {
    if (!this.#isOpen) return;
    for (const datagram of step.send) this.#send(datagram, this.#options.from);
    if (step.outcome !== 'running') this.#finish(step.outcome);
    else if (step.send.length > 0) this.#restartTimer();
  }

  /** Only what we send sets the timer: repeated ACKs must not put a retransmission off. */
  #restartTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#act(this.#transfer.timedOut()), this.#transfer.timeoutMs);
  }

  #send(datagram: Buffer, to: RemoteInfo): void {
    // What cannot be sent now is lost like a datagram on the way: the timer sends it again.
    this.#socket.send(datagram, to.port, to.address, () => {});
  }

  #failed(error: Error): void {
    this.#options.log.warn({ err: error, client: this.client }, 'TFTP: transfer socket failed');
    this.#finish('abandoned');
  }

  #finish(outcome: TransferReport['outcome']): void {
    if (!this.#isOpen) return;
    const { file, clock, content } = this.#options;
    this.close();
    this.#options.report({
      client: this.client,
      file,
      outcome,
      bytes: outcome === 'complete' ? content.length : this.#transfer.bytesAcked,
      seconds: (clock.now() - this.#startedAt) / 1000,
      resentBlocks: this.#transfer.resent,
    });
  }
}
