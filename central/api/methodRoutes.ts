import { goneSignal } from '#doors/goneSignal.ts';
import { RateLimiter } from '#doors/rateLimiter.ts';
import { type Route, route } from '#doors/routes.ts';
import { answerSchema } from '../answers/index.ts';
import { callMethod } from './call.ts';
import type { ApiContext, Group } from './method.ts';
import { refusals } from './openApi.ts';
import { authenticate, type Caller } from './tokens.ts';

/** `POST /api/compute/<group>/<name>` for every method: by a bearer token, and never more often than one token may. */
export function methodRoutes(
  context: ApiContext,
  groups: Readonly<Record<string, Group>>,
  stop: AbortSignal,
): Route[] {
  const allowance = {
    limiter: new RateLimiter(context.rates.token),
    keyOf: ({ tokenId }: Caller) => tokenId,
  };
  return Object.entries(groups).flatMap(([group, methods]) =>
    Object.entries(methods).map(([name, method]) =>
      route<Caller>({
        method: 'POST',
        path: `/api/compute/${group}/${name}`,
        admit: ({ headers }) => authenticate(context.store, headers.authorization),
        allowance,
        schema: {
          operationId: `${group}.${name}`,
          tags: [group],
          summary: method.action,
          body: method.input,
          response: { 200: answerSchema(group, name), ...refusals },
        },
        attachValidation: true,
        answer: async (request, caller, reply) => {
          const hungUp = method.waits === true ? AbortSignal.any([stop, goneSignal(reply)]) : stop;
          const { body, validationError: fault, ip: address } = request;
          const call = { name: `${group}.${name}`, input: body, fault, caller, address };
          return { data: await callMethod(context, method, call, hungUp) };
        },
      }),
    ),
  );
}
