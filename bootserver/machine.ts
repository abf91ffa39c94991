import type { SiteEvent } from '#contract/agentWire.ts';
import type { BootFact } from '#contract/bootFact.ts';
import type { EfiLoader } from '#contract/efiLoader.ts';

/** What is known of a machine when it asks for its boot script. */
export interface MachineFacts {
  /** The interface that got the lease, as `canonicalMac` writes it. */
  mac: string;
  /** The SMBIOS UUID in network order, lower case; absent when the firmware has none that tells machines apart. */
  uuid?: string;
  serial?: string;
  architecture: 'x86_64' | 'aarch64';
  firmware: 'bios' | 'uefi';
  /** The VLAN that it says it asks in, tagged. */
  vlan?: number;
  /** The address that the script was asked from. */
  address: string;
  /** The MAC that took that address: by our lease, or by what is known of another server's. Only if it is `mac` does the machine itself ask. */
  leasedTo?: string;
  /** Joins the DHCP, TFTP, HTTP and ramdisk events of one boot. */
  bootId: string;
}

/** What a machine's UEFI firmware is handed to boot over the network; see contract/loader.ts. */
export type LoaderChoice =
  | { kind: 'ipxe' | 'shim' }
  /** The ramdisk images of the machine's boot entry by architecture; none, and the firmware is told of nothing to boot. */
  | { kind: 'uki'; digests: { x86_64?: string; aarch64?: string } };

/** What a machine is to boot now. */
export type BootDecision =
  | {
      kind: 'disk';
      /** Of the disk that was deployed last, where it is known. */
      loader?: EfiLoader;
    }
  | {
      /** It goes on in this VLAN, and asks again there. */
      kind: 'vlan';
      vlan: number;
    }
  | {
      kind: 'iso';
      /** The ISO image, which is in the cache. */
      digest: string;
    }
  | {
      kind: 'ramdisk';
      /** The unified kernel image for the machine's architecture. */
      digest: string;
      /** Boot token, minted for this one script fetch. */
      token: string;
      /** Further arguments from the allow-list, such as `console=ttyS0`; site, token and MAC are added by the boot server. */
      kernelArguments: string[];
    };

/** One line of a machine's boot timeline. */
export interface BootEvent {
  bootId: string;
  mac: string;
  type: Extract<SiteEvent['type'], `boot.${string}`>;
  text: string;
  fact?: BootFact;
}
