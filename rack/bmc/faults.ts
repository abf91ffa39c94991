import { setTimeout as delay } from 'node:timers/promises';
import { type BootOverride, noOverride } from '../machine/bootOverride.ts';
import { type RedfishAnswer, redfishError } from './errors.ts';

/** A way in which real BMCs misbehave, switched on by name. */
interface Fault {
  summary: string;
  /** Runs before each request; an answer ends it there. `count` is how many requests came since the fault was switched on. */
  before?(request: { method: string; path: string; count: number }): Promise<RedfishAnswer | undefined>;
  /** What is kept of a boot override that was answered with success. */
  keepOverride?(sent: BootOverride, current: BootOverride): BootOverride;
  /** Changes a body on its way out. */
  rewrite?(path: string, body: Record<string, unknown>): Record<string, unknown>;
}

const slowMs = 1000;

const faults = {
  slow: {
    summary: `every answer takes ${slowMs} ms longer`,
    before: async () => {
      await delay(slowMs);
      return undefined;
    },
  },
  '503-once': {
    summary: 'the first request is answered 503, as by a BMC that starts',
    before: async ({ count }) =>
      count === 1 ? redfishError(503, 'ServiceTemporarilyUnavailable', { args: ['2'] }) : undefined,
  },
  'accept-but-ignore-boot-override': {
    summary: 'a boot override is answered with success and not stored',
    keepOverride: (_sent, current) => current,
  },
  'override-target-only': {
    summary: 'of a boot override only the target is stored; Enabled stays Disabled',
    keepOverride: ({ target }) => ({ ...noOverride, target }),
  },
  'no-allowable-values': {
    summary: 'the system does not say which boot targets it knows',
    rewrite: (path, body) => (path === '/redfish/v1/Systems/1' ? withoutAnnotations(body) : body),
  },
  'no-virtual-media': {
    summary: 'the BMC has no virtual drive',
    rewrite: (_path, { VirtualMedia: _drives, ...body }) => body,
  },
  'sessions-exhausted': {
    summary: 'every login is refused for too many sessions',
    before: async ({ method, path }) =>
      method === 'POST' && path.endsWith('/SessionService/Sessions')
        ? redfishError(503, 'SessionLimitExceeded')
        : undefined,
  },
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;
export const faultNames = Object.keys(faults) as FaultName[];

export function isFaultName(name: unknown): name is FaultName {
  return faultNames.some((known) => known === name);
}

/** The faults of one BMC that are switched on. */
export class FaultSwitches {
  #requests = new Map<FaultName, number>();

  constructor(names: readonly FaultName[]) {
    this.set(names);
  }

  /** Switches exactly these on; counting begins anew. */
  set(names: readonly FaultName[]): void {
    this.#requests = new Map(names.map((name) => [name, 0]));
  }

  names(): FaultName[] {
    return [...this.#requests.keys()];
  }

  async before(method: string, path: string): Promise<RedfishAnswer | undefined> {
    for (const [name, seen] of this.#requests) {
      this.#requests.set(name, seen + 1);
      const answer = await fault(name).before?.({ method, path, count: seen + 1 });
      if (answer !== undefined) return answer;
    }
    return undefined;
  }

  keepOverride(sent: BootOverride, current: BootOverride): BootOverride {
    return this.names().reduce((kept, name) => fault(name).keepOverride?.(kept, current) ?? kept, sent);
  }

  rewrite(path: string, body: Record<string, unknown>): Record<string, unknown> {
    return this.names().reduce((changed, name) => fault(name).rewrite?.(path, changed) ?? changed, body);
  }
}

function fault(name: FaultName): Fault {
  return faults[name];
}

function withoutAnnotations(body: Record<string, unknown>): Record<string, unknown> {
  const boot = Object.entries(body.Boot ?? {}).filter(([key]) => !key.includes('@Redfish.AllowableValues'));
  return { ...body, Boot: Object.fromEntries(boot) };
}
