import type { BootDevice } from '#contract/steps.ts';
import type { JsonObject } from '../json.ts';

/** What a BMC says of itself: the service root and its system. */
export interface VendorFacts {
  manufacturer: string;
  /** Vendor of the service root (Redfish 1.5). */
  vendor: string;
  /** Names under `Oem` of root and system. */
  oem: string[];
}

/**
 * Where a vendor's BMCs differ from the standard in what our operations do. A new quirk is a field here and its
 * evidence in the vendor's file.
 */
export interface Vendor {
  name: string;
  matches(facts: VendorFacts): boolean;
  /**
   * Whether a boot override is first sent with the least fields or with all of them. The other is tried when it
   * is not kept.
   */
  bootFields: 'least' | 'all';
  /** Devices that this BMC would accept and take for something else, with the sentence that says so. */
  misleading: Partial<Record<BootDevice, string>>;
}

export function factsOf(root: JsonObject, system: JsonObject): VendorFacts {
  const oem = [root.Oem, system.Oem].flatMap((value) =>
    typeof value === 'object' && value !== null ? Object.keys(value) : [],
  );
  return { manufacturer: String(system.Manufacturer ?? ''), vendor: String(root.Vendor ?? ''), oem };
}

/** Whether any of the facts names one of these, in any case. */
export function names(facts: VendorFacts, ...wanted: string[]): boolean {
  const found = [facts.manufacturer, facts.vendor, ...facts.oem].join('\n').toLowerCase();
  return wanted.some((name) => found.includes(name));
}
