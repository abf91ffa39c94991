import Type from 'typebox';

/** Who gives the addresses on a network, and who says what to boot. */
export const dhcpMode = (extra: object = {}) =>
  Type.Enum(['full', 'proxy', '4011-only', 'off'], {
    description:
      '`full`: the site gives addresses and says what to boot; `proxy`: another DHCP server gives addresses, the site says what to boot; `4011-only`: the same beside a DHCP server on this very host; `off`: no DHCP.',
    ...extra,
  });
