import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Log } from '#base/log.ts';
import type { ManagedMachine } from '../machine/machine.ts';
import type { EventLog } from './eventLog.ts';
import type { StreamFault } from './faultRule.ts';
import { deliver } from './webhook.ts';

export interface Subscription {
  id: string;
  destination: string;
  context: string;
  /** False once nobody took what was delivered. */
  enabled: boolean;
}

interface Stream {
  response: ServerResponse;
  fault: StreamFault | undefined;
}

/** Few, as on BMCs: iDRAC9 has two. */
const mostStreams = 2;
const mostSubscriptions = 4;
const watchMs = 100;
const heartbeatMs = 5000;

/** What a BMC tells of its machine to those who listen: by open streams, and by what it posts to subscribers. */
export class EventHub {
  readonly subscriptions: Subscription[] = [];
  /** How many events were told to anybody. */
  told = 0;
  readonly #machine: ManagedMachine;
  readonly #log: Log;
  readonly #streams = new Set<Stream>();
  readonly #timers: NodeJS.Timeout[];
  #lastId = 0;
  #power: ManagedMachine['powerState'];

  constructor(machine: ManagedMachine, eventLog: EventLog, log: Log) {
    this.#machine = machine;
    this.#log = log;
    this.#power = machine.powerState;
    eventLog.onWrite(({ message, severity }) => this.tell('EventLog.1.0.LogEntryAdded', message, severity));
    this.#timers = [
      setInterval(() => this.#watch(), watchMs).unref(),
      setInterval(() => this.#send(': heartbeat\n\n'), heartbeatMs).unref(),
    ];
  }

  get streams(): number {
    return this.#streams.size;
  }

  /** Undefined when the table is full. */
  subscribe(destination: string, context: string): Subscription | undefined {
    if (this.subscriptions.length >= mostSubscriptions) return undefined;
    const subscription = { id: randomUUID(), destination, context, enabled: true };
    this.subscriptions.push(subscription);
    return subscription;
  }

  unsubscribe(id: string): boolean {
    const at = this.subscriptions.findIndex((one) => one.id === id);
    if (at >= 0) this.subscriptions.splice(at, 1);
    return at >= 0;
  }

  /** False when there are too many. */
  stream(response: ServerResponse, fault: StreamFault | undefined): boolean {
    if (this.#streams.size >= mostStreams) return false;
    const stream = { response, fault };
    this.#streams.add(stream);
    response.once('close', () => this.#streams.delete(stream));
    if (fault !== 'silent') response.write(': connected\n\n');
    return true;
  }

  /** Tells everybody who listens. */
  tell(messageId: string, message: string, severity = 'OK'): void {
    this.told++;
    const id = String(++this.#lastId);
    const body = eventOf(id, messageId, message, severity);
    this.#send(`id: ${id}\nevent: Event\ndata: ${JSON.stringify(body)}\n\n`);
    for (const subscription of this.subscriptions.filter(({ enabled }) => enabled))
      void deliver(subscription, body).then((taken) => {
        if (!taken) subscription.enabled = false;
        this.#log.info({ destination: subscription.destination, taken }, 'an event was posted');
      });
  }

  /** Breaks every stream, as a BMC does that starts anew. */
  cutStreams(): void {
    for (const { response } of this.#streams) response.destroy();
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.cutStreams();
  }

  #watch(): void {
    const { powerState } = this.#machine;
    if (powerState === this.#power) return;
    this.#power = powerState;
    this.tell(
      `ResourceEvent.1.3.ResourcePowered${powerState}`,
      `The system is powered ${powerState.toLowerCase()}.`,
    );
  }

  #send(text: string): void {
    for (const { response, fault } of this.#streams) {
      if (fault === 'silent') continue;
      if (fault === 'garbage')
        response.write('\0\xff: data data\n\ndata: {"Events":[null,{\n\ndata:\n\n:::\nid\n\n');
      response.write(text);
      if (fault === 'cut') response.destroy();
    }
  }
}

function eventOf(id: string, messageId: string, message: string, severity: string): Record<string, unknown> {
  return {
    '@odata.type': '#Event.v1_10_0.Event',
    Id: id,
    Name: 'Event',
    Events: [
      {
        MemberId: '0',
        EventId: id,
        EventTimestamp: new Date().toISOString(),
        MessageId: messageId,
        Message: message,
        MessageSeverity: severity,
        OriginOfCondition: { '@odata.id': '/redfish/v1/Systems/1' },
      },
    ],
  };
}
