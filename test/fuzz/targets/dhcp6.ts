import assert from 'node:assert/strict';
import { client6Facts } from '#bootserver/dhcp6/client.ts';
import { decodeMessage, encodeMessage } from '#bootserver/dhcp6/message.ts';
import { dhcp6Options, type OptionName, readOption } from '#bootserver/dhcp6/options.ts';
import { unwrap } from '#bootserver/dhcp6/relay.ts';
import { Bench6, client, linkLocal, network } from '../../bootserver/dhcp6/bench.ts';
import type { FuzzTarget } from '../target.ts';

/** What a client says, bare and through two relays. */
function messages(): Buffer[] {
  const solicit = encodeMessage(client('solicit', { architectures: [7], optionRequest: [59, 60, 23] }));
  const forward = (held: Buffer, linkAddress: string) => {
    const header = { type: 12, hopCount: 1, linkAddress, peerAddress: linkLocal } as const;
    return encodeMessage({ ...header, options: [{ code: 9, value: held }] });
  };
  return [
    solicit,
    encodeMessage(client('renew', { addresses: ['fd77::100'] })),
    forward(forward(solicit, '::'), network.address),
  ];
}

const bench = new Bench6();

/** DHCPv6: a message decodes or is malformed; what decodes is written back the same, says who sent it, and is decided on. */
export const target: FuzzTarget = {
  seeds: messages(),
  longest: 65_507,
  run(input) {
    const message = decodeMessage(input);
    if ('malformed' in message) return;
    const again = decodeMessage(encodeMessage(message));
    assert.deepEqual(again, message);
    const relayed = unwrap(input);
    if ('malformed' in relayed) return;
    client6Facts(relayed, linkLocal);
    for (const name of Object.keys(dhcp6Options) as OptionName[]) readOption(relayed.message.options, name);
    bench.ask(input);
  },
};
