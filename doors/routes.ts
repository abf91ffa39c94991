import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import type { RateLimiter } from './rateLimiter.ts';

/** One row of a door's route table. */
export interface Route<Caller = unknown> {
  method: 'GET' | 'HEAD' | 'POST' | 'DELETE';
  path: string;
  /**
   * Who calls, settled before a byte of the body is read, so that a stranger learns nothing of what is behind. It is asked again
   * when the body is there, so it must not change anything.
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

function addRoute(door: FastifyInstance, row: Route): void {
  const { method, path, admit, allowance, answer, ...rest } = row;
  door.route({
    ...rest,
    method,
    url: path,
    config: { row } as object,
    handler: (request, reply) => answer(request, callerOf(request), reply),
  });
}

/** The row that a request is for; undefined for what is not in the table. */
export function rowOf({ routeOptions }: FastifyRequest): Route | undefined {
  return (routeOptions.config as { row?: Route }).row;
}

const callers = new WeakMap<FastifyRequest, unknown>();

/** Whom a request was let in as; undefined when it was not, and where anyone is. */
export function callerOf(request: FastifyRequest): unknown {
  return callers.get(request);
}

export function noteCaller(request: FastifyRequest, caller: unknown): void {
  callers.set(request, caller);
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
