import Type, { type Static } from 'typebox';
import { dhcpMode } from './dhcpMode.ts';
import { Ipv6 } from './ipv6.ts';
import { leaseTime, networkSettings } from './networkSettings.ts';
import { Address, closed, InterfaceName } from './parts.ts';
import { Host } from './provisioningHost.ts';
import { Subnet } from './provisioningSubnet.ts';

/** The main network; further ones are `subnets`. */
export const Provisioning = Type.Object(
  {
    mode: dhcpMode({ default: 'full' }),
    interface: InterfaceName('The network interface that DHCP is served on.'),
    address: Address("The site's own address on that network; DHCP, TFTP and HTTP boot answer there."),
    prefixLength: Type.Integer({
      minimum: 8,
      maximum: 30,
      default: 24,
      description: 'The network mask, in bits.',
    }),
    poolStart: Type.Optional(
      Address(
        'First address that is given to machines without a reservation; without a pool only those with one get an address.',
      ),
    ),
    poolEnd: Type.Optional(Address('Last address of that pool.')),
    router: Type.Optional(Address('Default gateway for machines; the site itself when left out.')),
    ...networkSettings,
    leaseTime: leaseTime({ default: '1h' }),
    ipv6: Type.Optional(Ipv6),
    subnets: Type.Array(Subnet, { default: [], description: 'Further networks.' }),
    hosts: Type.Array(Host, {
      default: [],
      description: 'Machines with an address or settings of their own.',
    }),
  },
  { ...closed, description: 'The network that machines boot on.' },
);
export type Provisioning = Readonly<Static<typeof Provisioning>>;
