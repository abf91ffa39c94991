import type { Log } from '#base/log.ts';
import type { BootEvent, MachineFacts } from '#bootserver/machine.ts';
import { RateLimiter } from '#doors/rateLimiter.ts';
import type { Happening } from './store/events.ts';
import { explained } from './store/noSpace.ts';
import type { SiteState } from './store/state.ts';

export interface BootToldParts {
  state: SiteState;
  /** Called when there is an event for the centre. */
  onEvent(): void;
  log: Log;
}

/** Steps of machines without a node that are written down: a rack that boots at once, not a flood of made-up addresses. */
const strangerSteps = { perSecond: 50, burst: 2000 };
/** Steps of one node: a boot that loads a hundred files, not one file fetched without end. */
const nodeSteps = { perSecond: 1, burst: 400 };
/** What a host does in the name of a machine is told once a minute, and of one machine not more than these. */
const once = { perSecond: 1 / 60, burst: 1 };
const ofOneMachine = { perSecond: 1 / 30, burst: 10 };

/** Writes what happens to machines into their timelines, and what the centre must hear, in measure: everybody on the boot network makes them. */
export class BootTold {
  readonly #parts: BootToldParts;
  readonly #strangers = new RateLimiter(strangerSteps);
  readonly #nodes = new RateLimiter(nodeSteps);
  readonly #hosts = new RateLimiter(once);
  readonly #machines = new RateLimiter(ofOneMachine);

  constructor(parts: BootToldParts) {
    this.#parts = parts;
  }

  step(event: BootEvent): void {
    const step = this.#withNode(event);
    if (this.#hasRoom(step)) this.#tell(step);
  }

  /** An operator must look at a host that asks for the machine's script. */
  alarm(text: string, machine: MachineFacts): void {
    if (!this.#isFresh(machine)) return;
    const { mac, bootId, address } = machine;
    this.#parts.log.error({ mac, bootId, address }, text);
    this.#tell(this.#withNode({ type: 'machine.alarm', reason: 'other-host', text, mac, bootId }));
  }

  /** Another host has asked for the script of a node, which had none to be had. */
  elsewhere(text: string, machine: MachineFacts): void {
    const { mac, bootId } = machine;
    const event = this.#withNode({ type: 'boot.other', text, mac, bootId } as const);
    if (event.nodeId !== undefined && this.#isFresh(machine)) this.#tell(event);
  }

  /** A machine that nobody has named is told to the centre once. */
  discovered({ mac, uuid, bootId }: MachineFacts): void {
    const { state } = this.#parts;
    if (state.spec.nodeByMac(mac) !== undefined || state.events.knows(mac, 'machine.discovered')) return;
    this.#tell({ type: 'machine.discovered', mac, bootId, ...(uuid === undefined ? {} : { uuid }) });
  }

  /** The lines of an installer are limited where they come in, and advice is rare. */
  #hasRoom({ type, nodeId }: BootEvent & { nodeId?: string }): boolean {
    if (nodeId === undefined)
      return this.#strangers.take(type === 'boot.log' ? 'lines of installers' : 'steps') === 0;
    return type === 'boot.log' || type === 'boot.advice' || this.#nodes.take(nodeId) === 0;
  }

  #isFresh({ mac, address }: MachineFacts): boolean {
    return this.#hosts.take(`${mac} ${address}`) === 0 && this.#machines.take(mac) === 0;
  }

  #withNode<Event extends BootEvent | Happening>(event: Event): Event & { nodeId?: string } {
    const nodeId = this.#parts.state.spec.nodeByMac(event.mac ?? '')?.nodeId;
    return nodeId === undefined ? event : { ...event, nodeId };
  }

  /** A machine boots also when its history cannot be written. */
  #tell(happening: Happening): void {
    const { state, log, onEvent } = this.#parts;
    try {
      state.events.add(happening);
    } catch (error) {
      log.error({ err: explained(error), ...happening }, 'an event was lost');
      return;
    }
    // The centre is not told of these.
    if (happening.type !== 'boot.log') onEvent();
  }
}
