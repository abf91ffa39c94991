import Type, { type Static } from 'typebox';
import { dhcpMode } from './dhcpMode.ts';
import { Ipv6 } from './ipv6.ts';
import { leaseTime, networkSettings } from './networkSettings.ts';
import { Address, closed, InterfaceName } from './parts.ts';

/** A further network: either on an interface of the site (`interface`, `address`), or behind a relay (`relayed`). */
export const Subnet = Type.Object(
  {
    mode: dhcpMode({ default: 'full' }),
    interface: Type.Optional(InterfaceName('The interface, another than those of the other networks.')),
    address: Type.Optional(Address("The site's own address there.")),
    prefixLength: Type.Integer({
      minimum: 8,
      maximum: 30,
      default: 24,
      description: 'The network mask, in bits, of a network with an interface.',
    }),
    relayed: Type.Optional(
      Type.String({
        pattern: '^(\\d{1,3}\\.){3}\\d{1,3}/\\d{1,2}$',
        description:
          'In place of the three before: a network that a relay agent forwards from, e.g. `10.79.0.0/24`.',
      }),
    ),
    poolStart: Type.Optional(Address('First address of its pool.')),
    poolEnd: Type.Optional(Address('Last address of its pool.')),
    router: Type.Optional(
      Address('Default gateway there; the site itself when left out. Behind a relay it is needed.'),
    ),
    ...networkSettings,
    leaseTime: Type.Optional(leaseTime({})),
    ipv6: Type.Optional(Ipv6),
  },
  closed,
);
export type Subnet = Readonly<Static<typeof Subnet>>;
