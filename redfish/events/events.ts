import type { Machine } from '../operations/powerState.ts';
import { eventService, streamPaths } from './service.ts';
import { type EventStream, openEventStream, type StreamOptions } from './stream.ts';
import { type Hook, subscribe, unsubscribe } from './subscribe.ts';

export type { EventStream, StreamOptions } from './stream.ts';
export type { Hook } from './subscribe.ts';

/** How a BMC tells of what happens. Events are hints: what is so is read. */
export interface BmcEvents {
  /**
   * Opens its stream; undefined when it has none.
   * @throws as `openEventStream`
   */
  stream(options: StreamOptions): Promise<EventStream | undefined>;
  /** Whether a stream is open or being opened, which the session is held for. */
  isStreaming(): boolean;
  /** How long the BMC wants to be left alone between two streams, in milliseconds. */
  restMs(): Promise<number>;
  /** @throws as `subscribe` */
  subscribe(hook: Hook): Promise<'kept' | 'made' | 'unsupported'>;
  unsubscribe(prefix: string): Promise<void>;
}

/** The events of the BMC that `machine` finds. One stream at a time: a second one takes the place of the first. */
export class RedfishEvents implements BmcEvents {
  readonly #machine: () => Promise<Machine>;
  #stream: EventStream | undefined;
  #opening = 0;

  constructor(machine: () => Promise<Machine>) {
    this.#machine = machine;
  }

  async stream(options: StreamOptions): Promise<EventStream | undefined> {
    this.#opening++;
    return this.#open(options).finally(() => this.#opening--);
  }

  async #open(options: StreamOptions): Promise<EventStream | undefined> {
    const { client, vendor } = await this.#machine();
    this.#stream?.close();
    const service = await eventService(client);
    const paths = service && streamPaths(service, vendor.streamFilter);
    if (paths === undefined) return undefined;
    const stream = await openEventStream(client, paths, options);
    this.#stream = stream;
    void stream.ended.then(() => {
      if (this.#stream === stream) this.#stream = undefined;
    });
    return stream;
  }

  isStreaming(): boolean {
    return this.#stream !== undefined || this.#opening > 0;
  }

  async restMs(): Promise<number> {
    return (await this.#machine()).vendor.streamRestMs;
  }

  async subscribe(hook: Hook): Promise<'kept' | 'made' | 'unsupported'> {
    const { client } = await this.#machine();
    const service = await eventService(client);
    return service === undefined ? 'unsupported' : subscribe(client, service, hook);
  }

  async unsubscribe(prefix: string): Promise<void> {
    const { client } = await this.#machine();
    const service = await eventService(client);
    if (service !== undefined) await unsubscribe(client, service, prefix);
  }

  close(): void {
    this.#stream?.close();
  }
}
