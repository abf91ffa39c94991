import { abortable } from '#base/abortable.ts';
import { backoffMs } from '#base/backoff.ts';
import { type Clock, systemClock } from '#base/clock.ts';
import { ignore } from '#base/errors.ts';
import { visible } from '#base/visible.ts';
import type { ConsoleEventType } from '#contract/consoleRecording.ts';
import { RailheadError } from '#contract/errors.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import type { Recording } from '../store/recordings.ts';
import type { Consoles, Reader, Seat } from './consoles.ts';
import { Printed } from './printed.ts';

export interface RecordingParts {
  consoles: Pick<Consoles, 'join'>;
  /** The node as the site's desired state has it now: its BMC may have moved or been given another password since. */
  nodeNow(): SiteNode;
  tell(type: ConsoleEventType, text: string): void;
  /** Keeps how many characters were told, for the next run of the agent. */
  keep(characters: number): void;
  clock?: Clock;
}

const pause = { firstMs: 1000, maxMs: 60_000 };
/** A session that lasted so long was a good one: what comes after it is a new trouble. Milliseconds. */
const goodMs = 30_000;
const lookEveryMs = 250;
/** What no second try would change. */
const finalCodes = ['INVALID_CONFIG', 'INVALID_STATE', 'UNSUPPORTED', 'NOT_FOUND'];
const finalReasons = ['credentials-refused', 'pin-mismatch'];

/** One recording of a node's console, from `run` on until `end` or `halt`: it joins again whenever the BMC's session breaks. */
export class ConsoleRecorder {
  readonly #recording: Recording;
  readonly #parts: RecordingParts;
  readonly #clock: Clock;
  readonly #printed: Printed;
  readonly #stop = new AbortController();
  #endedBy: string | undefined;
  #failures = 0;
  #lastTrouble: string | undefined;
  #breakOff: ((why: string) => void) | undefined;

  constructor(recording: Recording, parts: RecordingParts) {
    this.#recording = recording;
    this.#parts = parts;
    this.#clock = parts.clock ?? systemClock;
    this.#printed = new Printed(recording.kept);
  }

  /** Records until it is over, and returns why; undefined after `halt`. */
  async run(): Promise<string | undefined> {
    this.#parts.tell('console.started', this.#beginning());
    const looking = setInterval(() => this.#tellPrinted(), lookEveryMs);
    while (!this.#stop.signal.aborted) await this.#oneSession();
    clearInterval(looking);
    this.#tellPrinted(true);
    return this.#endedBy;
  }

  /** It is over. The first reason counts. */
  end(why: string): void {
    this.#endedBy ??= why;
    this.#stop.abort();
  }

  /** The agent stops, and goes on with it after its next start. */
  halt(): void {
    this.#stop.abort();
  }

  /** Leaves the session, if there is one, and joins again: the BMC is another. */
  rejoin(): void {
    this.#breakOff?.('the BMC of the node is another one now');
  }

  #beginning(): string {
    const { begun, until, askedBy } = this.#recording;
    if (begun) return 'the agent has started again, and goes on recording';
    return `the serial console is recorded until ${new Date(until).toISOString()}, as ${askedBy} asked`;
  }

  async #oneSession(): Promise<void> {
    const began = this.#clock.now();
    const why = await this.#joined().catch((error: unknown) => this.#failed(error));
    if (this.#stop.signal.aborted) return;
    this.#tellPrinted(true);
    if (this.#clock.now() - began >= goodMs) {
      this.#failures = 0;
      this.#lastTrouble = undefined;
    }
    // The same trouble is told once, however often it is met in a row.
    if (why !== this.#lastTrouble) this.#parts.tell('console.broken', `no console, trying again: ${why}`);
    this.#lastTrouble = why;
    await this.#clock.sleep(backoffMs(++this.#failures, pause), this.#stop.signal).catch(ignore);
  }

  /** Joins the console and hears until it ends; returns why it did. */
  async #joined(): Promise<string> {
    const { promise: ended, resolve: end } = Promise.withResolvers<string>();
    const output = (bytes: Buffer) => this.#printed.hear(bytes, this.#clock.now());
    const seat = await this.#seat({ output, ended: end });
    const way = seat.by === 'ssh' ? "the BMC's SSH" : 'IPMI';
    this.#parts.tell('console.joined', `the console is open, by ${way}`);
    this.#breakOff = end;
    try {
      return await abortable(ended, this.#stop.signal);
    } finally {
      this.#breakOff = undefined;
      await seat.leave().catch(ignore);
    }
  }

  /** Waits for a seat no longer than the recording is to last: a BMC may be busy for minutes. */
  async #seat(reader: Reader): Promise<Seat> {
    const { consoles, nodeNow } = this.#parts;
    const joining = consoles.join(nodeNow(), reader);
    try {
      return await abortable(joining, this.#stop.signal);
    } catch (error) {
      void joining.then((seat) => seat.leave()).catch(ignore);
      throw error;
    }
  }

  #failed(error: unknown): string {
    const words = visible(error instanceof Error ? error.message : String(error)).slice(0, 1000);
    if (error instanceof RailheadError && isFinal(error)) this.end(words);
    return words;
  }

  #tellPrinted(last = false): void {
    const pieces = this.#printed.due(this.#clock.now(), last);
    for (const piece of pieces) this.#parts.tell('console.output', piece);
    if (pieces.length > 0) this.#parts.keep(this.#printed.kept);
    if (this.#printed.isFull) this.end('it is as long as a recording may be');
  }
}

function isFinal({ code, details }: RailheadError): boolean {
  return finalCodes.includes(code) || finalReasons.includes(String(details?.reason));
}
