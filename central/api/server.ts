import swagger from '@fastify/swagger';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { RailheadError, toWireError } from '#contract/errors.ts';
import { validate } from '#contract/validate.ts';
import { answerErrors } from './answers.ts';
import { beginAudit, endAudit } from './audit.ts';
import { fleet, isGranted } from './grants.ts';
import type { ApiContext, Group, Method } from './method.ts';
import { type PublishedFile, publishRoute } from './publishedFile.ts';
import { authenticate, type Caller } from './tokens.ts';

/** How long a client may take to send its request, in milliseconds. */
const requestTimeout = 30_000;

/** Certificate and key (PEM) of an API that speaks TLS itself. */
export interface ApiTls {
  key: string;
  cert: string;
}

export interface ApiServerParts {
  tls?: ApiTls | undefined;
  /** The `bcd` that deployed OSes download. */
  executable?: PublishedFile | undefined;
}

/** The operators' door: one route per method of `groups`, everything else denied. `stop` ends long polls. */
export async function openApiServer(
  context: ApiContext,
  groups: Readonly<Record<string, Group>>,
  { tls, executable }: ApiServerParts,
  stop: AbortSignal,
): Promise<FastifyInstance> {
  const options = { bodyLimit: 1024 * 1024, requestTimeout, forceCloseConnections: true } as const;
  const server = (
    tls === undefined ? fastify(options) : fastify({ ...options, https: tls })
  ) as FastifyInstance;
  answerErrors(server, context.log);
  // One validator for the API, the command line and the library, so that all name a fault by the same path.
  server.setValidatorCompiler(
    ({ schema }) =>
      (value) =>
        checked(schema as TSchema, value ?? {}),
  );
  await server.register(swagger, { openapi: { info: { title: 'Railhead', version: '1' } } });
  await server.register(async (scope) => {
    for (const [group, methods] of Object.entries(groups))
      for (const [name, method] of Object.entries(methods))
        addRoute(context, scope, group, name, method, stop);
  });
  if (executable !== undefined) publishRoute(server, executable);
  server.get('/openapi.json', { schema: { hide: true } }, () => server.swagger());
  return server;
}

function checked(schema: TSchema, value: unknown): { value: unknown } | { error: Error } {
  try {
    return { value: validate(schema, value) };
  } catch (error) {
    return { error: error as Error };
  }
}

function addRoute(
  context: ApiContext,
  server: FastifyInstance,
  group: string,
  name: string,
  method: Method,
  stop: AbortSignal,
): void {
  const callers = new WeakMap<FastifyRequest, Caller>();
  server.route({
    method: 'POST',
    url: `/api/compute/${group}/${name}`,
    schema: { operationId: `${group}.${name}`, tags: [group], summary: method.action, body: method.input },
    // Who calls is settled before the body is looked at, so that a stranger learns nothing of the schema.
    onRequest: async (request) => {
      callers.set(request, await authenticate(context.store, request.headers.authorization));
    },
    handler: async (request, reply) => {
      const caller = callers.get(request) as Caller;
      const hungUp = AbortSignal.any([stop, goneSignal(reply)]);
      return { data: await call(context, `${group}.${name}`, method, request.body, caller, hungUp) };
    },
  });
}

async function call(
  context: ApiContext,
  name: string,
  method: Method,
  input: unknown,
  caller: Caller,
  stop: AbortSignal,
): Promise<unknown> {
  const run = () => authorizedRun(context, method, input, caller, stop);
  if (method.kind === 'read') return run();
  const scope = method.scopes(input)[0] ?? fleet;
  const auditId = await beginAudit(context.store, {
    tokenId: caller.tokenId,
    method: name,
    action: method.action,
    scope,
  });
  try {
    const data = await run();
    await endAudit(context.store, auditId, 'ok');
    return data;
  } catch (error) {
    await endAudit(context.store, auditId, toWireError(error).code);
    throw error;
  }
}

function authorizedRun(
  context: ApiContext,
  method: Method,
  input: unknown,
  caller: Caller,
  stop: AbortSignal,
): Promise<unknown> {
  const scopes = method.scopes(input);
  if (!isGranted(caller.grants, method.action, scopes))
    throw new RailheadError('FORBIDDEN', `this token may not do ${method.action} here`, {
      action: method.action,
      scopes: scopes.map(({ kind, id }) => `${kind}:${id}`),
    });
  return method.run(context, input, caller, stop);
}

function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}
