import type { Log } from '#base/log.ts';
import type { LoaderChoice } from '#bootserver/machine.ts';
import { type BootEntry, isIsoEntry } from '#contract/bootEntry.ts';
import type { Loader } from '#contract/loader.ts';
import type { SiteConfig } from './config.ts';
import type { SiteState } from './store/state.ts';

export interface LoaderFacts {
  /** What the centre says of the machine; it says nothing of strangers. */
  wanted: Loader | undefined;
  /** What the site has for machines of which nobody has said anything. */
  usual: 'ipxe' | 'shim';
  hasShim: boolean;
  entry: BootEntry | undefined;
  isWithdrawn(digest: string): boolean;
}

/** Decides what a machine's UEFI firmware is handed. A site without shim has iPXE alone. */
export function decideLoader({ wanted, usual, hasShim, entry, isWithdrawn }: LoaderFacts): LoaderChoice {
  const loader = wanted ?? usual;
  if (loader === 'uki') {
    const digests = entry === undefined || isIsoEntry(entry) ? {} : entry.ramdisk.digests;
    const usable = Object.entries(digests).filter(([, digest]) => !isWithdrawn(digest));
    return { kind: 'uki', digests: Object.fromEntries(usable) };
  }
  return { kind: loader === 'shim' && hasShim ? 'shim' : 'ipxe' };
}

interface LoaderParts {
  state: SiteState;
  config: Pick<SiteConfig['boot'], 'loader' | 'shimDirectory'>;
  log: Log;
}

/** What the boot server asks before it offers a machine something to boot. */
export function loaderOf({ state, config, log }: LoaderParts): (mac: string | undefined) => LoaderChoice {
  const hasShim = config.shimDirectory !== undefined;
  const warned = new Set<string>();
  return (mac) => {
    const node = mac === undefined ? undefined : state.spec.nodeByMac(mac);
    if (node?.loader === 'shim' && !hasShim && !warned.has(node.nodeId)) {
      warned.add(node.nodeId);
      log.warn(
        { mac, nodeId: node.nodeId },
        'this machine is to be handed shim, and there is none: run "railhead secure-boot refresh" and set boot.shimDirectory',
      );
    }
    return decideLoader({
      wanted: node?.loader,
      usual: config.loader,
      hasShim,
      // Asked at every DHCP message: the database is spared it where nothing depends on it.
      entry: mac !== undefined && node?.loader === 'uki' ? state.entries.byMac(mac, Date.now()) : undefined,
      isWithdrawn: state.spec.isWithdrawn,
    });
  };
}
