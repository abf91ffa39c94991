import Type, { type Static } from 'typebox';
import { isENOENT } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';
import { freeze, parseConfigText, readConfigText } from '../toml.ts';

const closed = { additionalProperties: false };

/** What a node agent may be told. A deploy writes it beside the OS's first-boot document; every part has a default. */
export const NodeConfig = Type.Object(
  {
    stateDirectory: Type.String({ minLength: 1, default: '/var/lib/bcd' }),
    logLevel: Type.Enum(['debug', 'info', 'warn', 'error', 'silent'], { default: 'info' }),
    central: Type.Object(
      {
        /** Base URL of the centre. Without: the one that was joined. */
        url: Type.Optional(Type.String({ pattern: '^https://[^/\\s]+/?$' })),
      },
      { ...closed, default: {} },
    ),
  },
  closed,
);
export type NodeConfig = Static<typeof NodeConfig>;

/**
 * Reads a node's configuration; without the file every default holds.
 * @throws RailheadError INVALID_CONFIG whose details name the `path` and what was `expected`
 */
export async function readNodeConfig(file: string): Promise<NodeConfig> {
  return freeze(parseConfigText(NodeConfig, await textOrNothing(file)));
}

async function textOrNothing(file: string): Promise<string> {
  try {
    return await readConfigText(file);
  } catch (error) {
    if (error instanceof RailheadError && isENOENT(error.cause)) return '';
    throw error;
  }
}
