/** What is taken over, in the server's part, a shared network, a subnet, a pool or a reservation. */
const taken = [
  ...[
    'subnet4',
    'shared-networks',
    'option-data',
    'reservations',
    'valid-lifetime',
    'subnet',
    'pools',
    'pool',
    'interface',
  ],
  ...['hw-address', 'client-id', 'ip-address', 'hostname'],
];

/** What says nothing of addresses, or what a site does in its own way without a setting. */
const unrelated =
  /^(id|name|comment|user-context|authoritative|interfaces-config|(lease|hosts)-database|control-socket|multi-threading|loggers?|sanity-checks|expired-leases|renew-timer|rebind-timer|t[12]-percent|calculate-tee|(min|max)-valid-lifetime|cache-|store-extended|ddns-|dhcp-ddns|hostname-char|statistic|echo-client-id|match-client-id|decline-probation|parked-packet|server-tag|config-control|dhcp-queue|reservations?-(mode|global|in-subnet|out-of-pool|lookup)|ip-reservations-unique|early-global|compatibility|4o6|allocator|offer-lifetime|stash-agent)/;

const boot = ['next-server', 'boot-file-name', 'server-hostname'];

/** Why a word of Kea's is not taken over; undefined for one that is, or that says nothing. */
export function whyUnread(name: string): string | undefined {
  if (taken.includes(name) || unrelated.test(name)) return undefined;
  return boot.includes(name)
    ? 'the site answers boot by itself, for every kind of firmware'
    : 'has no counterpart in a site';
}
