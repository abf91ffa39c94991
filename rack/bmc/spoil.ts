import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type FaultRule, merged } from './faultRule.ts';
import type { FaultSwitches } from './faultSwitches.ts';
import { resourcePath } from './paths.ts';

const taken = new WeakMap<FastifyRequest, FaultRule[]>();

/** The rules that hold for a request. */
export function rulesFor(request: FastifyRequest): FaultRule[] {
  return taken.get(request) ?? [];
}

/** Lets the faults that are switched on spoil what a BMC does: to be called before any other hook is set. */
export function spoil(app: FastifyInstance, faults: FaultSwitches): void {
  app.addHook('onRequest', async (request, reply) => {
    const rules = faults.take(request.method, resourcePath(request.url));
    taken.set(request, rules);
    return before(rules, request, reply);
  });
  app.addHook('preSerialization', async (request, _reply, body) =>
    rulesFor(request).reduce(
      (changed: unknown, { merge }) => (merge === undefined ? changed : merged(changed, merge)),
      body,
    ),
  );
  app.addHook('onSend', async (request, reply, payload) => after(rulesFor(request), request, reply, payload));
}

async function before(rules: readonly FaultRule[], request: FastifyRequest, reply: FastifyReply) {
  for (const { delayMs } of rules) if (delayMs !== undefined) await delay(delayMs);
  if (rules.some(({ cut }) => cut === 'before')) return hangUp(request, reply);
  const answer = rules.find(({ status, acted }) => status !== undefined && acted !== true);
  return answer === undefined
    ? undefined
    : reply
        .code(answer.status ?? 500)
        .headers(answer.headers ?? {})
        .send(bodyOf(answer, reply));
}

function after(rules: readonly FaultRule[], request: FastifyRequest, reply: FastifyReply, payload: unknown) {
  if (rules.some(({ cut }) => cut === 'after')) request.raw.socket.destroy();
  if (rules.some(({ cut }) => cut === 'middle')) return half(request, reply, payload);
  const answer = rules.find(({ status, acted }) => status !== undefined && acted === true);
  if (answer === undefined) return payload;
  reply
    .code(answer.status ?? 500)
    .headers(answer.headers ?? {})
    .removeHeader('content-length');
  return textOf(bodyOf(answer, reply));
}

function hangUp(request: FastifyRequest, reply: FastifyReply) {
  reply.hijack();
  request.raw.socket.destroy();
  return reply;
}

/** The head and half of the body. */
function half(request: FastifyRequest, reply: FastifyReply, payload: unknown): Readable {
  const text = Buffer.from(typeof payload === 'string' ? payload : '{"@odata.id":""}');
  if (reply.statusCode === 204) reply.code(200);
  reply.header('content-length', text.length);
  return Readable.from(
    (async function* () {
      yield text.subarray(0, text.length / 2);
      await delay(10);
      request.raw.socket.destroy();
    })(),
  );
}

function bodyOf({ body }: FaultRule, reply: FastifyReply): unknown {
  if (typeof body === 'string' && reply.getHeader('content-type') === undefined) reply.type('text/html');
  return body;
}

function textOf(body: unknown): string {
  if (body === undefined) return '';
  return typeof body === 'string' ? body : JSON.stringify(body);
}
