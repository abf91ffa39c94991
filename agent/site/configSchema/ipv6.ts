import Type, { type Static } from 'typebox';
import { closed } from './parts.ts';

const Address6 = (description: string) =>
  Type.String({ pattern: '^[0-9a-fA-F:]*:[0-9a-fA-F:.]*$', description });

/** IPv6 on a network, beside IPv4. Router advertisements are the router's: machines wait for them. */
export const Ipv6 = Type.Object(
  {
    mode: Type.Enum(['full', 'off'], {
      default: 'full',
      description: 'Whether DHCPv6 is served; TFTP and HTTP answer in any case.',
    }),
    address: Type.Optional(
      Address6("The site's own address; the interface must have it. Not behind a relay."),
    ),
    prefixLength: Type.Integer({
      minimum: 32,
      maximum: 126,
      default: 64,
      description: 'The length of the prefix, in bits.',
    }),
    relayed: Type.Optional(
      Type.String({
        pattern: '^[0-9a-fA-F:]+/\\d{1,3}$',
        description: 'In place of both, where the network is behind a relay: its prefix, e.g. `fd79::/64`.',
      }),
    ),
    poolStart: Type.Optional(
      Address6('First address for machines without a reservation; of a pool of 65,536 at most.'),
    ),
    poolEnd: Type.Optional(Address6('Last address of that pool.')),
    dns: Type.Optional(
      Type.Array(Address6('A name server.'), { description: 'Name servers for machines (option 23).' }),
    ),
    preference: Type.Integer({
      minimum: 0,
      maximum: 255,
      default: 0,
      description:
        'Where several DHCPv6 servers offer, clients take the highest; at 255 they do not wait for other offers.',
    }),
  },
  { ...closed, description: 'IPv6 on this network: DHCPv6 with boot options, TFTP and HTTP.' },
);
export type Ipv6 = Readonly<Static<typeof Ipv6>>;

/** An IPv6 address of one machine. */
export const hostAddress6 = Type.Optional(
  Address6('Its IPv6 address; the machine is known by `mac`, and nobody else gets it.'),
);
