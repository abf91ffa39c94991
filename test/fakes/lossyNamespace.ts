import { runIn } from '#rack/netns.ts';

/**
 * Drops the UDP datagrams that arrive in a network namespace: dropped where they leave, the sender would be told. `which` is nftables'
 * number generator and what it is compared with, e.g. `random mod 1000 < 20`; without it no more are dropped.
 */
export async function dropDatagrams(namespace: string, which?: string): Promise<void> {
  await runIn(namespace, ['nft', 'flush', 'ruleset']);
  if (which === undefined) return;
  const chain = `type filter hook input priority 0; meta l4proto udp numgen ${which} drop;`;
  await runIn(namespace, ['nft', '-f', '-'], { input: `table inet loss {\nchain input { ${chain} }\n}\n` });
}

/** Of `percent` of them, at random; of none for 0. */
export function atRandom(percent: number): string | undefined {
  return percent === 0 ? undefined : `random mod 1000 < ${percent * 10}`;
}
