import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import type { RateLimiter } from './rateLimiter.ts';
import { rateLimited } from './refusal.ts';

/** One row of a door's route table. */
export interface Route<Caller = unknown> {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  /**
   * Who calls, settled before a byte of the body is read, so that a stranger learns nothing of what is behind.
   * @throws RailheadError UNAUTHENTICATED or FORBIDDEN
   */
  admit: (request: FastifyRequest) => Caller | Promise<Caller>;
  /** How often one caller may come. */
  allowance?: { limiter: RateLimiter; keyOf: (caller: Caller) => string };
  bodyLimit?: number;
  schema?: FastifySchema;
  /** With it `answer` finds what is wrong with the body in `request.validationError`. */
  attachValidation?: boolean;
  answer: (request: FastifyRequest, caller: Caller, reply: FastifyReply) => unknown;
}

/** Ties the types of a row together, then forgets them, so that rows fit one table. */
export function route<Caller>(row: Route<Caller>): Route {
  return row as unknown as Route;
}

/** For what is open to everyone who can reach the door. */
export const anyone = (): undefined => undefined;

export function addRoutes(door: FastifyInstance, table: readonly Route[]): void {
  for (const row of table) addRoute(door, row);
}

/** The requests whose caller has shown who it is, and the caller. */
const callers = new WeakMap<FastifyRequest, unknown>();

export function hasCaller(request: FastifyRequest): boolean {
  return callers.get(request) !== undefined;
}

function addRoute(door: FastifyInstance, { method, path, admit, allowance, answer, ...rest }: Route): void {
  door.route({
    ...rest,
    method,
    url: path,
    onRequest: async (request) => {
      const caller = await admit(request);
      callers.set(request, caller);
      const wait = allowance?.limiter.take(allowance.keyOf(caller)) ?? 0;
      if (wait > 0) throw rateLimited(wait, 'token');
    },
    handler: (request, reply) => answer(request, callers.get(request), reply),
  });
}

const tables = new WeakMap<FastifyInstance, string[]>();

/** Begins to write down what `door` serves. */
export function noteRoutes(door: FastifyInstance): void {
  const served: string[] = [];
  tables.set(door, served);
  door.addHook('onRoute', ({ method, url }) => {
    served.push(...[method].flat().map((each) => `${each} ${url}`));
  });
}

/** Everything that a door serves, as `GET /healthz`: what its tests are derived from. */
export function servedBy(door: FastifyInstance): readonly string[] {
  return tables.get(door) ?? [];
}
