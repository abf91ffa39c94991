import { addressNumber, addressText } from '#bootserver/dhcp/address.ts';
import type { ImportedNetwork, LeftOut } from './model.ts';

interface Range {
  first: number;
  last: number;
}

/**
 * A site has one pool for a network: the largest range, without the first and last address of the network and the site's own. What is
 * not used of the ranges is told in `left`.
 */
export function largestPool(
  network: ImportedNetwork,
  left: LeftOut[],
  own?: string,
): { first: string; last: string } | undefined {
  const start = addressNumber(network.network);
  const hosts: Range = { first: start + 1, last: start + 2 ** (32 - network.prefixLength) - 2 };
  const all = network.ranges
    .flatMap((range) => piecesOf(range, hosts, own))
    .sort((one, other) => size(other) - size(one));
  const chosen = all[0];
  for (const range of network.ranges) {
    if (chosen !== undefined && isWhole(range, chosen)) continue;
    const why =
      chosen === undefined
        ? 'no address of it is in the network'
        : `a site has one pool for a network: ${addressText(chosen.first)} to ${addressText(chosen.last)} is taken`;
    left.push({
      where: `${network.network}/${network.prefixLength}`,
      what: `${range.first} to ${range.last}`,
      why,
    });
  }
  return chosen && { first: addressText(chosen.first), last: addressText(chosen.last) };
}

function piecesOf(range: { first: string; last: string }, hosts: Range, own: string | undefined): Range[] {
  const first = Math.max(addressNumber(range.first), hosts.first);
  const last = Math.min(addressNumber(range.last), hosts.last);
  const hole = own === undefined ? -1 : addressNumber(own);
  const pieces =
    hole < first || hole > last
      ? [{ first, last }]
      : [
          { first, last: hole - 1 },
          { first: hole + 1, last },
        ];
  return pieces.filter((piece) => size(piece) > 0);
}

function isWhole(range: { first: string; last: string }, { first, last }: Range): boolean {
  return addressNumber(range.first) === first && addressNumber(range.last) === last;
}

function size({ first, last }: Range): number {
  return last - first + 1;
}
