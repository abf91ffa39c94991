import type { Clock } from '#base/clock.ts';
import { known } from '#base/known.ts';
import type { BootFact } from '#contract/bootFact.ts';
import { type BootClass, bootClasses } from '#contract/bootQuirks.ts';
import { newId } from '#contract/ids.ts';
import { Acceptance } from './acceptance.ts';
import { isBootClass } from './dhcp/bootFields.ts';
import type { ClientKind } from './dhcp/client.ts';
import type { DhcpMode } from './dhcp/network.ts';
import { type BootStage, bootClassOf, type LastBoot, stageOf } from './lastBoot.ts';
import { Loops } from './loops.ts';
import type { BootEvent } from './machine.ts';
import { RecentMachines } from './recentMachines.ts';
import { type Advice, type Trouble, TroubleCounts } from './troubles.ts';

interface Boot {
  bootId: string;
  stage: BootStage;
  /** The class of network-boot client that it was when it last asked by DHCP. */
  kind?: BootClass;
  lastSeen: number;
  /** What the operator was advised of in this boot. */
  advised: Set<Trouble>;
  /** What it asked for piece by piece. */
  inPieces: Set<string>;
  /** Files that it asked for and that are not here. */
  missed: Set<string>;
}

/** Firmware repeats a DISCOVER for up to a minute; after that it is another try. */
const quietMs = 60_000;

/** Things remembered of one boot; a machine fetches an ISO, or an image for its disk. */
const mostOfBoot = 16;

const ipxe: readonly ClientKind[] = ['ipxe', 'own-ipxe'];
const firmware: readonly ClientKind[] = bootClasses.filter((kind) => !ipxe.includes(kind));

/** Events by which a machine shows that it took our offer. */
const coming: readonly BootEvent['type'][] = ['boot.tftp', 'boot.http', 'boot.script', 'boot.disk'];

export interface BootsParts {
  /** The boot that a machine was in when this was last known, of an earlier run or forgotten since. */
  lastBoot?(mac: string): LastBoot | undefined;
  /** Whether the site has named a machine: strangers push no such machine out. */
  isNamed?(mac: string): boolean;
}

/** Which boot does an event belong to? Gives every boot of a machine an id and writes its timeline. */
export class Boots {
  /** Since the start of this process. */
  readonly troubles = new TroubleCounts();
  readonly #boots: RecentMachines<Boot>;
  readonly #loops: Loops;
  readonly #acceptance: Acceptance;
  readonly #timeline: (event: BootEvent) => void;
  readonly #clock: Clock;
  readonly #lastBoot: (mac: string) => LastBoot | undefined;

  constructor(timeline: (event: BootEvent) => void, clock: Clock, { lastBoot, isNamed }: BootsParts = {}) {
    this.#timeline = timeline;
    this.#clock = clock;
    this.#lastBoot = lastBoot ?? (() => undefined);
    this.#boots = new RecentMachines(isNamed);
    this.#loops = new Loops(clock, isNamed);
    this.#acceptance = new Acceptance(clock, isNamed);
  }

  /**
   * A DISCOVER: the first of a boot gets a new id. It is the first when the machine was quiet, when firmware speaks after
   * our iPXE was loaded, or when anything boots from the network after a script was fetched.
   * @returns whether a boot begins with it
   */
  discovered(mac: string, kind: ClientKind): boolean {
    const boot = this.#boots.get(mac) ?? this.#restored(mac);
    const isFirst = boot === undefined || this.#beginsAnew(boot, kind);
    const current = isFirst ? this.#begin(mac) : boot;
    current.lastSeen = this.#clock.now();
    if (isBootClass(kind)) current.kind = kind;
    return isFirst;
  }

  /** Writes one line of the machine's present boot. */
  note(mac: string, type: BootEvent['type'], text: string, fact?: BootFact): void {
    const boot = this.#current(mac);
    boot.lastSeen = this.#clock.now();
    if (coming.includes(type)) this.#acceptance.came(mac);
    this.#timeline({ bootId: boot.bootId, mac, type, text, ...(fact !== undefined && { fact }) });
  }

  /**
   * A line of an installer's log. It may be made up, by whoever has or takes the machine's address: it changes nothing of what is known of
   * the boot, and begins none.
   */
  logged(mac: string, text: string, severity: number): void {
    const bootId = this.#boots.get(mac)?.bootId ?? this.#lastBoot(mac)?.bootId;
    if (bootId !== undefined)
      this.#timeline({ bootId, mac, type: 'boot.log', text, fact: { step: 'log', severity } });
  }

  /** Whether this is the first piece of `path` that the machine asks for in its present boot. */
  isFirstPiece(mac: string, path: string): boolean {
    return isNew(this.#current(mac).inPieces, path);
  }

  /** Whether the machine asks for this file, which is not here, for the first time in its present boot. */
  isFirstMiss(mac: string, file: string): boolean {
    return isNew(this.#current(mac).missed, file);
  }

  /** Counts what no machine's timeline tells. */
  count(trouble: Trouble): void {
    this.troubles.add(trouble);
  }

  /** There is no boot file for the machine: told once in a boot. */
  withoutFile(mac: string, text: string): void {
    const boot = this.#current(mac);
    if (boot.advised.has('no-boot-file')) return;
    boot.advised.add('no-boot-file');
    this.#advise(mac, { trouble: 'no-boot-file', text });
  }

  /** A network-boot client was sent an OFFER. */
  offered(mac: string, mode: DhcpMode): void {
    this.#advise(mac, this.#acceptance.offered(mac, mode));
  }

  /** A network-boot client's REQUEST names `server`, of which it takes the address; ours is `own`. */
  requested(mac: string, server: string | undefined, own: string, mode: DhcpMode): void {
    this.#advise(mac, this.#acceptance.requested(mac, server, own, mode));
  }

  /** The machine asked on port 4011: it took our offer. */
  came(mac: string): void {
    this.#acceptance.came(mac);
  }

  /** The machine's firmware was handed iPXE. */
  loaderGiven(mac: string): void {
    const boot = this.#current(mac);
    boot.stage = 'loader';
    this.#acceptance.came(mac);
    this.#advise(mac, this.#loops.loaderGiven(mac, boot.bootId));
  }

  /** Whether the machine got iPXE again and again without asking for its script. */
  isLooping(mac: string): boolean {
    return this.#loops.isLooping(mac);
  }

  /** What a decision wants to know of the client's present boot. */
  stateOf(mac: string | undefined): { loaderGiven: boolean; isLooping: boolean } {
    if (mac === undefined) return { loaderGiven: false, isLooping: false };
    return { loaderGiven: this.hasLoader(mac), isLooping: this.isLooping(mac) };
  }

  /** The class of network-boot client that the machine was when it last asked by DHCP. */
  kindOf(mac: string): BootClass | undefined {
    return this.#boots.get(mac)?.kind;
  }

  hasLoader(mac: string): boolean {
    const boot = this.#boots.get(mac) ?? this.#restored(mac);
    return boot?.stage === 'loader' && this.#clock.now() - boot.lastSeen <= quietMs;
  }

  /** The machine asked for its script, or its ramdisk for what a script would have told it; the id of this boot. */
  scriptGiven(mac: string): string {
    const boot = this.#current(mac);
    boot.stage = 'script';
    this.#loops.scriptAsked(mac);
    this.#acceptance.came(mac);
    return boot.bootId;
  }

  /** The id of the boot that the machine is in, which this changes nothing of; one that no boot has where none is known. */
  presentBoot(mac: string): string {
    const known = this.#boots.get(mac) ?? this.#lastBoot(mac);
    return known?.bootId ?? newId('boot', this.#clock.now());
  }

  #advise(mac: string, advice: Advice | undefined): void {
    if (advice === undefined) return;
    this.count(advice.trouble);
    this.note(mac, 'boot.advice', advice.text);
  }

  #current(mac: string): Boot {
    return this.#boots.get(mac) ?? this.#restored(mac) ?? this.#begin(mac);
  }

  #beginsAnew(boot: Boot, kind: ClientKind): boolean {
    const isFirmware = firmware.includes(kind);
    if (!isFirmware && !ipxe.includes(kind)) return false;
    if (this.#clock.now() - boot.lastSeen > quietMs || boot.stage === 'script') return true;
    return isFirmware && boot.stage === 'loader';
  }

  #begin(mac: string): Boot {
    const now = this.#clock.now();
    return this.#remember(mac, { bootId: newId('boot', now), stage: 'firmware', lastSeen: now });
  }

  /** As it was when its last step was written. */
  #restored(mac: string): Boot | undefined {
    const last = this.#lastBoot(mac);
    if (last === undefined) return undefined;
    const { bootId, at, facts } = last;
    const kind = bootClassOf(facts);
    return this.#remember(mac, { bootId, stage: stageOf(facts), lastSeen: at, ...known({ kind }) });
  }

  #remember(mac: string, how: Pick<Boot, 'bootId' | 'stage' | 'lastSeen' | 'kind'>): Boot {
    const boot: Boot = {
      ...how,
      advised: new Set(),
      inPieces: new Set(),
      missed: new Set(),
    };
    this.#boots.set(mac, boot);
    return boot;
  }
}

/** Adds an item, while there is room for it. */
function isNew(items: Set<string>, item: string): boolean {
  if (items.has(item) || items.size >= mostOfBoot) return false;
  items.add(item);
  return true;
}
