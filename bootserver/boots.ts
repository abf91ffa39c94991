import type { Clock } from '#base/clock.ts';
import { newId } from '#contract/ids.ts';
import type { ClientKind } from './dhcp/client.ts';
import type { BootEvent } from './machine.ts';

interface Boot {
  bootId: string;
  stage: 'firmware' | 'loader' | 'script';
  lastSeen: number;
}

/** Firmware repeats a DISCOVER for up to a minute; after that it is another try. */
const quietMs = 60_000;
/** Machines remembered; a flood of made-up MACs drops the oldest. */
const capacity = 4096;

const networkBoot: readonly ClientKind[] = [
  'bios-pxe',
  'uefi-pxe',
  'uefi-http',
  'unknown-pxe',
  'raspberry-pi',
];
const ipxe: readonly ClientKind[] = ['ipxe', 'own-ipxe'];

/** Which boot does an event belong to? Gives every boot of a machine an id and writes its timeline. */
export class Boots {
  readonly #boots = new Map<string, Boot>();
  readonly #timeline: (event: BootEvent) => void;
  readonly #clock: Clock;
  readonly #lastBoot: (mac: string) => string | undefined;

  /** `lastBoot`: the boot that a machine was in when this was last known, which a restart of the server does not end. */
  constructor(
    timeline: (event: BootEvent) => void,
    clock: Clock,
    lastBoot: (mac: string) => string | undefined = () => undefined,
  ) {
    this.#timeline = timeline;
    this.#clock = clock;
    this.#lastBoot = lastBoot;
  }

  /**
   * A DISCOVER: the first of a boot gets a new id. It is the first when the machine was quiet, when firmware speaks after
   * our iPXE was loaded, or when anything boots from the network after a script was fetched.
   */
  discovered(mac: string, kind: ClientKind): void {
    const boot = this.#boots.get(mac);
    if (boot === undefined || this.#beginsAnew(boot, kind)) this.#begin(mac);
    else boot.lastSeen = this.#clock.now();
  }

  /** Writes one line of the machine's present boot. */
  note(mac: string, type: BootEvent['type'], text: string): void {
    const boot = this.#current(mac);
    boot.lastSeen = this.#clock.now();
    this.#timeline({ bootId: boot.bootId, mac, type, text });
  }

  /** The machine's firmware was handed iPXE. */
  loaderGiven(mac: string): void {
    this.#current(mac).stage = 'loader';
  }

  hasLoader(mac: string): boolean {
    const boot = this.#boots.get(mac);
    return boot?.stage === 'loader' && this.#clock.now() - boot.lastSeen <= quietMs;
  }

  /** The machine asked for its script, or its ramdisk for what a script would have told it; the id of this boot. */
  scriptGiven(mac: string): string {
    const boot = this.#current(mac);
    boot.stage = 'script';
    return boot.bootId;
  }

  #current(mac: string): Boot {
    const known = this.#boots.get(mac);
    if (known !== undefined) return known;
    const last = this.#lastBoot(mac);
    return last === undefined ? this.#begin(mac) : this.#remember(mac, last, 'script');
  }

  #beginsAnew(boot: Boot, kind: ClientKind): boolean {
    const firmware = networkBoot.includes(kind);
    if (!firmware && !ipxe.includes(kind)) return false;
    if (this.#clock.now() - boot.lastSeen > quietMs || boot.stage === 'script') return true;
    return firmware && boot.stage === 'loader';
  }

  #begin(mac: string): Boot {
    return this.#remember(mac, newId('boot', this.#clock.now()), 'firmware');
  }

  #remember(mac: string, bootId: string, stage: Boot['stage']): Boot {
    const boot: Boot = { bootId, stage, lastSeen: this.#clock.now() };
    // Set anew, so that the order of the map is the order of age.
    this.#boots.delete(mac);
    this.#boots.set(mac, boot);
    const oldest = this.#boots.keys().next().value;
    if (this.#boots.size > capacity && oldest !== undefined) this.#boots.delete(oldest);
    return boot;
  }
}
