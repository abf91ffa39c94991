import { dell } from './dell.ts';
import { generic } from './generic.ts';
import { hpe } from './hpe.ts';
import { supermicro } from './supermicro.ts';
import type { Vendor, VendorFacts } from './vendor.ts';

/**
 * First match wins; the last matches all. Order matters only where a board maker's name appears beside a
 * brand's.
 */
const vendors: readonly Vendor[] = [dell, hpe, supermicro, generic];

export function vendorOf(facts: VendorFacts): Vendor {
  return vendors.find((vendor) => vendor.matches(facts)) ?? generic;
}
