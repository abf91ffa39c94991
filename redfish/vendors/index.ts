import { ami } from './ami.ts';
import { dell } from './dell.ts';
import { fujitsu } from './fujitsu.ts';
import { generic } from './generic.ts';
import { hpe } from './hpe.ts';
import { ilo4 } from './ilo4.ts';
import { lenovo } from './lenovo.ts';
import { nvidia } from './nvidia.ts';
import { openbmc } from './openbmc.ts';
import { supermicro } from './supermicro.ts';
import type { Vendor, VendorFacts } from './vendor.ts';

/**
 * First match wins; the last matches all. Who makes the machine comes before who makes the BMC's software, which many makers share; iLO 4
 * comes before what calls itself HP too.
 */
export const vendors: readonly Vendor[] = [
  dell,
  ilo4,
  hpe,
  supermicro,
  lenovo,
  fujitsu,
  nvidia,
  ami,
  openbmc,
  generic,
];

export function vendorOf(facts: VendorFacts): Vendor {
  return vendors.find((vendor) => vendor.matches(facts)) ?? generic;
}
