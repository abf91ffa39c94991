import Type from 'typebox';
import { durationPattern } from '#contract/durations.ts';
import { Address, closed } from './parts.ts';

export const Provisioning = Type.Object(
  {
    interface: Type.String({
      pattern: '^[^\\s/]{1,15}$',
      description: 'The network interface that DHCP is served on.',
    }),
    address: Address("The site's own address on that network; DHCP, TFTP and HTTP boot answer there."),
    prefixLength: Type.Integer({
      minimum: 8,
      maximum: 30,
      default: 24,
      description: 'The network mask, in bits.',
    }),
    poolStart: Address('First address that is given to machines without a reservation.'),
    poolEnd: Address('Last address of that pool.'),
    router: Type.Optional(Address('Default gateway for machines; the site itself when left out.')),
    dns: Type.Array(Address('A name server.'), { default: [], description: 'Name servers for machines.' }),
    leaseTime: Type.String({
      pattern: durationPattern,
      default: '1h',
      description: 'How long an address is lent.',
    }),
  },
  { ...closed, description: 'The network that machines boot on.' },
);
