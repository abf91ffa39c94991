import Type, { type Static } from 'typebox';
import { hostAddress6 } from './ipv6.ts';
import { hostnamePattern, networkSettings } from './networkSettings.ts';
import { Address, closed } from './parts.ts';

/** What one machine gets. A node that the centre has named keeps the address and host name from there. */
export const Host = Type.Object(
  {
    mac: Type.Optional(
      Type.String({
        pattern: '^[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}$',
        description: 'The machine by its Ethernet address.',
      }),
    ),
    clientId: Type.Optional(
      Type.String({
        pattern: '^([0-9a-fA-F]{2}[:]?)+$',
        description:
          'In its place: the client identifier (option 61) in hex, for hardware such as InfiniBand.',
      }),
    ),
    address: Type.Optional(Address('Its address; nobody else gets it.')),
    address6: hostAddress6,
    hostname: Type.Optional(
      Type.String({ pattern: hostnamePattern, description: 'Its host name (option 12).' }),
    ),
    router: Type.Optional(Address('Its default gateway.')),
    ...networkSettings,
  },
  closed,
);
export type Host = Readonly<Static<typeof Host>>;
