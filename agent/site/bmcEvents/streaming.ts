import type { SiteNode } from '#contract/nodeSpec.ts';
import type { EventStream, StreamOptions } from '#redfish/events/events.ts';
import { isNews } from '#redfish/events/news.ts';
import type { Bmcs } from '../operations/bmcs.ts';
import { opening } from './opening.ts';
import { askAgainMs, isRefusal, never } from './refusal.ts';

export interface StreamingParts {
  bmcs: Pick<Bmcs, 'use'>;
  /** Something happened at a node's BMC. */
  look(nodeId: string): void;
}

/** One BMC's stream of events: each goes on from the last event of the one before. */
export class Streaming {
  readonly #nodeNow: () => SiteNode;
  readonly #parts: StreamingParts;
  #stream: EventStream | undefined;
  #lastEventId: string | undefined;
  #notBefore = 0;

  constructor(nodeNow: () => SiteNode, parts: StreamingParts) {
    this.#nodeNow = nodeNow;
    this.#parts = parts;
  }

  get isOpen(): boolean {
    return this.#stream !== undefined;
  }

  /** When it makes sense to open one, in milliseconds since the epoch. */
  get notBefore(): number {
    return this.#notBefore;
  }

  /**
   * Opens one; false when the BMC has none.
   * @throws as `BmcEvents.stream`
   */
  async open(): Promise<boolean> {
    try {
      this.#stream = await opening.run(() => this.#begin());
      if (this.#stream === undefined) this.#notBefore = Date.now() + never;
      return this.isOpen;
    } catch (error) {
      if (isRefusal(error)) this.#refused();
      throw error;
    }
  }

  async #begin(): Promise<EventStream | undefined> {
    const onEvent: StreamOptions['onEvent'] = (body) => {
      if (isNews(body)) this.#parts.look(this.#nodeNow().nodeId);
    };
    const options = { lastEventId: this.#lastEventId, onEvent };
    // A BMC may take a minute to begin its stream, or for ever: that holds up no operation.
    const { begun } = await this.#parts.bmcs.use(this.#nodeNow(), async (bmc) => ({
      begun: bmc.events?.stream(options),
    }));
    return begun;
  }

  #refused(): void {
    this.#notBefore = Date.now() + askAgainMs;
    // It may have been the wish to go on from there that it refused.
    this.#lastEventId = undefined;
  }

  /** Waits until the open one ends; returns why. */
  async ended(): Promise<Awaited<EventStream['ended']> | undefined> {
    const stream = this.#stream;
    const why = await stream?.ended;
    this.#lastEventId = stream?.lastEventId();
    this.#stream = undefined;
    return why;
  }

  /** How long the BMC wants to be left alone before the next one, in milliseconds. */
  restMs(): Promise<number> {
    const { bmcs } = this.#parts;
    return bmcs.use(this.#nodeNow(), async (bmc) => bmc.events?.restMs() ?? 0).catch(() => 0);
  }

  close(): void {
    this.#stream?.close();
  }
}
