import { type BootOverride, noOverride } from '../machine/bootOverride.ts';
import { type FaultRule, isAbout } from './faultRule.ts';
import { type FaultName, faultRules } from './faults.ts';

/** A fault by its name, or one that a test makes up. */
export type Fault = FaultName | FaultRule;

interface Switch {
  fault: Fault;
  rule: FaultRule;
  /** How many requests it has still to spoil; undefined: all. */
  left: number | undefined;
}

/** The faults of one BMC that are switched on. `random` decides on rules with a `share`. */
export class FaultSwitches {
  #switches: Switch[] = [];
  readonly #random: () => number;

  constructor(faults: readonly Fault[], random: () => number = Math.random) {
    this.#random = random;
    this.set(faults);
  }

  /** Switches exactly these on; counting begins anew. */
  set(faults: readonly Fault[]): void {
    this.#switches = faults.flatMap((fault) =>
      rulesOf(fault).map((rule) => ({ fault, rule, left: rule.count })),
    );
  }

  /** What is switched on, each once. */
  names(): Fault[] {
    return [...new Set(this.#switches.map(({ fault }) => fault))];
  }

  /** The rules that hold for one request, which counts as one of theirs. */
  take(method: string, path: string): FaultRule[] {
    const taken = this.#switches.filter(
      ({ rule, left }) => left !== 0 && isAbout(rule, method, path) && this.#falls(rule),
    );
    for (const one of taken) if (one.left !== undefined) one.left--;
    return taken.map(({ rule }) => rule);
  }

  #falls({ share }: FaultRule): boolean {
    return share === undefined || this.#random() < share;
  }
}

function rulesOf(fault: Fault): readonly FaultRule[] {
  return typeof fault === 'string' ? faultRules(fault) : [fault];
}

/** What is kept of a boot override under these rules. */
export function keptOverride(
  rules: readonly FaultRule[],
  sent: BootOverride,
  current: BootOverride,
): BootOverride {
  const stores = rules.find((rule) => rule.stores !== undefined)?.stores;
  if (stores === undefined) return sent;
  return stores === 'nothing' ? current : { ...noOverride, target: sent.target };
}
