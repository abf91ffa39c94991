import type { TSchema } from 'typebox';
import { createDoor, type Door } from '#doors/door.ts';
import { addRoutes, anyone, type Route, route } from '#doors/routes.ts';
import { inputCheck } from './checkInput.ts';
import type { ApiContext, Group } from './method.ts';
import { methodRoutes } from './methodRoutes.ts';
import { describeApi } from './openApi.ts';
import { type PublishedFile, publishedRoute } from './publishedFile.ts';

const bodyLimit = 1024 * 1024;
/** All operators may come through one proxy. */
const connections = { perClient: 1024, total: 4096 };

/** Certificate and key (PEM) of an API that speaks TLS itself. */
export interface ApiTls {
  key: string;
  cert: string;
}

export interface ApiServerParts {
  tls?: ApiTls | undefined;
  /** Proxies in front of the API whose `X-Forwarded-For` is believed. */
  trustProxy?: string[] | undefined;
  /** The `bcd` that deployed OSes download. */
  executable?: PublishedFile | undefined;
}

/** The operators' door: one route per method of `groups`, everything else denied. `stop` ends long polls. */
export async function openApiServer(
  context: ApiContext,
  groups: Readonly<Record<string, Group>>,
  { tls, trustProxy, executable }: ApiServerParts,
  stop: AbortSignal,
): Promise<Door> {
  const { log, rates } = context;
  const door = createDoor({ log, tls, trustProxy, bodyLimit, rate: rates.apiAddress, connections });
  // One validator for the API, the command line and the library, so that all name a fault by the same path.
  door.setValidatorCompiler(({ schema }) => checking(inputCheck(schema as TSchema)));
  // Answers are sent as they are: their schemas are for who reads them, and the tests hold every answer against them.
  door.setSerializerCompiler(() => JSON.stringify);
  await describeApi(door);
  await door.register(async (scope) => addRoutes(scope, methodRoutes(context, groups, stop)));
  addRoutes(door, openRoutes(door, executable));
  return door;
}

/** What needs no token. */
function openRoutes(door: Door, executable: PublishedFile | undefined): Route[] {
  const openApi = route({
    method: 'GET',
    path: '/openapi.json',
    admit: anyone,
    schema: { hide: true },
    answer: () => door.swagger(),
  });
  return executable === undefined ? [openApi] : [openApi, publishedRoute(executable)];
}

/** `check` the way Fastify asks it. */
function checking(check: (value: unknown) => unknown) {
  return (value: unknown): { value: unknown } | { error: Error } => {
    try {
      return { value: check(value) };
    } catch (error) {
      return { error: error as Error };
    }
  };
}
