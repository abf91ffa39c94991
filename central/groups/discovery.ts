import Type from 'typebox';
import { pageFields } from '../api/cursor.ts';
import { fleet } from '../api/grants.ts';
import { type Group, method } from '../api/method.ts';
import { listSeenMachines } from '../metal/seenMachines.ts';
import { requireSite } from '../sites.ts';

/** `unknown`: only machines that no node has an address of; a page may then have fewer items than asked for. */
const List = Type.Object(
  {
    siteId: Type.Optional(Type.String({ maxLength: 128 })),
    unknown: Type.Boolean({ default: false }),
    ...pageFields,
  },
  { additionalProperties: false },
);

/** The machines that were seen on the sites' boot networks, whether anybody has named them or not: they are of no tenant. */
export const discovery: Group = {
  list: method({
    kind: 'read',
    action: 'compute:sites:read',
    input: List,
    scopes: () => [fleet],
    run: async ({ store }, input) => {
      if (input.siteId !== undefined) await requireSite(store, input.siteId);
      return listSeenMachines(store, input);
    },
  }),
};
