import type { DhcpMode } from './network.ts';

/**
 * Which ports an interface's own network, and those that relays forward from, need: 67 where we answer clients there, 4011 where
 * an offer, ours or another server's, sends them to it. Relays reach us at 67 also where the interface's own clients are not ours to
 * answer, unless another server on this host has that port (`4011-only`).
 */
export function dhcpPorts(own: DhcpMode, relayed: readonly DhcpMode[]): { dhcp: boolean; pxe: boolean } {
  const modes = [own, ...relayed];
  return {
    dhcp: answersOn67(own) || (own === 'off' && relayed.some(answersOn67)),
    pxe: modes.includes('proxy') || modes.includes('4011-only'),
  };
}

/** Whether clients of a network with this mode are answered on port 67. */
export function answersOn67(mode: DhcpMode): boolean {
  return mode === 'full' || mode === 'proxy';
}
