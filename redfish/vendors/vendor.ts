import type { SshConsole } from '#console/session.ts';
import type { BootDevice } from '#contract/steps.ts';
import { asObject, asText, type JsonObject } from '../json.ts';
import type { BootOverride } from '../operations/bootFields.ts';
import type { Quirk } from './quirk.ts';

/** What a BMC says of itself: the service root and its system. */
export interface VendorFacts {
  manufacturer: string;
  /** Vendor of the service root (Redfish 1.5). */
  vendor: string;
  model: string;
  /** Names under `Oem` of root and system. */
  oem: string[];
  /** Of the BMC, where the service root tells it (HPE); else the machine's firmware, which is renewed with it. */
  firmwareVersion: string;
}

/**
 * Where a vendor's BMCs differ from the standard in what our operations do. A new quirk is a field here and its
 * evidence in the vendor's file.
 */
export interface Vendor {
  name: string;
  /** Where its BMCs are not as the standard says, with the evidence. */
  quirks: readonly Quirk[];
  matches(facts: VendorFacts): boolean;
  /**
   * Whether a boot override is first sent with the least fields or with all of them. The other is tried when it
   * is not kept.
   */
  bootFields: 'least' | 'all';
  /** What it calls a boot device, the best first, where that is not the standard's name. */
  targets: Partial<Record<BootDevice, readonly string[]>>;
  /** What InsertMedia is sent beside the URL from the first time on. */
  insertFields: readonly string[];
  /** Whether its GPUs are processors of a second system, their baseboard. */
  gpusOnBaseboard: boolean;
  /** What the hardware's event log is called, the best first. */
  eventLogs: readonly string[];
  /** How its event service is asked for events alone, and no metric reports. */
  streamFilter: string;
  /** How long it wants to be left alone between two streams of events, in milliseconds. */
  streamRestMs: number;
  /** How its SSH leads to the serial port, where its Redfish does not tell; `port` is that of its command line. */
  console?: Omit<SshConsole, 'port'>;
  /** The manager's attributes by which it boots virtual media, where its `Cd` is something else. */
  cdAttributes?: (override: Pick<BootOverride, 'persistent'>) => Record<string, string>;
}

export function factsOf(root: JsonObject, system: JsonObject): VendorFacts {
  const oem = [root.Oem, system.Oem].flatMap((value) =>
    typeof value === 'object' && value !== null ? Object.keys(value) : [],
  );
  return {
    manufacturer: asText(system.Manufacturer) ?? '',
    vendor: asText(root.Vendor) ?? '',
    model: asText(system.Model) ?? '',
    oem,
    firmwareVersion: hpeFirmware(root) ?? asText(system.BiosVersion) ?? '',
  };
}

/** E.g. `iLO 4 2.82`: iLO tells its generation and version to whoever asks. */
function hpeFirmware({ Oem }: JsonObject): string | undefined {
  const { Hpe, Hp } = asObject(Oem);
  const { Manager } = { ...asObject(Hp), ...asObject(Hpe) };
  const first = asObject(Array.isArray(Manager) ? Manager[0] : undefined);
  const words = [first.ManagerType, first.ManagerFirmwareVersion].flatMap((word) => asText(word) ?? []);
  return words.length === 0 ? undefined : words.join(' ');
}

/** Whether any of the facts names one of these, in any case. */
export function names(facts: VendorFacts, ...wanted: string[]): boolean {
  const found = [facts.manufacturer, facts.vendor, ...facts.oem].join('\n').toLowerCase();
  return wanted.some((name) => found.includes(name));
}
