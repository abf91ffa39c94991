import { blockFrom, wireNumber } from './blockNumbers.ts';
import type { Agreement } from './negotiate.ts';
import { encodeData, encodeOptionAck } from './packet.ts';
import { RetransmissionTimer } from './retransmission.ts';

/** What to do next: datagrams to send, and whether the transfer goes on. */
export interface Step {
  send: Buffer[];
  outcome: 'running' | 'complete' | 'abandoned';
}

const quiet: Step = { send: [], outcome: 'running' };

/**
 * Sends one file to one client: the protocol without sockets or clocks (RFC 1350, 2347, 7440). Blocks count from 1
 * without end; `acked` is the last one that the client has, all before it included. Only the timer resends in lock-step,
 * so that a doubled ACK never doubles the rest of the transfer (RFC 1123 §4.2.3.1). Times are milliseconds.
 */
export class Transfer {
  readonly #content: Buffer;
  readonly #agreement: Agreement;
  readonly #lastBlock: number;
  readonly #timer: RetransmissionTimer;
  #acked = 0;
  #sent = 0;
  #begun: boolean;
  /** The position that was already resent for on the client's word, so that a burst of equal ACKs resends once. */
  #rewoundTo = -1;
  resent = 0;

  constructor(content: Buffer, agreement: Agreement) {
    this.#content = content;
    this.#agreement = agreement;
    // A file that fills its last block ends with an empty one (RFC 1350 §6).
    this.#lastBlock = Math.floor(content.length / agreement.blockSize) + 1;
    this.#timer = new RetransmissionTimer(agreement.timeoutMs);
    this.#begun = agreement.accepted.size === 0;
  }

  /** How long to wait for the client before `timedOut`. */
  get timeoutMs(): number {
    return this.#timer.timeoutMs;
  }

  /** Whether the client has acknowledged any data: before that, its ERROR ends a mere probe. */
  get hasProgress(): boolean {
    return this.#acked > 0;
  }

  get bytesAcked(): number {
    return Math.min(this.#acked * this.#agreement.blockSize, this.#content.length);
  }

  start(now: number): Step {
    this.#timer.sent(now);
    return this.#begun ? running(this.#window()) : running([this.#optionAck()]);
  }

  /** The same request again: our first answer was lost. Once data flows it is an echo from the past. */
  requestedAgain(): Step {
    if (!this.#begun) return running([this.#optionAck()]);
    return this.#agreement.accepted.size > 0 || this.hasProgress ? quiet : this.#resend();
  }

  /** `number` is the block's on the wire. */
  acknowledged(number: number, now: number): Step {
    if (!this.#begun) return number === 0 ? this.#begin(now) : quiet;
    const block = blockFrom(this.#acked, number, this.#agreement.wrapsTo);
    if (block > this.#sent) return quiet;
    return block === this.#acked ? this.#repeated(now) : this.#advance(block, now);
  }

  timedOut(): Step {
    if (!this.#timer.expired()) return this.#giveUp();
    this.#rewoundTo = -1;
    return this.#begun ? this.#resend() : running([this.#optionAck()]);
  }

  #begin(now: number): Step {
    this.#begun = true;
    this.#timer.acknowledged(now);
    this.#timer.sent(now);
    return running(this.#window());
  }

  #advance(block: number, now: number): Step {
    // Short of what was sent: the client misses the next one and wants it again (RFC 7440 §4).
    const rewinds = block < this.#sent;
    this.#acked = block;
    this.#timer.acknowledged(now);
    if (block === this.#lastBlock) return { send: [], outcome: 'complete' };
    this.#timer.sent(now);
    if (!rewinds) return running(this.#window());
    this.#rewoundTo = block;
    return this.#resend();
  }

  /**
   * An ACK for what the client already had. In a window it means that the window's first block was lost, unless it comes so soon
   * that it answers a block of the window before which arrived twice: resending for that would double every window from there on.
   */
  #repeated(now: number): Step {
    if (this.#agreement.windowSize === 1 || this.#rewoundTo === this.#acked) return quiet;
    if (this.#timer.isTooSoon(now)) return quiet;
    this.#rewoundTo = this.#acked;
    this.#timer.sent(now);
    return this.#resend();
  }

  #giveUp(): Step {
    // Clients that have the last block may leave without a word: RFC 1350 §6 lets them.
    const outcome = this.#sent === this.#lastBlock ? 'complete' : 'abandoned';
    return { send: [], outcome };
  }

  #resend(): Step {
    this.#timer.resent();
    const blocks = this.#window();
    this.resent += blocks.length;
    return running(blocks);
  }

  #window(): Buffer[] {
    const { blockSize, windowSize, wrapsTo } = this.#agreement;
    const last = Math.min(this.#acked + windowSize, this.#lastBlock);
    const blocks: Buffer[] = [];
    for (let block = this.#acked + 1; block <= last; block++) {
      const data = this.#content.subarray((block - 1) * blockSize, block * blockSize);
      blocks.push(encodeData(wireNumber(block, wrapsTo), data));
    }
    this.#sent = last;
    return blocks;
  }

  #optionAck(): Buffer {
    return encodeOptionAck(this.#agreement.accepted);
  }
}

function running(send: Buffer[]): Step {
  return { send, outcome: 'running' };
}
