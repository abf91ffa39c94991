import { backoffMs } from '#base/backoff.ts';
import { systemClock } from '#base/clock.ts';
import { ignore } from '#base/errors.ts';
import { visible } from '#base/visible.ts';
import type { BmcEventsWay } from '#contract/bmcHealth.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import type { Hook } from '#redfish/events/events.ts';
import { opening } from './opening.ts';
import { Posting, type PostingParts } from './posting.ts';
import { askAgainMs, isRefusal, never } from './refusal.ts';
import { Streaming } from './streaming.ts';

export interface ListeningParts extends PostingParts {
  mode: 'auto' | 'poll';
  /** Something happened at a node's BMC, or may have while nobody listened. */
  look(nodeId: string): void;
  /** Where BMCs post to, where this site listens. */
  hookOf?: (nodeId: string) => Hook;
  /** How often a subscription is looked after, in milliseconds. */
  checkMs: number;
  /** Something that an operator should know about a BMC's events. */
  say(node: SiteNode, text: string): void;
}

/** Pauses between tries, in milliseconds: a BMC that starts anew is away for minutes. */
const pause = { firstMs: 1000, maxMs: 60_000 };
/** A stream that lived so long was a good one. */
const goodAfterMs = 60_000;
/** For so long after its end a way of listening is still told as the one: most come back at once. */
const graceMs = 120_000;

/**
 * Listens to one BMC as long as it is not closed: by its stream, else by what it posts, else not at all. Never by both, and never twice: what
 * breaks is taken up anew, with growing pauses.
 */
export class Listening {
  /** As the site's desired state has it now. */
  node: SiteNode;
  readonly #parts: ListeningParts;
  readonly #streaming: Streaming;
  readonly #posting: Posting;
  readonly #over = new AbortController();
  readonly #done: Promise<void>;
  #failures = 0;
  #said = '';
  #lastWay: { way: BmcEventsWay; endedAt: number } = { way: 'poll', endedAt: 0 };

  constructor(node: SiteNode, startsInMs: number, parts: ListeningParts) {
    this.node = node;
    this.#parts = parts;
    this.#streaming = new Streaming(() => this.node, parts);
    this.#posting = new Posting(() => this.node, parts);
    this.#done = this.#run(startsInMs);
  }

  /** Whether what happens is told to us, so that asking may be slower. A subscription counts once something came by it. */
  get isAlive(): boolean {
    return this.#streaming.isOpen || this.#posting.delivers;
  }

  get way(): BmcEventsWay {
    if (this.#streaming.isOpen) return 'sse';
    if (this.#posting.isOn) return 'webhook';
    const { way, endedAt } = this.#lastWay;
    return Date.now() - endedAt < graceMs ? way : 'poll';
  }

  /** The BMC has posted an event. */
  delivered(): void {
    this.#posting.delivered();
  }

  /** Ends the stream; `forget` deletes the subscription too. */
  async close({ forget }: { forget: boolean }): Promise<void> {
    this.#over.abort();
    this.#streaming.close();
    await this.#done;
    if (forget) await this.#posting.unsubscribe();
  }

  async #run(startsInMs: number): Promise<void> {
    let waitMs = startsInMs;
    while (!this.#over.signal.aborted) {
      await systemClock.sleep(waitMs, this.#over.signal).catch(ignore);
      if (this.#over.signal.aborted) return;
      waitMs = await this.#once().catch((error: unknown) => this.#failed(error));
    }
  }

  /** Listens until it ends; returns after how many milliseconds it is begun again. */
  async #once(): Promise<number> {
    const { hookOf, mode, checkMs } = this.#parts;
    if (mode === 'poll') {
      await this.#posting.unsubscribe();
      return never;
    }
    const now = Date.now();
    if (now >= this.#streaming.notBefore && (await this.#openStream())) return this.#follow();
    if (hookOf === undefined) {
      await this.#posting.unsubscribe();
      return Math.max(1000, this.#streaming.notBefore - now);
    }
    return (await this.#hook(hookOf(this.node.nodeId))) ? checkMs : askAgainMs;
  }

  /** Whether there is one to be had for now. */
  async #openStream(): Promise<boolean> {
    try {
      return await this.#streaming.open();
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#say(`the BMC refuses its stream of events: ${error.message}`);
      return false;
    }
  }

  async #follow(): Promise<number> {
    const { look, log } = this.#parts;
    const { nodeId } = this.node;
    const openedAt = Date.now();
    if (this.#over.signal.aborted) this.#streaming.close();
    this.#saidNoMore();
    await this.#posting.unsubscribe();
    // What happened before is not told by it.
    look(nodeId);
    const why = await this.#streaming.ended();
    this.#lastWay = { way: 'sse', endedAt: Date.now() };
    log.debug({ nodeId, why }, "a BMC's stream of events ended");
    if (this.#over.signal.aborted) return 0;
    look(nodeId);
    this.#failures = Date.now() - openedAt >= goodAfterMs ? 1 : this.#failures + 1;
    return Math.max(await this.#streaming.restMs(), backoffMs(this.#failures, pause));
  }

  /** Whether the BMC posts to us. */
  async #hook(hook: Hook): Promise<boolean> {
    const { look, log } = this.#parts;
    const { nodeId } = this.node;
    const before = this.#posting.isOn;
    try {
      const done = await opening.run(() => this.#posting.subscribe(hook));
      if (done === 'made') {
        log.info({ nodeId }, 'a BMC posts its events');
        look(nodeId);
      }
      if (done !== 'unsupported') this.#saidNoMore();
      this.#failures = 0;
      return done !== 'unsupported';
    } catch (error) {
      if (before) this.#lastWay = { way: 'webhook', endedAt: Date.now() };
      if (!isRefusal(error)) throw error;
      this.#say(`the BMC takes no subscription to its events: ${error.message}`);
      return false;
    }
  }

  /** The BMC is away, busy or refuses us: that is told by its health. */
  #failed(error: unknown): number {
    this.#failures++;
    this.#parts.log.debug({ err: error, nodeId: this.node.nodeId }, 'a BMC is not listened to');
    return backoffMs(this.#failures, pause);
  }

  #say(words: string): void {
    // A BMC's own are among them.
    const text = visible(words);
    if (text === this.#said) return;
    this.#said = text;
    this.#parts.log.warn({ nodeId: this.node.nodeId }, text);
    this.#parts.say(this.node, `${text}; power, health and log are asked for instead`);
  }

  #saidNoMore(): void {
    if (this.#said === '') return;
    this.#said = '';
    this.#parts.say(this.node, 'the BMC tells its events again');
  }
}
