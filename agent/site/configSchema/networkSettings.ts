import Type, { type Static } from 'typebox';
import { BootQuirks } from '#contract/bootQuirks.ts';
import { durationPattern } from '#contract/durations.ts';
import { Address, closed } from './parts.ts';

/** Labels of RFC 1035 §2.3.1, underscores included: an underscore starts names that only services have. */
const domainName = '^(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]{0,62})(\\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,62}))*$';
export const hostnamePattern = domainName;
const cidr = '^(\\d{1,3}\\.){3}\\d{1,3}/\\d{1,2}$';
const hexBytes = '^([0-9a-fA-F]{2}([ :]?[0-9a-fA-F]{2})*)?$';

const Route = Type.Object(
  {
    to: Type.String({ pattern: cidr, description: 'The network that is reached, e.g. `10.0.0.0/8`.' }),
    via: Address('The router on this network that leads there.'),
  },
  closed,
);

/** Exactly one of `text`, `hex` and `addresses` holds the value: `checkConfig` says so. */
const RawOption = Type.Object(
  {
    number: Type.Integer({ minimum: 1, maximum: 254, description: "The option's number." }),
    text: Type.Optional(Type.String({ maxLength: 1024, description: 'Its value as text.' })),
    hex: Type.Optional(Type.String({ pattern: hexBytes, description: 'Its value as bytes, in hex.' })),
    addresses: Type.Optional(Type.Array(Address('An address.'), { description: 'Its value as addresses.' })),
    vendorClass: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Only clients whose vendor class (option 60) begins with this get it.',
      }),
    ),
  },
  closed,
);

/** What machines are told of a network beside their address; of the nearest place that says it: host, subnet, `[provisioning]`. */
export const networkSettings = {
  dns: Type.Optional(Type.Array(Address('A name server.'), { description: 'Name servers for machines.' })),
  domain: Type.Optional(
    Type.String({ pattern: domainName, description: 'The domain that machines are in (option 15).' }),
  ),
  search: Type.Optional(
    Type.Array(Type.String({ pattern: domainName }), {
      description: 'Domains in which machines look names up (option 119).',
    }),
  ),
  ntp: Type.Optional(
    Type.Array(Address('A time server.'), { description: 'Time servers for machines (option 42).' }),
  ),
  routes: Type.Optional(
    Type.Array(Route, {
      description:
        'Static routes (option 121); clients that take them hear the default gateway there as well.',
    }),
  ),
  options: Type.Optional(
    Type.Array(RawOption, {
      description:
        'Further options by number, such as vendor options; they go to every client, asked for or not.',
    }),
  ),
  quirks: Type.Optional(BootQuirks),
};

export const leaseTime = (extra: object) =>
  Type.String({ pattern: durationPattern, description: 'How long an address is lent.', ...extra });

export type RawOption = Static<typeof RawOption>;
