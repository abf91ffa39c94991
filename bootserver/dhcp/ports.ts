import type { DhcpMode } from './network.ts';

/**
 * Which ports an interface's own network, and those that relays forward from, need: 67 where we answer clients there, 4011 where
 * an offer, ours or another server's, sends them to it.
 */
export function dhcpPorts(own: DhcpMode, relayed: readonly DhcpMode[]): { dhcp: boolean; pxe: boolean } {
  const modes = [own, ...relayed];
  return {
    dhcp: own === 'full' || own === 'proxy',
    pxe: modes.includes('proxy') || modes.includes('4011-only'),
  };
}
