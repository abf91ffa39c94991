import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifySchema } from 'fastify';
import type { TSchema } from 'typebox';
import { version } from '#base/version.ts';
import { errorStatus } from '#contract/errors.ts';
import type { Door } from '#doors/door.ts';
import { ErrorAnswer } from '../answers/error.ts';
import { requestSchema } from './requestSchema.ts';

const about = `Every method is a POST of a JSON body to \`/api/compute/<group>/<method>\` and answers \`{"data": …}\`, or \`{"error": …}\` with the status of
its code. Unknown fields of a body are refused; answers may get further fields. Lists are paged by \`limit\` and the \`cursor\` of the page before.`;

/** The page loads nothing from elsewhere, and nobody may frame it. */
const policy =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; frame-ancestors 'none'";
const errorSchema = 'Error';

/** Begins to describe the routes that are added from now on. The page is the same for everyone: it needs no token and no internet. */
export async function describeApi(door: Door): Promise<void> {
  door.addSchema({ $id: errorSchema, ...ErrorAnswer });
  await door.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Railhead', version, description: about },
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
      security: [{ token: [] }],
    },
    transform: ({ schema, url }) => ({ schema: asRead(schema), url }),
    refResolver: {
      buildLocalReference: ({ $id }, _base, _fragment, index) => String($id ?? `schema-${index}`),
    },
  });
  await door.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: policy,
    uiConfig: { docExpansion: 'none', defaultModelsExpandDepth: -1, validatorUrl: null },
    theme: { title: 'Railhead API' },
  });
}

function asRead(schema: FastifySchema): FastifySchema {
  return schema?.body === undefined ? schema : { ...schema, body: requestSchema(schema.body as TSchema) };
}

/** The answers that any method may give when it refuses, by status. */
export const refusals = Object.fromEntries(
  Object.values(errorStatus).map((status) => [
    status,
    { $ref: `${errorSchema}#`, description: codesOf(status) },
  ]),
);

function codesOf(status: number): string {
  const codes = Object.entries(errorStatus).filter(([, each]) => each === status);
  return codes.map(([code]) => code).join(', ');
}
