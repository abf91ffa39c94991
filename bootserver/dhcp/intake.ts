/** How many messages were not looked at, and why. */
export interface Dropped {
  /** One client sent more than any client needs to. */
  perClient: number;
  /** Unknown clients sent more than can be answered beside everything else. */
  strangers: number;
}

export interface IntakeParts<Message> {
  /** Whether a client is one that the site has named, or one with a lease: it is never kept waiting by strangers. */
  isKnown(client: string): boolean;
  serve(message: Message): void;
  /** Called once as long as messages are dropped, then again when a minute has passed. */
  onDropped(dropped: Dropped): void;
  /** Milliseconds of a clock that nobody sets. */
  now?(): number;
}

/** Messages of one client within `windowMs`: firmware repeats itself after a second at the earliest, and a machine that boots has four clients in turn. */
const mostOfClient = 30;
const windowMs = 3000;
/** Clients that are counted; beyond that all are counted anew, which costs less than to forget the oldest one by one. */
const mostCounted = 20_000;
/** Messages of strangers that wait: what a rack that powers on together sends within a moment. */
const mostWaiting = 2048;
/** For how long strangers are served before all else has its turn. */
const sliceMs = 4;
/** Which part of the time is theirs in the long run, and by how many milliseconds they may be ahead of it. */
const share = 0.8;
const aheadMs = 20;
const tellEveryMs = 60_000;

/**
 * Bounds what messages can make us do. Who is known is served at once; strangers wait in a queue of bounded length, which takes a bounded
 * part of our time, so that a flood of made-up clients costs other made-up clients alone. A known client that sends too much is
 * one that somebody speaks for: its messages wait with the strangers', where its own are among them.
 */
export class Intake<Message> {
  readonly #parts: IntakeParts<Message>;
  #counts = new Map<string, number>();
  #countedSince = 0;
  readonly #waiting: Message[] = [];
  readonly #now: () => number;
  #turn: NodeJS.Timeout | NodeJS.Immediate | undefined;
  /** How far strangers are ahead of their share, and when that was so. */
  #aheadMs = 0;
  #aheadAt: number;
  #dropped: Dropped = { perClient: 0, strangers: 0 };
  #toldAt: number | undefined;

  constructor(parts: IntakeParts<Message>) {
    this.#parts = parts;
    this.#now = parts.now ?? (() => performance.now());
    this.#aheadAt = this.#now();
  }

  take(client: string, message: Message): void {
    const isTooOften = this.#isTooOften(client);
    const isKnown = this.#parts.isKnown(client);
    if (isTooOften && !isKnown) this.#drop('perClient');
    else if (isKnown && !isTooOften) this.#parts.serve(message);
    else if (this.#waiting.length >= mostWaiting) this.#drop('strangers');
    else {
      this.#waiting.push(message);
      this.#turn ??= setImmediate(() => this.#serveStrangers());
    }
  }

  close(): void {
    this.#waiting.length = 0;
  }

  #isTooOften(client: string): boolean {
    const now = this.#now();
    if (now - this.#countedSince >= windowMs || this.#counts.size >= mostCounted) {
      this.#counts = new Map();
      this.#countedSince = now;
    }
    const count = (this.#counts.get(client) ?? 0) + 1;
    this.#counts.set(client, count);
    return count > mostOfClient;
  }

  #serveStrangers(): void {
    this.#turn = undefined;
    const start = this.#now();
    this.#aheadMs = Math.max(0, this.#aheadMs - (start - this.#aheadAt) * share);
    let at = 0;
    while (at < this.#waiting.length && this.#now() - start < sliceMs) {
      const message = this.#waiting[at++] as Message;
      this.#parts.serve(message);
    }
    this.#waiting.splice(0, at);
    this.#aheadAt = this.#now();
    this.#aheadMs += (this.#aheadAt - start) * (1 - share);
    if (this.#waiting.length === 0) return;
    const restMs = (this.#aheadMs - aheadMs) / share;
    const next = () => this.#serveStrangers();
    this.#turn = restMs < 1 ? setImmediate(next) : setTimeout(next, restMs);
  }

  #drop(why: keyof Dropped): void {
    this.#dropped[why]++;
    const now = this.#now();
    if (this.#toldAt !== undefined && now - this.#toldAt < tellEveryMs) return;
    this.#toldAt = now;
    this.#parts.onDropped({ ...this.#dropped });
    this.#dropped = { perClient: 0, strangers: 0 };
  }
}
